"""
A million points
================

``SCACS`` needs no graph of all points: it describes each point by a few of some hundred landmarks. A million
points take seconds, and the knowledge about 200 of them is used.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from sidecut import LSC, SCACS
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index

rng = np.random.default_rng(0)
n = 1_000_000
y = rng.integers(0, 3, n)
angle = rng.uniform(0, 2 * np.pi, n)
radius = np.array([1.0, 2.0, 3.0])[y] + rng.normal(scale=0.16, size=n)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).astype(np.float32)
known = sample_labels(y, 200, random_state=0)

start = time.perf_counter()
before = LSC(n_clusters=3, n_landmarks=300, random_state=0).fit(X)
middle = time.perf_counter()
after = SCACS(n_clusters=3, n_landmarks=300, random_state=0).fit(X, constraints=known)
end = time.perf_counter()
print(
    f"before: ARI {adjusted_rand_index(y, before.labels_, constraints=known):.2f} in {middle - start:.1f} s"
)
print(f"after:  ARI {adjusted_rand_index(y, after.labels_, constraints=known):.2f} in {end - middle:.1f} s")

# %%
# A picture of 20,000 of them.

shown = rng.choice(n, 20_000, replace=False)
_, axes = plt.subplots(1, 2, figsize=(9.5, 4.6))
for ax, model, title in zip(
    axes, (before, after), ("Nothing known", "200 of 1,000,000 labels known"), strict=True
):
    ax.scatter(*X[shown].T, c=model.labels_[shown], s=1, cmap="viridis")
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
plt.tight_layout()

# %%
# New points need no new fit.

print(after.predict(np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]], dtype=np.float32)))
