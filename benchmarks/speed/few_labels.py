"""What a few labels cost: two and ten per class against NormalizedCut.

    python -m benchmarks.speed.few_labels --data FOLDER [--sizes 3000 20000] [--methods ...] [--exact DRAWS]

The graph (20 neighbours) is given to both. Times are of the processor, in turn with
NormalizedCut's: medians of three fits, or one where it takes more than a second.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

from benchmarks import stored
from benchmarks.speed import knowledge
from sidecut import Constraints

RESULTS = stored.RESULTS / "speed"


def per_class(y: np.ndarray, count: int, seed: int) -> Constraints:
    """Return the labels of some points of every class."""
    rng = np.random.default_rng(seed)
    labels = np.full(y.size, -1)
    for k in np.unique(y):
        members = np.flatnonzero(y == k)
        labels[rng.choice(members, min(count, members.size), replace=False)] = k
    return Constraints.from_labels(labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of .npz files; sets made here without")
    parser.add_argument("--sizes", type=int, nargs="+", default=[3_000, 20_000, 70_000])
    parser.add_argument("--sets", nargs="+", default=[*knowledge.MADE, *knowledge.STORED])
    parser.add_argument("--methods", nargs="+", default=list(knowledge.METHODS))
    parser.add_argument("--known", nargs="+", default=["2 labels per class", "10 labels per class"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--slowest", type=float, default=1.0, help="slower fits are run once")
    parser.add_argument(
        "--exact", type=int, metavar="DRAWS", help="instead: beside exact methods, so many draws"
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for size in args.sizes:
        for name in args.sets:
            drawn = knowledge.sample(name, size, args.data)
            if drawn is None:
                continue
            known = {
                "2 labels per class": lambda y, seed: per_class(y, 2, seed),
                "10 labels per class": lambda y, seed: per_class(y, 10, seed),
            }
            known = {told: known[told] for told in args.known}
            if args.exact:
                rows = knowledge.beside_exact(name, drawn, known, args.methods, args.exact)
                stored.merge(rows, RESULTS / "few_labels_exact.csv", ["data", "points", "known", "method"])
                continue
            rows = knowledge.compare(name, drawn, known, args.methods, args.repeats, args.slowest)
            stored.merge(rows, RESULTS / "few_labels.csv", ["data", "points", "known", "method"])


if __name__ == "__main__":
    main()
