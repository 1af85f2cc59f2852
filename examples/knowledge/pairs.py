"""
Pairs, and pairs that contradict each other
===========================================

The classes are not known, but somebody has looked at pairs of points and said "together" or "apart".
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from sidecut import CSP, Constraints, NormalizedCut
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import ConstraintError
from sidecut.plots import plot_before_after

X, y = make_moons(400, noise=0.15, random_state=0)
pairs = np.random.default_rng(0).choice(400, size=(40, 2), replace=False)
same = y[pairs[:, 0]] == y[pairs[:, 1]]
known = Constraints.from_pairs(400, must_link=pairs[same], cannot_link=pairs[~same])
print(known)

# %%
# Forty pairs change the cut. The score is on points that are in no pair.

before = NormalizedCut(n_clusters=2, random_state=0).fit(X)
after = CSP(n_clusters=2, random_state=0).fit(X, constraints=known)
print(f"before: ARI {adjusted_rand_index(y, before.labels_, constraints=known):.2f}")
print(f"after:  ARI {adjusted_rand_index(y, after.labels_, constraints=known):.2f}")

_, axes = plt.subplots(1, 2, figsize=(10, 4.4))
plot_before_after(X, before.labels_, after.labels_, known, axes)
plt.tight_layout()

# %%
# **Contradictions.** Pairs 1-2 and 2-3 together, 1-3 apart: that cannot be. sidecut refuses it, and shows the
# chain that proves it.

try:
    Constraints.from_pairs(5, must_link=[(1, 2), (2, 3)], cannot_link=[(1, 3)])
except ConstraintError as error:
    print(error)

# %%
# You decide what happens. ``on_conflict="drop"`` keeps the strongest statements that agree; ``"weigh"`` keeps
# all of them as beliefs and lets the method weigh them.

weighed = Constraints.from_pairs(5, must_link=[(1, 2), (2, 3)], cannot_link=[(1, 3)], on_conflict="weigh")
print(weighed)
print(weighed.conflicts()[0])
