"""What random pairs cost: every spectral method with n/5 and with n pairs against NormalizedCut.

    python -m benchmarks.speed.pairs --data FOLDER [--sizes 3000 20000] [--methods E2CP ...] [--exact DRAWS]

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
from sidecut.constraints import sample_pairs

RESULTS = stored.RESULTS / "speed"


def few(y: np.ndarray, seed: int) -> Constraints:
    """Return a pair for every five points."""
    return sample_pairs(y, len(y) // 5, random_state=seed)


def many(y: np.ndarray, seed: int) -> Constraints:
    """Return as many pairs as points."""
    return sample_pairs(y, len(y), random_state=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of .npz files; sets made here without")
    parser.add_argument("--sizes", type=int, nargs="+", default=[3_000, 20_000, 70_000])
    parser.add_argument("--sets", nargs="+", default=[*knowledge.MADE, *knowledge.STORED])
    parser.add_argument("--methods", nargs="+", default=list(knowledge.METHODS))
    parser.add_argument("--known", nargs="+", default=["n/5 pairs", "n pairs"])
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
            known = {"n/5 pairs": few, "n pairs": many}
            known = {told: known[told] for told in args.known}
            if args.exact:
                rows = knowledge.beside_exact(name, drawn, known, args.methods, args.exact)
                stored.merge(rows, RESULTS / "pairs_exact.csv", ["data", "points", "known", "method"])
                continue
            rows = knowledge.compare(name, drawn, known, args.methods, args.repeats, args.slowest)
            stored.merge(rows, RESULTS / "pairs.csv", ["data", "points", "known", "method"])


if __name__ == "__main__":
    main()
