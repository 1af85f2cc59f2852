"""
Finding labels that are wrong
=============================

People make mistakes. 120 digits are labelled, twelve of them wrongly. ``find_suspects`` compares every label
with the data and all other labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sidecut import E2CP, Constraints
from sidecut.diagnostics import drop_suspects, find_suspects
from sidecut.evaluation import adjusted_rand_index

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
seen = rng.choice(len(y), size=120, replace=False)
labels = np.full(len(y), -1)
labels[seen] = y[seen]
wrong = seen[:12]
labels[wrong] = (y[wrong] + rng.integers(1, 10, size=12)) % 10
known = Constraints.from_labels(labels)

suspects = find_suspects(X, known)
print(suspects)

# %%
# The twelve most suspicious labels. Those in red are indeed wrong.

fig, axes = plt.subplots(2, 6, figsize=(8.5, 3.6))
for ax, i in zip(axes.flat, suspects.points, strict=False):
    ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"labelled {labels[i]}", color="tab:red" if i in wrong else "tab:green", fontsize=10)
    ax.axis("off")
plt.tight_layout()
found = np.intersect1d(suspects.points[:12], wrong)
print(f"{len(found)} of the 12 wrong labels are among the 12 most suspicious")

# %%
# Nothing is dropped unless you ask. ``drop_suspects`` keeps labels that are right with a chance of three in
# four: a wrong label does more harm than a right one does good. E2CP weighs labels against each other and
# hardly minds a tenth of them being wrong; the list is for the person who keeps the labels.

kept = drop_suspects(known, suspects)
for name, constraints in (("all 120 labels", known), (f"{len(kept.constrained_points)} kept", kept)):
    model = E2CP(n_clusters=10, random_state=0).fit(X, constraints=constraints)
    print(f"{name}: ARI {adjusted_rand_index(y, model.labels_, constraints=known):.3f}")
