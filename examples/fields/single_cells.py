"""
Single cells
============

700 real blood cells of ten types, which scanpy carries: `pbmc68k_reduced`, with their principal components,
their neighbour graph and a map. The type of a cell is that of the sorted population whose profile it
resembles most (Zheng et al., 2017). We hide nine types in ten, as if an expert had named the other cells.

``sidecut.integrations.anndata.cluster`` reads the components, the graph of ``scanpy.pp.neighbors`` and a
column of known types. It writes its answer back into the ``AnnData``.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scanpy

from sidecut import NormalizedCut
from sidecut.evaluation import adjusted_rand_index
from sidecut.integrations.anndata import cluster

adata = scanpy.datasets.pbmc68k_reduced()
types = adata.obs["bulk_labels"].astype(str).to_numpy()
is_known = np.random.default_rng(0).random(len(types)) < 0.1
adata.obs["cell_type"] = pd.Categorical(np.where(is_known, types, None))
print(
    pd.DataFrame({"cells": pd.Series(types).value_counts(), "known": adata.obs["cell_type"].value_counts()})
)

# %%
# The number of clusters is found, too. A cluster without a known cell is called "new".

cluster(adata, labels="cell_type")
print(adata.obs[["cell_type", "sidecut", "sidecut_confidence"]].head(8))

# %%
# The same without labels, and both against the truth, on the cells that were not named.

before = NormalizedCut(n_clusters=10, affinity="precomputed", random_state=0).fit(
    adata.obsp["connectivities"]
)
after = adata.obs["sidecut"].astype(str).to_numpy()
print(f"before: ARI {adjusted_rand_index(types[~is_known], before.labels_[~is_known]):.2f}")
print(f"after:  ARI {adjusted_rand_index(types[~is_known], after[~is_known]):.2f}")
is_right = (after == types)[~is_known]
confidence = adata.obs["sidecut_confidence"].to_numpy()[~is_known]
is_sure = confidence >= np.median(confidence)
print(f"right names: {is_right.mean():.0%}; of the surer half {is_right[is_sure].mean():.0%}")

# %%
# The commonest mistakes: kinds of T cells are taken for each other, and so are monocytes and dendritic cells.

pairs = pd.DataFrame({"type": types, "called": after})[~is_known & (after != types)]
print(pairs.value_counts().head(6).to_string())

# %%
# What was done is kept in ``uns``, so that the file says it.

for name in ("graph", "knowledge", "explanation"):
    print(f"{name}: {adata.uns['sidecut'][name]}")

# %%
# The map is only for looking; the clusters were made in 50 dimensions and the graph.

place = adata.obsm["X_umap"]
_, axes = plt.subplots(1, 3, figsize=(15, 5), layout="constrained")
names = sorted({*types, *after})
colour = {name: plt.get_cmap("tab20")(number) for number, name in enumerate(names)}
for ax, found in zip(axes, (types, after), strict=False):
    for name in names:
        ax.scatter(*place[found == name].T, s=8, color=colour[name], label=name)
axes[1].scatter(
    *place[is_known].T, s=28, facecolors="none", edgecolors="black", linewidths=0.6, label="known"
)
axes[1].legend(fontsize=7, loc="best", frameon=False)
shown = axes[2].scatter(*place.T, c=adata.obs["sidecut_confidence"], s=8, cmap="viridis")
plt.colorbar(shown, ax=axes[2])
for ax, title in zip(axes, ("truth", "clusters", "confidence"), strict=True):
    ax.set(title=title, xticks=[], yticks=[])
