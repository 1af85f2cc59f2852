"""One, two, three labels in all: every method and AutoCut on every bundled set.

    python -m benchmarks.quality.selection.few [--draws 5]

Adjusted Rand index on unconstrained points; what a method loses against the unconstrained cut.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

from benchmarks.quality.selection.__main__ import RESULTS, Store, measure
from benchmarks.quality.selection.data import load
from sidecut.constraints import sample_labels

BUNDLED = ("iris", "wine", "breast cancer", "digits")


def main() -> None:
    """Run what is missing, and show the table."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    store = Store(RESULTS / "selection_few.csv")
    for draw in range(parser.parse_args().draws):
        for name in BUNDLED:
            X, y = load(name, draw, None)
            line = {"data": name, "points": len(y), "classes": len(np.unique(y)), "draw": draw}
            for count in (1, 2, 3):
                known = sample_labels(y, count, random_state=draw)
                measure(X, y, {**line, "known": f"{count} labels"}, known, store, "")
    lines = pd.read_csv(RESULTS / "selection_few.csv")
    print(lines.pivot_table(index="method", columns="known", values="ari").round(3))


if __name__ == "__main__":
    main()
