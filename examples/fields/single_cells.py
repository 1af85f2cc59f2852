"""
Single cells
============

Counts of genes in single cells, made up so that the truth is known: six types, one of them rare, two of them
much alike, and a batch effect. An expert has named one cell in fifty by its marker genes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from sidecut import CCSR, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index

rng = np.random.default_rng(0)
sizes = np.array([400, 350, 300, 250, 150, 50])
y = np.repeat(np.arange(6), sizes)
profiles = np.tile(rng.gamma(0.6, 1.0, 800), (6, 1))
for kind in range(6):
    markers = rng.choice(800, 40, replace=False)
    profiles[kind, markers] *= rng.gamma(4.0, 1.2, 40)
profiles[1] = profiles[0]
close = rng.choice(800, 25, replace=False)
profiles[1, close] *= rng.gamma(4.0, 0.8, 25)
batch = rng.integers(0, 2, len(y))
effect = np.exp(0.25 * rng.normal(size=(2, 800)))
depth = rng.lognormal(0.0, 0.35, len(y))[:, None]
counts = rng.poisson(rng.gamma(2.0, 0.5, (len(y), 800)) * depth * profiles[y] * effect[batch])
print(f"{counts.shape[0]} cells, {counts.shape[1]} genes, {np.mean(counts == 0):.0%} zeros")

# %%
# The usual preparation: depth, logarithm, principal components. Then the graph of nearest neighbours is cut.

X = PCA(20, random_state=0).fit_transform(np.log1p(1000 * counts / counts.sum(axis=1, keepdims=True)))
known = sample_labels(y, len(y) // 50, random_state=0)
before = NormalizedCut(n_clusters=6, random_state=0).fit(X)
after = CCSR(n_clusters=6, random_state=0).fit(X, constraints=known)
print(f"before: ARI {adjusted_rand_index(y, before.labels_, constraints=known):.2f}")
print(f"after:  ARI {adjusted_rand_index(y, after.labels_, constraints=known):.2f}")

# %%
# The map is only for looking; the clusters were made in 20 dimensions.

place = TSNE(init="pca", random_state=0, max_iter=400).fit_transform(X)
_, axes = plt.subplots(1, 3, figsize=(12, 4))
for ax, labels, title in zip(
    axes, (y, before.labels_, after.labels_), ("truth", "nothing known", "2 % known"), strict=True
):
    ax.scatter(*place.T, c=labels, s=4, cmap="tab10", vmax=9)
    ax.set(title=title, xticks=[], yticks=[])
axes[2].scatter(
    *place[known.constrained_points].T, s=28, facecolors="none", edgecolors="black", label="known"
)
axes[2].legend(loc="lower right")
plt.tight_layout()
