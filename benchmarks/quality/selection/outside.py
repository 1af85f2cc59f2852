"""EVoC and the label mode of fast_hdbscan on the reported sets of AutoCut.

    python -m benchmarks.quality.selection.outside --data FOLDER --python PYTHON [--draws 1]

PYTHON is that of an environment with `evoc` and `fast_hdbscan[nndescent]`, which is started once; nothing of
ours is imported there. Both find the number of clusters by themselves, and EVoC takes no labels. Points that
they call noise count as one cluster. Words become shares of their length. The rows are compared with those of
the same draws in selection_cells.csv.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from benchmarks import stored
from benchmarks.page_tables import short
from benchmarks.quality.selection.__main__ import knowledge
from benchmarks.quality.selection.data import REPORTED, load

CELLS = stored.RESULTS / "quality" / "selection_cells.csv"
STORED = stored.RESULTS / "quality" / "selection_outside.csv"
KEYS = ["data", "known", "draw", "method"]
METHODS = ("EVoC, nothing known", "fast_hdbscan, labels")
FITS = Path(__file__).with_name("outside_fits.py")
#: Those of selection_cells.csv that are shown beside them.
BESIDE = ("AutoCut", "LabelSpreading, alpha 0.99", "logistic regression", "random forest", "NormalizedCut")


def export(data: Path, draws: int, folder: Path) -> list[dict]:
    """Write points and what is known of every cell, and return what they are."""
    cells = []
    for draw in range(draws):
        for name in REPORTED:
            X, y = load(name, draw, data)
            X = normalize(X).toarray() if sp.issparse(X) else X
            for kind, known in knowledge(y, draw):
                if known.labels is None:
                    continue
                told = np.where(np.asarray(known.labels) >= 0, y, -1)
                cells.append({"data": name, "known": kind, "draw": draw, "y": y, "told": told})
                np.savez(folder / f"{len(cells) - 1}.npz", X=X.astype(np.float32), told=told)
    return cells


def summary() -> str:
    """Return the table for the page: means over the cells that all have."""
    ours = pd.read_csv(CELLS)
    rows = pd.concat([ours[ours["method"].isin(BESIDE)], pd.read_csv(STORED)])
    table = rows.pivot_table(index=["data", "known", "draw"], columns="method", values="ari").dropna()
    means = table.groupby(level="known").mean().T
    means["all"] = means.mean(axis=1)
    lines = [f"| | {' | '.join(means.columns)} | measured |", "|---|" + "---|" * (means.shape[1] + 1)]
    for name, values in means.sort_values("all", ascending=False).iterrows():
        measured = stored.measured(rows[rows["method"] == name])
        lines.append(f"| {name} | {' | '.join(short(value) for value in values)} | {measured} |")
    return "\n".join([*lines, "", f"{len(table)} fits of each."])


def main() -> None:
    """Measure, and show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--draws", type=int, default=1)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cells = export(options.data, options.draws, folder)
        subprocess.run([options.python, str(FITS), name, str(len(cells)), *METHODS], check=True)
        for place, cell in enumerate(cells):
            free = cell["told"] < 0
            for method in METHODS:
                with np.load(folder / f"{place} {method}.npz") as found:
                    labels, seconds = found["labels"], float(found["seconds"])
                score = round(adjusted_rand_score(cell["y"][free], labels[free]), 4)
                about = {key: cell[key] for key in ("data", "known", "draw")}
                rows.append({**about, "method": method, "ari": score, "seconds": round(seconds, 3)})
    stored.merge(rows, STORED, KEYS)
    print(summary())


if __name__ == "__main__":
    main()
