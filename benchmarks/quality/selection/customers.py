"""The table that a new user tried first: customers, a column that says nothing, and 24 labels.

    python -m benchmarks.quality.selection.customers [--draws 0 1] [--release-two SOURCE]

The made-up table has 400 rows as people have them: semicolons, decimal commas, points for thousands, gaps,
dates, and a region that has nothing to do with the four classes. `sidecut cluster` reads and clusters it with
and without the region; all others get the same numbers, scaled, with a column for each region. A row holds
the share of rows without a label that are right, what AutoCut believes of itself, and how many of the labels,
all of which are right, `find_suspects` calls more likely wrong than not. SOURCE is the folder `src` of
release two, which cannot read points for thousands: it gets the same file without them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks import stored
from benchmarks.label_spreading import spread
from benchmarks.page_tables import short
from sidecut import NCSC, Constraints, PoissonLearning, PoissonMBO
from sidecut.diagnostics import find_suspects
from sidecut.graphs import Neighbors
from sidecut.selection.comparison import name_by_labels

STORED = stored.RESULTS / "quality" / "selection_customers.csv"
KINDS = ("Privatkunde", "Händler", "Behörde", "Verein")
#: Of each kind: its share, and the means of the logarithm of turnover, orders, discount and days to pay.
SHARES = (0.4, 0.3, 0.2, 0.1)
MEANS = ((5.5, 4.0, 1.0, 12.0), (8.5, 25.0, 9.0, 25.0), (7.5, 9.0, 3.0, 45.0), (6.5, 7.0, 6.0, 20.0))
SPREADS = (0.6, 0.35, 1.5, 6.0)
N_ROWS, N_LABELS, GAPS = 400, 24, 0.03
#: A confidence that a reader takes for certainty.
VERY_SURE = 0.99
#: Tables whose labels are of all four kinds.
DRAWS = (0, 1, 3, 4)
HERE, BEFORE = "sidecut cluster", "sidecut cluster, release two"
NUMBERS = ["Umsatz (€)", "Bestellungen", "Rabatt %", "Zahlungsziel"]
REGION = "Region"


def make_table(draw: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the table as numbers and words, the kind of every customer, and the rows with a label."""
    rng = np.random.default_rng(draw)
    y = rng.choice(len(KINDS), N_ROWS, p=SHARES)
    turnover, orders, discount, days = np.array(MEANS)[y].T
    columns = {
        "Umsatz (€)": np.exp(turnover + SPREADS[0] * rng.normal(size=N_ROWS)),
        "Bestellungen": 1.0 + rng.poisson(orders * np.exp(SPREADS[1] * rng.normal(size=N_ROWS))),
        "Rabatt %": np.maximum(discount + SPREADS[2] * rng.normal(size=N_ROWS), 0.0),
        "Zahlungsziel": np.maximum(days + SPREADS[3] * rng.normal(size=N_ROWS), 1.0).round(),
    }
    frame = pd.DataFrame({name: np.round(values, 2) for name, values in columns.items()})
    frame[REGION] = rng.choice(["Nord", "Süd", "Ost", "West"], N_ROWS)
    frame["Erstbestellung"] = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, N_ROWS), "D")
    for name in NUMBERS:
        frame.loc[rng.random(N_ROWS) < GAPS, name] = np.nan
    return frame, y, rng.choice(N_ROWS, N_LABELS, replace=False)


def write(frame: pd.DataFrame, y: np.ndarray, known: np.ndarray, path: Path, thousands: str) -> None:
    """Write the table as a German spreadsheet does, with the kinds that are known."""
    shown = frame.copy()
    for name in NUMBERS:
        shown[name] = ["" if np.isnan(value) else german(value, thousands) for value in frame[name]]
    shown["Erstbestellung"] = frame["Erstbestellung"].dt.strftime("%d.%m.%Y")
    shown.insert(0, "Kunde", [f"K{row:04}" for row in range(len(y))])
    shown["Art"] = [KINDS[y[row]] if row in set(known) else "" for row in range(len(y))]
    shown.to_csv(path, sep=";", index=False)


def german(value: float, thousands: str) -> str:
    """Return a number as 3.945,25, or as 3945,25."""
    return f"{value:,.2f}".translate(str.maketrans({",": thousands, ".": ","}))


def features(frame: pd.DataFrame, with_region: bool) -> np.ndarray:
    """Return the numbers, scaled, gaps filled by the median, and a column for each region."""
    X = frame[NUMBERS].fillna(frame[NUMBERS].median())
    if with_region:
        X = X.join(pd.get_dummies(frame[REGION], dtype=float))
    return StandardScaler().fit_transform(X)


def by_command(
    frame: pd.DataFrame, y: np.ndarray, known: np.ndarray, with_region: bool, source: Path | None
) -> pd.DataFrame:
    """Return what `sidecut cluster` writes: this release, or another whose source is given."""
    dropped = "Erstbestellung" if with_region else f"Erstbestellung,{REGION}"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write(frame, y, known, Path("kunden.csv"), "" if source else ".")
        words = ["cluster", "kunden.csv", "--id-column", "Kunde", "--label-column", "Art", "--decimal", ","]
        words += ["--impute", "--drop", dropped, *(["--encode"] if with_region else []), "-o", "labels.csv"]
        # In a process of its own: two releases do not fit into one.
        own = dict(os.environ) | ({"PYTHONPATH": str(source)} if source else {})
        ran = subprocess.run(
            [sys.executable, "-m", "sidecut", *words], env=own, capture_output=True, text=True
        )
        if ran.returncode:
            raise RuntimeError(f"sidecut {' '.join(words)} ended with {ran.returncode}: {ran.stderr}")
        return pd.read_csv("labels.csv")


