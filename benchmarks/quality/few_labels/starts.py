"""Where PoissonMBO ends from different starts, given pairs alone: what its choice between ends can go by.

    python -m benchmarks.quality.few_labels.starts usps --data FOLDER --graphs CACHE
    python -m benchmarks.quality.few_labels.starts --stored

Of every start and its end: accuracy, the energy for each point without prices of sizes, the share of pairs
that the end satisfies, and the agreement of what neighbours say with the pairs. The draws are from 100 on,
which no other table shows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.quality.few_labels.methods import name_clusters
from benchmarks.quality.few_labels.work import Work, neighbor_graph, random_pairs
from sidecut import CSAP, E2CP, NCSC, NormalizedCut, PoissonMBO
from sidecut.constraints.closure import find_seeds
from sidecut.labelling.confidence import majority_of_neighbors
from sidecut.methods.poisson.descent import Diffusion, size_rule
from sidecut.methods.poisson.equation import SignedGraph
from sidecut.methods.poisson.mbo import FIXED_SCORE, Start
from sidecut.methods.poisson.starts import find_pieces, join_pieces
from sidecut.methods.task import Task

RESULTS = stored.RESULTS / "quality" / "few_labels_starts.csv"
FIRST_DRAW = 100


def starts(work: Work, signed: SignedGraph) -> dict[str, np.ndarray]:
    """Return clusterings to start from."""
    rng = np.random.RandomState(0)
    n_clusters = work.n_clusters
    model = PoissonMBO(n_clusters, affinity="precomputed", random_state=0)
    found = {
        "cut": NormalizedCut(n_clusters, affinity="precomputed", random_state=0).fit(work.graph).labels_,
        "signed cut": model._first_clusters(signed, find_seeds(work.constraints, n_clusters), rng),
    }
    for estimator in (E2CP, NCSC, CSAP):
        model = estimator(n_clusters, affinity="precomputed", random_state=0)
        found[estimator.__name__] = model.fit(work.graph, constraints=work.constraints).labels_
    pieces = find_pieces(work.graph, n_clusters, work.constraints.n_independent_pairs, "auto", rng)
    joined = join_pieces(pieces, work.constraints, n_clusters, rng)
    found |= dict(zip(("pieces, even sizes", "pieces, any sizes"), joined, strict=False))
    return found | {"the truth": work.truth}


def rows(work: Work) -> Iterator[dict]:
    """Yield where the descent ends from every start."""
    n_points, n_clusters = len(work.truth), work.n_clusters
    model = PoissonMBO(n_clusters, affinity="precomputed", random_state=0)
    signed, _ = model._pose(Task(None, work.graph, work.constraints, n_clusters, 0))
    rule = size_rule(None, n_points, n_clusters, model.size_penalty)
    for name, labels in starts(work, signed).items():
        sizes = np.bincount(labels, minlength=n_clusters)
        scores = FIXED_SCORE * np.eye(n_clusters)[labels]
        end = model._descend(Diffusion(signed, np.zeros_like(scores)), [Start(scores, sizes)], rule)[0]
        said = majority_of_neighbors(work.graph, end.labels, n_clusters)
        yield {
            "start": name,
            "before": work.accuracy(name_clusters(labels, work)),
            "after": work.accuracy(name_clusters(end.labels, work)),
            "energy": end.energy_without_sizes / n_points,
            "satisfied": work.constraints.satisfaction(end.labels),
            "neighbours": work.constraints.agreement(said),
        }


def show() -> None:
    """Print the means over draws as Markdown."""
    table = pd.read_csv(RESULTS)
    for (data, amount), part in table.groupby(["data", "amount"], sort=False):
        print(f"\n{data}, {amount} pairs, {part.draw.nunique()} draws\n")
        means = part.drop(columns=["data", "amount", "draw"]).groupby("start", sort=False).mean()
        print("| start | " + " | ".join(means.columns) + " |")
        print("|---" * (len(means.columns) + 1) + "|")
        for name, row in means.iterrows():
            print(f"| {name} | " + " | ".join(f"{value:.4f}" for value in row) + " |")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_sets", nargs="*")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--graphs", type=Path)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--amounts", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--stored", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for name in options.data_sets:
        weights, truth = neighbor_graph(name, options.data, options.graphs)
        for amount in options.amounts:
            for draw in range(FIRST_DRAW, FIRST_DRAW + options.draws):
                head = {"data": name, "amount": amount, "draw": draw}
                found += [head | row for row in rows(random_pairs(weights, truth, amount, draw))]
    if not options.stored:
        stored.save(pd.DataFrame(found), RESULTS, 5)
    show()


if __name__ == "__main__":
    main()
