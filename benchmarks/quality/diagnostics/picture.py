"""Draw docs/images/reliability.svg from stored results: `python -m benchmarks.quality.diagnostics.picture`.

For each tenth of the points, least sure first: how sure they are in the mean, and how many are right; and the
share of all errors that each tenth holds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.quality.diagnostics.__main__ import stored
from benchmarks.quality.diagnostics.sets import BUNDLED
from sidecut.plots.canvas import cluster_styles, new_figure, text_colour

PICTURE = Path(__file__).parents[3] / "docs" / "images" / "reliability.svg"


def main() -> None:
    rows = [row for row in stored() if "confidence" in row]
    groups = {
        "iris, wine, breast cancer, digits": [row for row in rows if row["set"] in BUNDLED],
        "the other eight sets": [row for row in rows if row["set"] not in BUNDLED],
    }
    figure = new_figure(9.0, 3.8)
    left, right = figure.subplots(1, 2)
    left.plot([0.4, 1.0], [0.4, 1.0], color=text_colour(), linewidth=0.8, linestyle="--")
    right.axhline(0.1, color=text_colour(), linewidth=0.8, linestyle="--")
    for (name, mine), (colour, _), marker in zip(groups.items(), cluster_styles(2), "os", strict=True):
        sure, error, share = np.mean([row["confidence"] for row in mine], axis=0).T
        left.plot(sure, 1.0 - error, color=colour, marker=marker, label=name)
        right.plot(np.arange(1, 11), share, color=colour, marker=marker, label=name)
    left.set_xlabel("mean confidence of each tenth of the points")
    left.set_ylabel("share of right labels")
    right.set_xlabel("tenth of the points, least sure first")
    right.set_ylabel("share of all errors")
    right.legend(frameon=False)
    for axes in (left, right):
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.savefig(PICTURE)


if __name__ == "__main__":
    main()