def others(X: np.ndarray, known: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Yield what is compared: a name, and what gives every row a kind."""
    labels = np.full(len(y), -1)
    labels[known] = y[known]
    graph, constraints = Neighbors(20).build(X), Constraints.from_labels(labels)
    for model in (
        LogisticRegression(max_iter=1000),
        RandomForestClassifier(100, random_state=0),
        KNeighborsClassifier(1),
    ):
        yield type(model).__name__, lambda m=model: m.fit(X[known], y[known]).predict(X)
    yield "LabelSpreading .99", lambda: spread(csr_matrix(graph.tosparse()), labels, 1000, 0.99)
    for method in (PoissonLearning, PoissonMBO, NCSC):
        clusterer = method(len(KINDS), affinity="precomputed", random_state=0)
        yield (
            method.__name__,
            lambda m=clusterer: name_by_labels(m.fit(graph, constraints=constraints).labels_, labels, known),
        )


def measure(draw: int, release_two: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the rows of one table."""
    frame, y, known = make_table(draw)
    free = np.setdiff1d(np.arange(N_ROWS), known)
    if len(np.unique(y[known])) < len(KINDS):
        raise ValueError(f"draw {draw} has no label of one of the kinds {KINDS}: take another.")
    for columns, with_region in (("numbers", False), ("numbers and region", True)):
        X = features(frame, with_region)
        labels = np.full(N_ROWS, -1)
        labels[known] = y[known]
        suspects = find_suspects(X, Constraints.from_labels(labels))
        for name, source in ((HERE, None), *([(BEFORE, release_two)] if release_two else [])):
            found = by_command(frame, y, known, with_region, source)
            right = found["class"].to_numpy() == np.array(KINDS)[y]
            sure = found["confidence"].to_numpy()
            very = free[sure[free] >= VERY_SURE]
            yield {
                "columns": columns,
                "draw": draw,
                "method": name,
                "right": round(float(right[free].mean()), 4),
                "confidence": round(float(sure[free].mean()), 4),
                "very sure": len(very),
                "right of these": int(right[very].sum()),
                "labels kept": int(right[known].sum()),
                "accused": int(np.count_nonzero(suspects.scores > 0.5)) if source is None else np.nan,
            }
        for name, answer in others(X, known, y):
            yield {
                "columns": columns,
                "draw": draw,
                "method": name,
                "right": round(float((answer() == y)[free].mean()), 4),
            }


def summary() -> str:
    """Return the tables for the page: how many rows are right, and what AutoCut says of itself."""
    rows = pd.read_csv(STORED)
    kinds = ["numbers", "numbers and region"]
    right = rows.pivot_table(index="method", columns="columns", values="right")[kinds]
    lines = [
        "| share of rows that are right | the numbers alone | with the region | measured |",
        "|---|---|---|---|",
    ]
    for name, values in right.sort_values(kinds[1], ascending=False).iterrows():
        measured = stored.measured(rows[rows["method"] == name])
        lines.append(f"| {name} | {' | '.join(short(value, 2) for value in values)} | {measured} |")
    by = rows.groupby(["method", "columns"])
    sums = by[["very sure", "right of these", "labels kept", "accused"]].sum().astype(int)
    given = by.size() * N_LABELS
    head = [f"{kind}, {name}" for kind in kinds for name in ("now", "release two")]
    lines += ["", f"| `{HERE}` | {' | '.join(head)} |", "|---|---|---|---|---|"]
    cells = [(name, kind) for kind in kinds for name in (HERE, BEFORE)]
    shown = {
        "right": [short(right.loc[cell], 2) for cell in cells],
        "mean confidence": [short(by["confidence"].mean()[cell], 2) for cell in cells],
        "rows it is at least 99 % sure of": [str(sums.loc[cell, "very sure"]) for cell in cells],
        "of these, right": [str(sums.loc[cell, "right of these"]) for cell in cells],
        "labels that are kept": [f"{sums.loc[cell, 'labels kept']} of {given[cell]}" for cell in cells],
    }
    lines += [f"| {name} | {' | '.join(row)} |" for name, row in shown.items()]
    accused = [f"{sums.loc[(HERE, kind), 'accused']} of {given[(HERE, kind)]}" for kind in kinds]
    said = (
        f"Right labels that `find_suspects` calls wrong: {accused[0]} by the numbers, {accused[1]} with the"
    )
    return "\n".join([*lines, "", f"{said} region."])


def main() -> None:
    """Measure, and show."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, nargs="+", default=DRAWS, help="which tables are made")
    parser.add_argument("--release-two", type=Path, help="the folder src of release two")
    options = parser.parse_args()
    rows = [row for draw in options.draws for row in measure(draw, options.release_two)]
    stored.merge(rows, STORED, ["columns", "draw", "method"])
    print(summary())


if __name__ == "__main__":
    main()
