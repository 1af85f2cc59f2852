"""Graphs in many parts, before and after: `python -m benchmarks.quality.parts`.

Every method is given five labels of each class on graphs of 1,000 nodes and four classes, in three draws. It
runs twice: as in its paper's cut of all parts at once (`split_parts=False`), and by default. Label spreading
runs at five values of α, and the best of each draw counts. Means are stored, and the tables of
docs/lab/parts.md are made anew. `--table` makes only these; `--methods` and `--shapes` measure some.
"""

from __future__ import annotations

import argparse

import pandas as pd

from benchmarks.page_tables import DOCS, rewrite, short
from benchmarks.quality.parts.measure import METHODS, measure
from benchmarks.quality.parts.shapes import SHAPES
from benchmarks.stored import RESULTS, merge

STORED = RESULTS / "quality" / "parts.csv"
PAGE = DOCS / "lab" / "parts.md"
N_NODES, N_CLASSES, PER_CLASS, N_DRAWS = 1_000, 4, 5, 3


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.parts", description=__doc__)
    parser.add_argument("--table", action="store_true", help="make the tables of stored results")
    parser.add_argument("--methods", nargs="+", default=METHODS, help="the methods to measure")
    parser.add_argument("--shapes", nargs="+", default=tuple(SHAPES), help="the graphs to measure on")
    arguments = parser.parse_args()
    if not arguments.table:
        for shape in arguments.shapes:
            run_shape(shape, tuple(arguments.methods))
    if set(SHAPES) <= set(pd.read_csv(STORED)["shape"]):
        rewrite(PAGE, {"shapes": table_of_shapes, "means": table_of_means})


def run_shape(shape: str, methods: tuple[str, ...]) -> None:
    """Measure all draws of one shape, before and after, and store the means."""
    for when, split in (("before", False), ("after", True)):
        rows = measure(N_NODES, N_CLASSES, PER_CLASS, N_DRAWS, methods, (shape,), split_parts=split)
        means = pd.DataFrame(rows).groupby("method", sort=False)[["accuracy", "kept", "seconds"]].mean()
        found = [
            {"shape": shape, "method": method, "when": when, **row}
            for method, row in means.round(4).iterrows()
        ]
        merge(found, STORED, ["shape", "method", "when"])
    print(shape, flush=True)


def table_of_shapes() -> str:
    """Return the accuracy on every shape, before and after."""
    stored = pd.read_csv(STORED)
    methods = [method for method in METHODS if method in set(stored["method"])]
    lines = ["| graph | label spreading | " + " | ".join(methods) + " |", "|---" * (len(methods) + 2) + "|"]
    value = stored.set_index(["shape", "method", "when"])["accuracy"]
    for shape in SHAPES:
        cells = [
            f"{short(value[shape, m, 'before'], 2)} → {short(value[shape, m, 'after'], 2)}" for m in methods
        ]
        spread = short(value[shape, "LabelSpreading", "after"], 2)
        lines.append(f"| {shape} | {spread} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_of_means() -> str:
    """Return the means over all shapes, with the share of given labels that is kept."""
    stored = pd.read_csv(STORED)
    lines = ["| method | accuracy before | after | kept before | after |", "|---|---|---|---|---|"]
    for method in ("LabelSpreading", *METHODS):
        means = stored[stored["method"] == method].groupby("when")[["accuracy", "kept"]].mean()
        cells = [short(means.loc[w, c]) for c in ("accuracy", "kept") for w in ("before", "after")]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
