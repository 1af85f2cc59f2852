"""Whether pairs held back can tell that constraints do harm: how `safe=True` was set for 40 to 100 facts.

    python -m benchmarks.choices.held_back --data FOLDER [--draws 3] [--only E2CP CSAP]

Every method beside its own unconstrained form, told 40 to 100 pairs or labels, on development sets with
their features as they come; the law in tests/laws uses others. A cell holds the adjusted Rand index on
unconstrained points of both answers, the agreement of both with what is known, how alike they are, and for
each of four folds how many held-back pairs both answers get right. The table shows the mean gain of following
the constraints, and the share of cells that lose more than .05, for some values of `luck` in
`sidecut.methods.safeguard.try_out`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import sidecut
from benchmarks.choices.caution import METHODS
from benchmarks.selection.data import load
from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors
from sidecut.methods.safeguard import ALIKE, MOST_KNOWN, N_FOLDS, KnownPairs, chance_corrected

RESULTS = Path(__file__).parent / "results" / "held_back.csv"
SETS = (
    "sonar",
    "hepatitis",
    "ionosphere",
    "breast cancer",
    "five digits",
    "noisy digits",
    "weights",
    "units",
    "mixed",
    "noise",
    "overlap",
    "two photographs",
)
MOST_POINTS = 300


def knowledge(y: np.ndarray, draw: int) -> Iterator[tuple[str, Constraints]]:
    """Yield some knowledge of every kind."""
    for count in (40, 70, 100):
        yield f"{count} pairs", sample_pairs(y, count, random_state=draw)
    for count in (50, 80):
        yield f"{count} labels", sample_labels(y, count, random_state=draw)


def measure(method: str, name: str, draw: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the cells of a method on a set."""
    X, y = load(name, draw, folder, MOST_POINTS)
    model = getattr(sidecut, method)(len(np.unique(y)), safe=False, random_state=0)
    if method == "LCSC":
        model.set_params(cannot_links="ignore")
    if "affinity" in model.get_params():
        model.set_params(affinity="precomputed")
        X = Neighbors(20).build(X)
    plain = model.fit(X).labels_
    for kind, known in knowledge(y, draw):
        if known.constrained_points.size > MOST_KNOWN * len(y):
            continue
        told = model.fit(X, constraints=known).labels_
        pairs = KnownPairs(known, np.random.RandomState(0))
        yield {
            "method": method,
            "data": name,
            "kind": kind,
            "draw": draw,
            "clusters": len(np.unique(y)),
            "facts": pairs.n_facts,
            "plain": adjusted_rand_index(y, plain, constraints=known),
            "told": adjusted_rand_index(y, told, constraints=known),
            "agree_plain": pairs.agreement(plain),
            "agree_told": pairs.agreement(told),
            "between": adjusted_rand_score(plain, told),
            **_hold_back(model, X, known, pairs, plain),
        }


def _hold_back(
    model: Any, X: Any, known: Constraints, pairs: KnownPairs, plain: np.ndarray
) -> dict[str, Any]:
    """Return for each fold the counts of held-back pairs, and how many both answers get right."""
    fold_of, found = pairs.deal(N_FOLDS, np.random.RandomState(0)), {}
    for fold in range(N_FOLDS):
        given = fold_of != fold
        # A pair with one point told would be right by half already: both are held back.
        counted = ~given[pairs.first] & ~given[pairs.second]
        told = model.fit(X, constraints=known.among(pairs.points[given])).labels_
        for name, labels in (("plain", plain), ("told", told)):
            found[f"{name}_{fold}"] = " ".join(map(str, pairs.counts(labels, counted)))
    return found


def table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the mean gain and the share of large losses of each method, without the rule and with it."""
    gain = cells.told - cells.plain
    held_back = np.array([_held_back_gain(cell) for _, cell in cells.iterrows()])
    agrees, alike = cells.agree_told > cells.agree_plain, cells.between > ALIKE
    rules = {"unguarded": np.ones(len(cells), dtype=bool)}
    for luck in (0.0, 0.5, 1.0):
        rules[str(luck)] = agrees & (alike | (held_back * np.sqrt(cells.facts) > luck))
    columns = {}
    for name, follows in rules.items():
        kept = gain.where(follows, 0.0).groupby([cells.method, cells.kind.str.split().str[1]], sort=False)
        columns[f"{name} gain"] = kept.mean()
        columns[f"{name} harm"] = kept.apply(lambda values: (values < -0.05).mean())
    return pd.DataFrame(columns).round(3)


def _held_back_gain(cell: pd.Series) -> float:
    agreement = []
    for name in ("told", "plain"):
        counts = [np.array(cell[f"{name}_{fold}"].split(), dtype=float) for fold in range(N_FOLDS)]
        agreement.append(chance_corrected(np.sum(counts, axis=0)))
    return agreement[0] - agreement[1]


def main() -> None:
    """Measure, store and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=METHODS, default=METHODS, help="nothing: show the table")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for method in args.only:
        cells = pd.read_csv(RESULTS) if RESULTS.exists() else None
        rows = [
            row
            for draw in range(args.draws)
            for name in SETS
            for row in measure(method, name, draw, args.data)
        ]
        new = pd.DataFrame(rows).round(4)
        old = [] if cells is None else [cells[cells.method != method]]
        pd.concat([*old, new]).to_csv(RESULTS, index=False)
        print(method, flush=True)
    print(table(pd.read_csv(RESULTS)).to_string())


if __name__ == "__main__":
    main()
