"""How many classes 5 % of labels show at all: what counting clusters can reach on the reported sets.

python -m benchmarks.quality.selection.seen --data FOLDER [--draws 10]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.quality.selection.__main__ import RESULTS, knowledge
from benchmarks.quality.selection.data import REPORTED, load
from sidecut.selection.n_clusters import MAX_CHANCE

#: The smallest cluster that is called a class without a label: chance leaves few of this size without one.
LARGE = int(np.ceil(-np.log(MAX_CHANCE) / 0.05))


def measure(y: np.ndarray, draw: int) -> dict[str, int]:
    """Return the number of classes, of those with a label, and of those that have one or are large."""
    labels = np.asarray(dict(knowledge(y, draw))["labels 5 %"].labels)
    sizes, has_label = np.bincount(y), np.isin(np.arange(y.max() + 1), labels)
    return {
        "true": len(sizes),
        "with a label": int(has_label.sum()),
        f"with a label, or {LARGE} points": int((has_label | (sizes >= LARGE)).sum()),
    }


def main() -> None:
    """Measure, store and show how often each number is right, and within one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    rows = [
        {"data": name, "draw": draw, **measure(load(name, draw, options.data)[1], draw)}
        for name in REPORTED
        for draw in range(options.draws)
    ]
    table = pd.DataFrame(rows)
    stored.save(table, RESULTS / "selection_seen.csv")
    errors = table.iloc[:, 3:].sub(table["true"], axis=0)
    shares = pd.DataFrame({"right": (errors == 0).mean(), "within one": (errors.abs() <= 1).mean()})
    print(f"{len(table)} draws\n{shares.round(3)}")


if __name__ == "__main__":
    main()
