"""How the guard was set: every method with constraints and without, and what held-out constraints say.

    python -m benchmarks.choices.guard --data FOLDER [--only CSP NCSC] [--sets 24]

The sets are those of tables.npz, which no page reports on. A cell is one method on one set with some labels
or pairs: the adjusted Rand index on unconstrained points of both answers, how far both agree with the
constraints, and the gain in agreement with constraints held out. `--table` runs nothing, and writes the table
of docs/lab/guard.md: for methods that always follow their constraints, and for the rule as it is, the mean
gain over the answer without constraints and the share of cells that lose more than .05.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import sidecut
from benchmarks import stored
from benchmarks.page_tables import DOCS, rewrite
from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors
from sidecut.methods import guard
from sidecut.methods.base import GraphClusterer
from sidecut.methods.guard import held_out_gain, needed_gain
from sidecut.methods.task import Task, check_data

RESULTS = stored.RESULTS / "choices" / "guard.csv"
PAGES = [DOCS / "lab" / "guard.md"]
METHODS = (
    "CSP",
    "SCACS",
    "NCSC",
    "CSAP",
    "E2CP",
    "CCSR",
    "SpectralLearning",
    "LCSC",
    "SSKK",
    "PoissonLearning",
    "PoissonMBO",
    "ConstrainedGMM",
    "MetricKMeans",
)
MOST_POINTS = 300
KEY = ["method", "data", "kind"]


def data_sets(folder: Path, n_sets: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield some of the development sets, at most 300 points of each."""
    tables = np.load(folder / "tables.npz", allow_pickle=True)
    names = sorted(key[:-2] for key in tables.files if key.endswith("_X"))
    for name in names[:: max(1, len(names) // n_sets)]:
        X, y = np.asarray(tables[f"{name}_X"], dtype=float), tables[f"{name}_y"]
        y = np.unique(y, return_inverse=True)[1]
        if len(y) > MOST_POINTS:
            rows = np.random.RandomState(0).permutation(len(y))[:MOST_POINTS]
            X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
        yield name, X, y


def knowledge(y: np.ndarray) -> Iterator[tuple[str, Constraints]]:
    """Yield labels and pairs, from few on."""
    for count in (2, 3, 5, 10, 20, 40):
        yield f"{count} labels", sample_labels(y, count, random_state=1)
    for count in (1, 5, 10, 20, 40, 80):
        yield f"{count} pairs", sample_pairs(y, count, random_state=1)


def measure(method: str, name: str, X: np.ndarray, y: np.ndarray, done: set) -> Iterator[dict[str, Any]]:
    """Yield the cells of a method on a set that are not done."""
    k = len(np.unique(y))
    model = getattr(sidecut, method)(k, random_state=0)
    if method == "LCSC":
        model.set_params(cannot_links="ignore")
    if isinstance(model, GraphClusterer):
        data, graph = X, Neighbors(min(20, len(y) - 1)).build(X)
    else:
        data, graph = model._build(check_data(model, X), 0)
    task = Task(data, graph, Constraints.none(len(y)), k, 0)
    plain = model._solve(task)
    for kind, known in knowledge(y):
        if (method, name, kind) in done:
            continue
        given = task.given(known, plain=plain)
        try:
            answer = model._solve(given)
            given = given.given(known, start=answer)
            needed = needed_gain(known, k, model.caution)
            gain = held_out_gain(given, model._solve, needed) if model.caution else 0.0
        except (ValueError, RuntimeError):
            continue
        yield {
            "method": method,
            "data": name,
            "kind": kind,
            "facts": known.n_independent_pairs,
            "clusters": k,
            "points": len(y),
            "before": known.agreement(plain.labels),
            "after": known.agreement(answer.labels),
            "alike": adjusted_rand_score(plain.labels, answer.labels),
            "held out": gain,
            "plain": adjusted_rand_index(y, plain.labels, constraints=known),
            "constrained": adjusted_rand_index(y, answer.labels, constraints=known),
        }


def is_followed(cells: pd.DataFrame) -> pd.Series:
    """Return in which stored cells the guard follows the constraints."""
    caution = cells["method"].map(lambda name: getattr(sidecut, name).caution)
    ample = cells["facts"] >= np.maximum(guard.AMPLE_PAIRS, guard.AMPLE_PAIRS_PER_CLUSTER * cells["clusters"])
    gains = (caution == 0) | (cells["held out"] > caution * guard.MIN_GAIN / np.sqrt(cells["facts"]))
    asked = ample | ((cells["facts"] >= guard.MIN_PAIRS) & gains)
    agrees = ample & (cells["after"] >= guard.AMPLE_AGREEMENT)
    return agrees | ((cells["before"] < 1) & (cells["after"] > cells["before"]) & asked)


def table(cells: pd.DataFrame) -> str:
    """Return gains and losses, a row per method, without the guard and with it, for labels and for pairs."""
    cells = cells.assign(follows=cells["constrained"] - cells["plain"])
    cells["guarded"] = cells["follows"].where(is_followed(cells), 0.0)
    kinds = ("labels", "pairs")
    head = [f"{kind}, {way}" for kind in kinds for way in ("`safe=False`", "`safe=True`")]
    lines = ["| | " + " | ".join([*head, "measured"]) + " |", "|---" * 6 + "|"]
    for method in METHODS:
        mine = cells[cells["method"] == method]
        shown = [gain for kind in kinds for gain in _gains(mine[mine["kind"].str.endswith(kind)])]
        lines.append(f"| `{method}` | " + " | ".join([*shown, stored.measured(mine)]) + " |")
    return "\n".join(lines)


def _gains(cells: pd.DataFrame) -> list[str]:
    """Return the mean gain and the share of losses, without the guard and with it."""
    parts = [cells["follows"], cells["guarded"]]
    shown = [f"{part.mean():+.3f}, {(part < -0.05).mean():.1%}".replace("%", " %") for part in parts]
    # Cautious methods are judged by what was held out.
    is_judged = getattr(sidecut, cells["method"].iloc[0]).caution == 0 or cells["held out"].any()
    return [shown[0], shown[1] if is_judged else "not measured"]


def harm_table() -> str:
    """Return the stored result of `benchmarks.choices.harm`."""
    head = "| | fits | mean gain | fits that lose more than .05 | the worst loss | measured |"
    lines = [head, "|---" * 6 + "|"]
    for _, row in pd.read_csv(RESULTS.with_name("harm.csv")).iterrows():
        share = f"{row['large']:.1%}".replace("%", " %")
        worst = f"{row['worst']:.3f} ({row['where']})" if row["worst"] > 0 else "none"
        shown = [str(row["fits"]), f"{-row['mean loss']:+.3f}", share, worst, stored.measured(row)]
        lines.append(f"| `{row['method']}` | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def makers() -> dict[str, Callable[[], str]]:
    """Return what makes the tables of the page, by the names of their marks."""
    return {"guard": lambda: table(pd.read_csv(RESULTS)), "harm": harm_table}


def main() -> None:
    """Run what is missing, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--table", action="store_true", help="run nothing, write the page")
    parser.add_argument("--only", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--sets", type=int, default=24)
    args = parser.parse_args()
    if args.table:
        rewrite(PAGES[0], makers())
        return
    warnings.simplefilter("ignore")
    cells = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=KEY)
    done = set(map(tuple, cells[KEY].to_numpy()))
    for name, X, y in data_sets(args.data, args.sets):
        for method in args.only:
            rows = list(measure(method, name, X, y, done))
            if rows:
                cells = pd.concat([cells, pd.DataFrame(rows).assign(**stored.stamp())], ignore_index=True)
        cells.round(4).to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
