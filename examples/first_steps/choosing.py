"""
Choosing a method
=================

Which method, which graph, how many clusters? ``AutoCut`` gives candidates one part of the constraints and
judges them by the other part.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from sidecut import AutoCut, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.plots import plot_candidates

X, y = load_wine(return_X_y=True)
known = sample_labels(y, 18, random_state=1)
model = AutoCut(random_state=0).fit(X, constraints=known)
print(model.explanation_)

# %%
# The features of these wines are in very different units, which the usual graph suffers from. AutoCut has
# found out.

before = NormalizedCut(n_clusters=3, random_state=0).fit(X)
print(f"before: ARI {adjusted_rand_index(y, before.labels_, constraints=known):.2f}")
print(f"after:  ARI {adjusted_rand_index(y, model.labels_, constraints=known):.2f}")
print(f"{model.n_clusters_} clusters, a number it found")

# %%
# Everything that was tried.

_, ax = plt.subplots(figsize=(8, 5))
plot_candidates(model.candidates_, ax)
plt.tight_layout()
