"""
On a Dask cluster
=================

``sidecut.distributed`` fits the same estimators to dask arrays and data frames, on any Dask cluster. Here the
cluster is one worker with two threads; give ``Client`` the address of a scheduler to use another.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.datasets import make_moons

from sidecut import SCACS
from sidecut.constraints import sample_labels
from sidecut.distributed import fit, predict
from sidecut.evaluation import adjusted_rand_index

X, y = make_moons(100_000, noise=0.12, random_state=0)
known = sample_labels(y, 40, random_state=0)
rows = da.from_array(X, chunks=(10_000, 2))

client = Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None)
model = fit(SCACS(n_clusters=2, n_landmarks=200, random_state=0), rows, constraints=known)
print(model.labels_)

# %%
# The labels stay on the workers until they are asked for. They are those of the same estimator in memory.

labels = model.labels_.compute()
here = SCACS(n_clusters=2, n_landmarks=200, random_state=0).fit(X, constraints=known)
print(f"same labels as in memory: {bool((labels == here.labels_).all())}")
print(f"ARI on unlabelled points: {adjusted_rand_index(y, labels, constraints=known):.2f}")

# %%
# New rows are labelled lazily, chunk by chunk: here a grid over the plane, to see where one cluster ends.

grid = np.stack(np.meshgrid(np.linspace(-1.7, 2.7, 220), np.linspace(-1.2, 1.7, 160)), axis=-1)
sides = (
    predict(model, da.from_array(grid.reshape(-1, 2), chunks=(8_000, 2))).compute().reshape(grid.shape[:2])
)
client.close()

_, ax = plt.subplots(figsize=(7, 4.4))
ax.imshow(sides, extent=(-1.7, 2.7, -1.2, 1.7), origin="lower", cmap="coolwarm", alpha=0.35, aspect="auto")
ax.scatter(*X[:4000].T, c=labels[:4000], s=3, cmap="coolwarm")
ax.scatter(*X[known.constrained_points].T, s=45, facecolors="none", edgecolors="black", label="known")
ax.set(xticks=[], yticks=[])
ax.legend(loc="upper right")
plt.tight_layout()
