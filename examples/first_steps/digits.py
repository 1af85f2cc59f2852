"""
1,797 digits, 60 labels
=======================

Handwritten digits of 8 by 8 pixels. Somebody has typed in what 60 of them are. sidecut names the others, and
says which ones it is not sure of.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sidecut import CSP, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index

X, y = load_digits(return_X_y=True)
known = sample_labels(y, 60, random_state=0)

before = NormalizedCut(n_clusters=10, random_state=0).fit(X)
after = CSP(n_clusters=10, random_state=0).fit(X, constraints=known)
print(f"before: ARI {adjusted_rand_index(y, before.labels_, constraints=known):.2f}")
print(f"after:  ARI {adjusted_rand_index(y, after.labels_, constraints=known):.2f}")

# %%
# Clusters have numbers. ``name_clusters`` calls each one by the class that most of its known points have.

names = known.name_clusters(after.labels_)
digit = np.array([names.get(cluster, -1) for cluster in after.labels_])
print(f"{np.mean(digit == y):.1%} of all digits have the right name")

# %%
# ``confidence_`` is between 0 and 1. Where it is low, look: labels there are worth most.

unsure = np.argsort(after.confidence_)[:24]
print(f"of the 24 least sure, {np.sum(digit[unsure] != y[unsure])} are wrong")
fig, axes = plt.subplots(3, 8, figsize=(8, 3.6))
for ax, i in zip(axes.flat, unsure, strict=True):
    ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{digit[i]}?", color="tab:green" if digit[i] == y[i] else "tab:red", fontsize=11)
    ax.axis("off")
fig.suptitle("The 24 digits sidecut is least sure of, and what it takes them for")
plt.tight_layout()
