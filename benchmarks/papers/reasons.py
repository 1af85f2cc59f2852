"""What the reasons rest on that the results pages give where a paper's claim does not hold.

    python -m benchmarks.papers.reasons --data FOLDER [--only csp scacs]

Each probe changes one thing in an experiment, at one size and for a few draws, and is a row of
results/<paper>_reasons.csv for every variant.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks import stored
from benchmarks.label_spreading import spread
from benchmarks.papers import csap, csp, e2cp, scacs
from benchmarks.papers.cells import graph_of, points, run_cell
from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.figures import WORDS
from benchmarks.papers.side_information import draw as draw_constraints
from benchmarks.papers.storing import RESULTS
from sidecut import CSAP, CSP, Constraints
from sidecut.datasets import Dataset
from sidecut.evaluation import adjusted_rand_index, clustering_accuracy
from sidecut.graphs import Gaussian, Graph, Neighbors
from sidecut.graphs.kernels import bandwidth

#: Shares of the largest β that leaves a cut.
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
#: A labelled point of Segment with a degree below this is an outlier.
OUTLYING = 1e-3


@dataclass(frozen=True)
class Probe:
    """An experiment at one size, with other contenders.

    Parameters
    ----------
    words : str
        What is looked at.
    experiment : Experiment
        Data, graph and how side information is drawn.
    size : int
        How much of it.
    draws : int
        How often.
    variants : tuple of Contender
        What is compared.
    score : {"ari", "rand", "acc"}
        The score that is told.
    """

    words: str
    experiment: Experiment
    size: int
    draws: int
    variants: tuple[Contender, ...]
    score: str

    def rows(self, folder: Path | None) -> Iterator[dict]:
        """Run all draws, and return the mean score of each variant."""
        cells = [
            row
            for draw in range(self.draws)
            for row in run_cell(self.experiment, self.size, draw, list(self.variants), folder)
        ]
        means = pd.DataFrame(cells).groupby("method", sort=False)[self.score].mean()
        told = f"{self.words}, {self.draws} draws: {WORDS[self.score]}"
        for variant, mean in means.items():
            yield {"what": told, "variant": variant, "value": mean}


def csp_probes(folder: Path | None) -> Iterator[dict]:
    """How uneven the degrees of the RBF graphs are, and whether a smaller β would help."""
    for experiment in csp.UCI:
        graph = graph_of(experiment.graph, data_key(experiment, folder))
        span = np.log10(graph.degrees.max() / graph.degrees[graph.degrees > 0].min())
        yield {
            "what": "RBF graph: orders of magnitude of the degrees",
            "variant": experiment.data,
            "value": span,
        }
    shares = tuple(
        Contender(f"CSP, {share:g} of the largest β", "CSP", {"beta": ("fraction", share)})
        for share in SHARES
    )
    wdbc = next(e for e in csp.ON_NEIGHBORS if e.data == "wdbc")
    known = (csp.BASELINE, Contender("SL", "SpectralLearning", csp.SIGN), *shares)
    yield from Probe("WDBC, 20 neighbours, 50 pairs", wdbc, 50, 5, known, "ari").rows(folder)
    noisy = (Contender("CSP, eq. 19", "CSP", {"beta": "eq19"}), *shares)
    yield from Probe("moons amid noise, 20 pairs", csp.NOISY, 20, 10, noisy, "ari").rows(folder)
    yield from softer_links(folder)


def softer_links(folder: Path | None) -> Iterator[dict]:
    """Whether AP is no better than SL once its links are as soft as the figure may have had them."""
    known = tuple(one for one in csp.UCI_CONTENDERS if one.label in ("SL", "SSKK"))
    soft = tuple(
        Contender(f"AP, ε = {eps:g}", "CSAP", {**CSAP.published, "eps_must": eps, "eps_cannot": eps})
        for eps in (1e-5, 1.0, 10.0, 100.0)
    )
    for experiment in csp.UCI[:3]:
        words = f"{experiment.data}, RBF, 100 pairs"
        yield from Probe(words, experiment, 100, 5, known + soft, "ari").rows(folder)


def e2cp_probes(folder: Path | None) -> Iterator[dict]:
    """Whether other settings make more of 2,400 pairs on Scene, and what the labels behind them are worth."""
    told = ("NCuts", "E2CP (paper)", "E2CP")
    known = tuple(contender for contender in e2cp.CONTENDERS if contender.label in told)
    alphas = tuple(Contender(f"E2CP, α = {alpha:g}", "E2CP", {"alpha": alpha}) for alpha in (0.2, 0.5, 0.95))
    graphs = {
        "60 neighbours": Neighbors(60, weights="gaussian"),
        "20 neighbours, local scales": Neighbors(20),
        "the full kernel": Gaussian("median"),
    }
    cuts = tuple(
        Contender(f"NCuts on {words}", "NormalizedCut", uses_constraints=False, graph=graph)
        for words, graph in graphs.items()
    )
    elsewhere = tuple(Contender(f"E2CP on {words}", "E2CP", graph=graph) for words, graph in graphs.items())
    variants = known + alphas + cuts + elsewhere
    yield from Probe("Scene, 2,400 pairs", e2cp.SCENE, 2400, 5, variants, "ari").rows(folder)
    yield from spread_labels(e2cp.SCENE, 2400, 5, folder)


def spread_labels(experiment: Experiment, size: int, draws: int, folder: Path | None) -> Iterator[dict]:
    """What LabelSpreading makes of the labels of the points that the pairs are among."""
    key = data_key(experiment, folder)
    data, graph = points(*key), graph_of(experiment.graph, key)
    weights, found = sp.csr_matrix(graph.matrix), []
    for draw in range(draws):
        told = draw_constraints(experiment, data.y, data.y, size, [draw, size]).constrained_points
        labels = np.where(np.isin(np.arange(len(data.y)), told), data.y, -1)
        found.append(adjusted_rand_index(data.y, spread(weights, labels, 300)))
    what = f"Scene, 2,400 pairs, {draws} draws: {WORDS['ari']}"
    yield {
        "what": what,
        "variant": "the labels of those points, spread by LabelSpreading",
        "value": np.mean(found),
    }


def csap_probes(folder: Path | None) -> Iterator[dict]:
    """Whether softer links would help where many hard ones harm."""
    variants = tuple(
        Contender(f"AP, ε = {eps:g}", "CSAP", {"eps_must": eps, "eps_cannot": eps}) for eps in (1e-5, 0.1)
    )
    for experiment in csap.MADE:
        name = experiment.data.removeprefix("made:")
        yield from Probe(f"{name}, 100 pairs", experiment, 100, 8, variants, "rand").rows(folder)


def scacs_probes(folder: Path | None) -> Iterator[dict]:
    """What the width of the kernel does to FCSC, outliers to CSP, and the number of landmarks to SCACS."""
    segment, usps = scacs.SMALL[:2]
    width = bandwidth(points(*data_key(usps, folder)).X, "mean")
    graphs = {
        "width the mean distance": Gaussian("mean"),
        "a quarter of that": Gaussian(round(width / 4, 4)),
        "30 neighbours": Neighbors(30, weights="gaussian"),
    }
    variants = tuple(
        Contender(words, "CSP", {"beta": "eq19"}, graph=graph) for words, graph in graphs.items()
    )
    yield from Probe("FCSC on USPS, 500 labels", usps, 500, 3, variants, "acc").rows(folder)
    yield from outliers(segment, folder)
    few_to_many = next(e for e in scacs.FIG2 if e.name == "scacs-fig2b-pendigits")
    printed = few_to_many.contenders[0].settings
    changed = {
        "as in the figure": {},
        "landmarks by k-means": {"landmarks": "kmeans"},
        "ten of them for a point": {"n_nearest": 10},
        "β₀ = .5": {"beta0": 0.5},
    }
    others = tuple(Contender(words, "SCACS", {**printed, **own}) for words, own in changed.items())
    for count in (100, 500, 1000):
        words = f"SCACS on Pen Digits, 500 labels, {count} landmarks"
        yield from Probe(words, few_to_many, count, 3, others, "acc").rows(folder)


def outliers(experiment: Experiment, folder: Path | None) -> Iterator[dict]:
    """CSP on Segment with 500 labels, and without those of points that hardly have neighbours."""
    key = data_key(experiment, folder)
    data, graph = points(*key), graph_of(experiment.graph, key)
    quantities = {
        "smallest": float(graph.degrees.min()),
        "median": float(np.median(graph.degrees)),
        "how many below 1e-10": int((graph.degrees < 1e-10).sum()),
    }
    for words, value in quantities.items():
        yield {"what": "Segment, 30 neighbours: degrees", "variant": words, "value": value}
    told = draw_constraints(experiment, data.y, data.y, 500, [0, 500])
    near = np.where(graph.degrees < OUTLYING, -1, told.labels)
    left_out = int((near != told.labels).sum())
    for words, labels in {
        "all": told.labels,
        f"without {left_out} of degree below {OUTLYING:g}": near,
    }.items():
        row = {"what": f"CSP on Segment, 500 labels, one draw: {WORDS['acc']}", "variant": words}
        yield row | {"value": _accuracy(data, graph, Constraints.from_labels(labels))}


def _accuracy(data: Dataset, graph: Graph, known: Constraints) -> float:
    model = CSP(data.n_classes, affinity="precomputed", safe=False, random_state=0)
    return clustering_accuracy(data.y, model.fit(graph, constraints=known).labels_)


def data_key(experiment: Experiment, folder: Path | None) -> tuple:
    """Return what `cells.points` knows the data of an experiment by."""
    return experiment.data, 0, experiment.scaling, folder


PROBES = {"e2cp": e2cp_probes, "csp": csp_probes, "csap": csap_probes, "scacs": scacs_probes}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of .npz files (default: SIDECUT_DATA)")
    parser.add_argument("--only", nargs="+", choices=tuple(PROBES), default=tuple(PROBES), help="papers")
    args = parser.parse_args(argv)
    for name in args.only:
        table = pd.DataFrame(PROBES[name](args.data), columns=["what", "variant", "value"])
        print(table.to_string(index=False))
        table["value"] = [float(f"{value:.3g}") for value in table["value"]]
        stored.save(table, RESULTS / f"{name}_reasons.csv")


if __name__ == "__main__":
    main()
