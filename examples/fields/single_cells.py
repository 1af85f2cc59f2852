"""
Single cells
============

Counts of genes in single cells, made up so that the truth is known: six types, one of them rare, two of them
much alike, and a batch effect. An expert has named one cell in fifty.

scanpy keeps cells in ``AnnData``. ``sidecut.integrations.anndata.cluster`` reads the graph that
``scanpy.pp.neighbors`` has made, or the principal components, a column of known types and marker genes. It
writes its answer back.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from sidecut import Constraints, NormalizedCut
from sidecut.evaluation import adjusted_rand_index
from sidecut.integrations.anndata import cluster, marker_labels

rng = np.random.default_rng(0)
types = np.array(["T cell", "NK cell", "monocyte", "B cell", "dendritic cell", "platelet"])
kind = np.repeat(np.arange(6), [400, 350, 300, 250, 150, 50])
profiles = np.tile(rng.gamma(0.6, 1.0, 800), (6, 1))
for number in range(6):
    genes = rng.choice(800, 40, replace=False)
    profiles[number, genes] *= rng.gamma(4.0, 1.2, 40)
profiles[1] = profiles[0]
close = rng.choice(800, 25, replace=False)
profiles[1, close] *= rng.gamma(4.0, 0.8, 25)
batch = np.exp(0.25 * rng.normal(size=(2, 800)))[rng.integers(0, 2, len(kind))]
depth = rng.lognormal(0.0, 0.35, len(kind))[:, None]
counts = rng.poisson(rng.gamma(2.0, 0.5, (len(kind), 800)) * depth * profiles[kind] * batch)
adata = anndata.AnnData(np.log1p(1000 * counts / counts.sum(axis=1, keepdims=True)))
adata.var_names = [f"gene{gene}" for gene in range(800)]
adata.obsm["X_pca"] = PCA(20, random_state=0).fit_transform(adata.X)
print(f"{counts.shape[0]} cells, {counts.shape[1]} genes, {np.mean(counts == 0):.0%} zeros")

# %%
# One cell in fifty is known, but none of the platelets. Ten genes that mark these are known.

is_known = (rng.random(len(kind)) < 0.02) & (kind != 5)
adata.obs["cell_type"] = pd.Categorical(np.where(is_known, types[kind], None))
markers = {"platelet": [f"gene{gene}" for gene in np.sort(genes[np.argsort(-profiles[5, genes])[:10]])]}
print(pd.Series(marker_labels(adata, markers)).value_counts())
cluster(adata, labels="cell_type", markers=markers, n_clusters=6)
print(adata.obs[["cell_type", "sidecut", "sidecut_confidence"]].head(8))

# %%
# The same without labels, and both against the truth, on the cells that were not named.

before = NormalizedCut(n_clusters=6, random_state=0).fit(adata.obsm["X_pca"])
known = Constraints.from_labels(np.where(is_known, kind, -1))
after = adata.obs["sidecut"].astype(str).to_numpy()
print(f"before: ARI {adjusted_rand_index(kind, before.labels_, constraints=known):.2f}")
print(f"after:  ARI {adjusted_rand_index(kind, after, constraints=known):.2f}")
print(f"right names: {np.mean(after == types[kind]):.1%}")

# %%
# What was done is kept in ``uns``, so that the file says it.

for name in ("graph", "knowledge", "explanation"):
    print(f"{name}: {adata.uns['sidecut'][name]}")

# %%
# The map is only for looking; the clusters were made in 20 dimensions.

place = TSNE(init="pca", random_state=0, max_iter=400).fit_transform(adata.obsm["X_pca"])
_, axes = plt.subplots(1, 3, figsize=(13, 4.2))
axes[0].scatter(*place.T, c=kind, s=5, cmap="tab10", vmax=9)
for name in adata.obs["sidecut"].cat.categories:
    axes[1].scatter(*place[after == name].T, s=5, label=name)
axes[1].scatter(*place[is_known].T, s=28, facecolors="none", edgecolors="black", label="known")
axes[1].legend(fontsize=8)
shown = axes[2].scatter(*place.T, c=adata.obs["sidecut_confidence"], s=5, cmap="viridis")
plt.colorbar(shown, ax=axes[2])
for ax, title in zip(axes, ("truth", "clusters", "confidence"), strict=True):
    ax.set(title=title, xticks=[], yticks=[])
plt.tight_layout()
