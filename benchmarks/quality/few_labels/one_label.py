"""Where PoissonMBO ends from its different starts, given one label per class, and which start it keeps.

    python -m benchmarks.quality.few_labels.one_label usps pendigits --data FOLDER --graphs CACHE
    python -m benchmarks.quality.few_labels.one_label --stored

Of every start: the accuracy of its end, what `merit` goes by, and the merit. The draws are from 200 on, which
no other table shows. A name that ends in "-uneven" stands for the set with classes thinned out.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.quality.few_labels.work import Work, labels_per_class, neighbor_graph, thin_out
from sidecut import PoissonMBO
from sidecut.methods.poisson.descent import Diffusion
from sidecut.methods.poisson.mbo import FIXED_SCORE, Start, score_start
from sidecut.methods.poisson.starts import walks_from_labels
from sidecut.methods.task import Task

RESULTS = stored.RESULTS / "quality" / "few_labels_one_label.csv"
FIRST_DRAW = 200
STARTS = ("labels spread", "pieces, price of uneven sizes", "pieces, no price")


def rows(work: Work, told: bool) -> Iterator[dict]:
    """Yield the merit of every start, and the accuracy where the descent ends from it."""
    n_points, n_clusters = len(work.truth), work.n_clusters
    classes = work.classes_in_order()
    sizes = np.bincount(work.truth)[classes] if told else None
    model = PoissonMBO(n_clusters, affinity="precomputed", sizes=sizes, random_state=0)
    signed, seeds = model._pose(Task(None, work.graph, work.constraints, n_clusters, 0))
    sources = seeds.indicator(n_points, n_clusters)
    rule = model._size_rule(n_points)
    rng = np.random.RandomState(0)
    walks, diffusion = walks_from_labels(signed, seeds), Diffusion(signed, sources)
    scores, reached = model._spread_start(signed, seeds)
    expected = model._expected(rule, sources, reached)
    tried = model._try_starts(diffusion, walks, scores, expected, rng)
    for name, path in zip(STARTS, tried, strict=False):
        start = Start(FIXED_SCORE * np.eye(n_clusters)[path.labels], reached)
        end = model._descend(diffusion, [start], rule)[0]
        if not told:
            end = model._descend_again(diffusion, end, rule, True)
        yield {
            "start": name,
            "accuracy": work.accuracy(classes[end.labels]),
            "energy": path.energy_without_sizes / n_points,
            "likelihood": walks.likelihood(path.labels, n_clusters),
            "merit": score_start(path, expected, walks),
        }


def show() -> None:
    """Print mean accuracies as Markdown: of every start, of the one kept, and of the best in hindsight."""
    table = pd.read_csv(RESULTS)
    cases = table.groupby(["data", "told", "draw"], sort=False)
    kept = table.loc[cases.merit.idxmax()].assign(start="the start that is kept")
    best = table.loc[cases.accuracy.idxmax()].assign(start="the best in hindsight")
    everything = pd.concat([table, kept, best])
    for told, part in everything.groupby("told"):
        print(f"\nsizes {'told' if told else 'not told'}, {part.draw.nunique()} draws\n")
        means = part.pivot_table(index="start", columns="data", values="accuracy", sort=False)
        print("| start | " + " | ".join(means.columns) + " |")
        print("|---" * (len(means.columns) + 1) + "|")
        for name, row in means.iterrows():
            print(f"| {name} | " + " | ".join(f"{value:.3f}".lstrip("0") for value in row) + " |")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_sets", nargs="*")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--graphs", type=Path)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--stored", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for name in options.data_sets:
        weights, truth = neighbor_graph(name.removesuffix("-uneven"), options.data, options.graphs)
        if name.endswith("-uneven"):
            weights, truth = thin_out(weights, truth)
        for draw in range(FIRST_DRAW, FIRST_DRAW + options.draws):
            work = labels_per_class(weights, truth, 1, draw)
            for told in (False, True):
                head = {"data": name, "told": told, "draw": draw}
                found += [head | row for row in rows(work, told)]
    if not options.stored:
        stored.save(pd.DataFrame(found), RESULTS, 5)
    show()


if __name__ == "__main__":
    main()
