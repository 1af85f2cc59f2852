"""
What a link does to a graph
===========================

For CSAP a link is a shortcut, a "wormhole": points near its ends come nearer too. Three small data sets on a
line show what one must-link, one cannot-link and two cannot-links make of the affinities (figures 2 to 4 of
Lu & Carreira-Perpiñán, 2008).
"""

import matplotlib.pyplot as plt
import numpy as np

from sidecut import CSAP, Constraints, NormalizedCut
from sidecut.graphs import Gaussian
from sidecut.plots import plot_affinity

clusters = np.concatenate([start + np.linspace(0, 4, 15) for start in (0.0, 20.0, 40.0)])[:, None]
line = np.arange(1.0, 41.0)[:, None]


def fit(X, sigma, algorithm, known):
    """Two clusters by the affinity as it is, and as the links make it."""
    affinity = Gaussian(sigma, self_loops=True)
    before = NormalizedCut(n_clusters=2, affinity=affinity, random_state=0).fit(X)
    after = CSAP(
        n_clusters=2, algorithm=algorithm, affinity=affinity, unit_rows=False, safe=False, random_state=0
    )
    return before, after.fit(X, constraints=known)


def end_of_first(model):
    """The last point before the cut, counted from 1 as in the paper."""
    return np.flatnonzero(np.diff(model.labels_))[0] + 1


# %%
# One must-link between the first two of three groups; one cannot-link on a line of points; two cannot-links
# on that line, by both algorithms of the paper.

together = fit(clusters, 1.0, "A", Constraints.from_pairs(45, must_link=[(4, 19)]))
apart = fit(line, 8.0, "A", Constraints.from_pairs(40, cannot_link=[(4, 14)]))
two = Constraints.from_pairs(40, cannot_link=[(4, 14), (15, 34)])
false, right = fit(line, 4.0, "A", two), fit(line, 4.0, "B", two)
print(f"one must-link: three groups are cut after point {end_of_first(together[1])}")
print(f"one cannot-link: the line is cut after point {end_of_first(apart[1])}")
for name, (_, after) in (("A", false), ("B", right)):
    weight = after.affinity_matrix_.toarray()[4, 34]
    print(f"two cannot-links, algorithm {name}: affinity of points 5 and 35 is {weight:.3f}")

# %%
# Algorithm A is for two clusters: apart from what is apart means together. Algorithm B makes no such
# conclusion.

fig, axes = plt.subplots(2, 4, figsize=(11, 5.6))
titles = ("one must-link", "one cannot-link", "two, algorithm A", "two, algorithm B")
for column, (title, (before, after)) in enumerate(zip(titles, (together, apart, false, right), strict=True)):
    plot_affinity(before.affinity_matrix_, ax=axes[0, column]).set_title("before")
    plot_affinity(after.affinity_matrix_, ax=axes[1, column]).set_title(title)
plt.tight_layout()
