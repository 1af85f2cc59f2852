"""Whether pairs held back can tell that constraints do harm: how `safe=True` was set for 5 to 100 facts.

    python -m benchmarks.choices.held_back --data FOLDER [--draws 2] [--only E2CP CSAP]

Every method beside its own unconstrained form, told 10 to 100 pairs, on development sets with their features
as they come; the law in tests/laws uses others. A cell holds the adjusted Rand index on unconstrained points
of both answers, the agreement of both with what is known, how alike they are, and how many held-back pairs
only one of them gets right. The table shows the mean gain of following the constraints, and the share of
cells that lose more than .05: unguarded, where agreement with what was told decides (`weigh`), and where
the sign test of `sidecut.methods.safeguard.try_out` has to be passed by so many standard deviations.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import sidecut
from benchmarks.choices.caution import METHODS
from benchmarks.selection.data import load
from sidecut import Constraints
from sidecut.constraints import sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors
from sidecut.methods.safeguard import ALIKE, KnownPairs, count_decided
from sidecut.methods.safeguard.judgement import MOST_KNOWN, MUCH_ALIKE

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
KEY = ["method", "data", "kind", "draw"]


def knowledge(y: np.ndarray, draw: int) -> Iterator[tuple[str, Constraints]]:
    """Yield some pairs."""
    for count in (10, 15, 25, 40, 70, 100):
        yield f"{count} pairs", sample_pairs(y, count, random_state=draw)


def measure(method: str, name: str, draw: int, folder: Path, done: set[tuple]) -> Iterator[dict[str, Any]]:
    """Yield the cells of a method on a set that are not done."""
    X, y = load(name, draw, folder, MOST_POINTS)
    model = getattr(sidecut, method)(len(np.unique(y)), safe=False, random_state=0)
    if method == "LCSC":
        model.set_params(cannot_links="ignore")
    if "affinity" in model.get_params():
        model.set_params(affinity="precomputed")
        X = Neighbors(20).build(X)
    plain = model.fit(X).labels_
    for kind, known in knowledge(y, draw):
        too_many = known.constrained_points.size > MOST_KNOWN * len(y)
        if too_many or (method, name, kind, draw) in done:
            continue
        told = model.fit(X, constraints=known).labels_
        pairs = KnownPairs(known, np.random.RandomState(0))
        only_told, only_alone = count_decided(known, pairs, plain, partial(refit, model, X))
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
            "only_told": only_told,
            "only_alone": only_alone,
        }


def refit(model: Any, X: Any, part: Constraints) -> np.ndarray:
    """Return the labels of a fit that is told a part."""
    return model.fit(X, constraints=part).labels_


def table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the mean gain and the share of large losses of each method, without the rule and with it."""
    gain, told = cells.told - cells.plain, cells.agree_told - cells.agree_plain
    surely = (cells.only_told - cells.only_alone) / np.sqrt(
        (cells.only_told + cells.only_alone).clip(lower=1)
    )
    weighed = (told > 0) & ((cells.between > ALIKE) | (told * np.sqrt(cells.facts) > 1))
    rules = {"unguarded": np.ones(len(cells), dtype=bool), "weighed": weighed}
    rules |= {f"{by:g}": weighed & ((cells.between > MUCH_ALIKE) | (surely > by)) for by in (0, 0.5, 1, 2)}
    columns = {}
    few = np.where(cells.facts <= 30, "10 to 25 pairs", "40 to 100 pairs")
    for name, follows in rules.items():
        kept = gain.where(follows, 0.0).groupby([cells.method, few], sort=False)
        columns[f"{name} gain"] = kept.mean()
        columns[f"{name} harm"] = kept.apply(lambda values: (values < -0.05).mean())
    return pd.DataFrame(columns).round(3).sort_index()


def main() -> None:
    """Measure, store and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--only", nargs="*", choices=METHODS, default=METHODS, help="nothing: show the table")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=KEY)
    for method in args.only:
        done = set(cells[KEY].itertuples(index=False, name=None))
        rows = [
            row
            for draw in range(args.draws)
            for name in SETS
            for row in measure(method, name, draw, args.data, done)
        ]
        cells = pd.concat([cells, pd.DataFrame(rows).round(4)], ignore_index=True)
        cells.to_csv(RESULTS, index=False)
        print(method, flush=True)
    print(table(pd.read_csv(RESULTS)).to_string())


if __name__ == "__main__":
    main()
