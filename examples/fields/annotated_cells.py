"""
Cells in an AnnData object
==========================

scanpy and its friends keep cells in ``AnnData``. ``sidecut.integrations.anndata.cluster`` reads the graph
that ``scanpy.pp.neighbors`` has made, a column of known types and marker genes, and writes its answer back.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from sidecut.integrations.anndata import cluster, marker_labels

rng = np.random.default_rng(0)
types = np.array(["B cell", "T cell", "NK cell", "monocyte", "platelet"])
kind = rng.choice(5, 1000, p=[0.25, 0.35, 0.2, 0.15, 0.05])
rates = np.tile(rng.gamma(0.7, 1.0, 600), (5, 1))
for number in range(5):
    rates[number, 20 * number : 20 * (number + 1)] = 1 + 4 * rates[number, 20 * number : 20 * (number + 1)]
rates[2, 20:35] = rates[1, 20:35]
counts = rng.poisson(rng.gamma(2.0, 0.5, (1000, 600)) * rates[kind])
adata = anndata.AnnData(np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True)))
adata.var_names = [f"gene{gene}" for gene in range(600)]
adata.obsm["X_pca"] = PCA(30, random_state=0).fit_transform(adata.X)

# %%
# One cell in fifty is known. Genes that mark the platelets are known, too.

is_known = (rng.random(1000) < 0.02) & (kind != 4)
adata.obs["cell_type"] = pd.Categorical(np.where(is_known, types[kind], None))
markers = {"platelet": [f"gene{gene}" for gene in range(80, 90)]}
print(pd.Series(marker_labels(adata, markers)).value_counts())
cluster(adata, labels="cell_type", markers=markers, n_clusters=5)
print(adata.obs[["cell_type", "sidecut", "sidecut_confidence"]].head(8))

# %%
# What was done is kept in ``uns``, so that the file tells it.

for name in ("graph", "knowledge", "explanation"):
    print(f"{name}: {adata.uns['sidecut'][name]}")
right = adata.obs["sidecut"].astype(str).to_numpy() == types[kind]
print(f"right: {right.mean():.1%}")

# %%
# Where types meet, the answer is less sure.

place, sure = adata.obsm["X_pca"], adata.obs["sidecut_confidence"]
_, axes = plt.subplots(1, 2, figsize=(11, 4.2))
for name in adata.obs["sidecut"].cat.categories:
    inside = (adata.obs["sidecut"] == name).to_numpy()
    axes[0].scatter(*place[inside, :2].T, s=6, label=name)
axes[0].scatter(*place[is_known, :2].T, s=30, facecolors="none", edgecolors="black", label="known")
axes[0].legend(fontsize=8)
axes[0].set(title="clusters", xlabel="component 1", ylabel="component 2")
shown = axes[1].scatter(*place[:, :2].T, c=sure, s=6, cmap="viridis")
axes[1].set(title="confidence", xlabel="component 1")
plt.colorbar(shown, ax=axes[1])
plt.tight_layout()
