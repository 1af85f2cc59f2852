"""
Clusters that last
==================

A clustering is in use: clusters have names and numbers. Then new points come. ``update`` takes them in, keeps
the old clusters where nothing speaks against them, and says what changed and why.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from sidecut import NormalizedCut
from sidecut.plots import plot_embedding, plot_update

centres = np.array([[0, 0], [7, 0], [0, 7], [6, 6]])
X, _ = make_blobs([150, 150, 150], centers=centres[:3], cluster_std=1.2, random_state=0)
model = NormalizedCut(3, random_state=0).fit(X)
before = model.labels_

# %%
# The next day brings ten points of each old class, and thirty of a class that nothing is known of.

X_new, _ = make_blobs([10, 10, 10, 30], centers=centres, cluster_std=1.2, random_state=1)
model.update(X_new)
changes = model.changes_
print(changes)
after = model.labels_.copy()

# %%
# A person looks at the clusters and corrects them: two are one, and the new one has a name. Corrections are
# knowledge. ``fixes.constraints`` goes into the next fit, and ``fixes.undo(0)`` takes the first one back.

fixes = model.corrections().merge(0, 1).name(3, "new product")
print(fixes)
model.apply(fixes)
print(model.cluster_classes_)

# %%
# A colour is the number of a cluster; it stays. New points are drawn large, doubtful ones as rings.

fig, axes = plt.subplots(1, 3, figsize=(12, 4.6), sharex=True, sharey=True, layout="constrained")
everything = np.vstack([X, X_new])
plot_update(everything, before, after, doubtful=changes.points("doubtful"), axes=axes[:2])
plot_embedding(everything, model.labels_, ax=axes[2], names=model.cluster_classes_, title="Corrected")

# %%
# On the command line: ``sidecut update model.sidecut new.csv -o clusters.csv --report report.html``.
