"""Links are wormholes: what one must-link, one cannot-link and two cannot-links make of an affinity.

Three data sets on a line (figures 2 to 4 of Lu & Carreira-Perpiñán, 2008). Samples are numbered from 1, as in
the paper. Writes csap_links.png.
"""

import numpy as np

from sidecut import CSAP, Constraints, NormalizedCut
from sidecut.graphs import Gaussian

CLUSTERS = np.concatenate([start + np.linspace(0, 4, 15) for start in (0.0, 20.0, 40.0)])[:, None]
CONTINUUM = np.arange(1.0, 41.0)[:, None]


def linked(X, sigma, algorithm, must_link=(), cannot_link=()):
    """Return the affinity before and after some links."""
    affinity = Gaussian(sigma, self_loops=True)
    known = Constraints.from_pairs(
        len(X),
        np.array(must_link, dtype=int).reshape(-1, 2) - 1,
        np.array(cannot_link, dtype=int).reshape(-1, 2) - 1,
    )
    before = NormalizedCut(n_clusters=2, affinity=affinity, random_state=0).fit(X)
    after = CSAP(n_clusters=2, algorithm=algorithm, affinity=affinity, unit_rows=False, random_state=0)
    return before, after.fit(X, constraints=known)


def main() -> None:
    merged = linked(CLUSTERS, 1.0, "A", must_link=[(5, 20)])
    split = linked(CONTINUUM, 8.0, "A", cannot_link=[(5, 15)])
    false = linked(CONTINUUM, 4.0, "A", cannot_link=[(5, 15), (16, 35)])
    apart = linked(CONTINUUM, 4.0, "B", cannot_link=[(5, 15), (16, 35)])
    ends = np.flatnonzero(np.diff(merged[1].labels_)) + 1
    print(f"one must-link, 5 with 20: the cut of three groups is now after sample {ends[0]}")
    ends = np.flatnonzero(np.diff(split[1].labels_)) + 1
    print(f"one cannot-link, 5 with 15: the continuum is cut after sample {ends[0]}")
    for name, (_, after) in (("A", false), ("B", apart)):
        weight = after.affinity_matrix_.toarray()[4, 34]
        print(f"two cannot-links, algorithm {name}: affinity of 5 and 35 is {weight:.3f}")
    save_picture({"one must-link": merged, "one cannot-link": split, "two, A": false, "two, B": apart})


def save_picture(pairs) -> None:
    try:
        from matplotlib.figure import Figure

        from sidecut.plots import plot_affinity
    except ImportError:
        print('No picture: pip install "sidecut[plots]"')
        return
    figure = Figure(figsize=(3 * len(pairs), 6))
    axes = figure.subplots(2, len(pairs))
    for column, (name, (before, after)) in enumerate(pairs.items()):
        plot_affinity(before.affinity_matrix_, ax=axes[0, column]).set_title("before")
        plot_affinity(after.affinity_matrix_, ax=axes[1, column]).set_title(name)
    figure.savefig("csap_links.png", dpi=150)


if __name__ == "__main__":
    main()
