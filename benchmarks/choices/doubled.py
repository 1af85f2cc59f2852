"""What twice the value of a constant changes: the same work with the value in the code and with another.

    python -m benchmarks.choices.doubled --data FOLDER [--only methods.poisson.mbo.SIZE_NOISE] [--sets 8]

The work is small, and none of its sets is on a page of results: some tables of tables.npz with at most 300
points, with a label of every class, ten labels, and one pair for five or for two points, where the guard is
off; made graphs and points; and the pictures on which constants were set. Each work gives labels and an
index: the adjusted Rand index, the accuracy of labels in parts, the mean IoU of pictures. Stored are the mean
change of the index, the worst, and the share of works with other labels. docs/lab/constants.md shows them.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, roc_auc_score

import sidecut
from benchmarks import stored
from benchmarks.choices.guard import data_sets
from sidecut import Constraints
from sidecut.active import ActiveClustering
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.diagnostics import find_suspects
from sidecut.evaluation import adjusted_rand_index
from sidecut.labelling import assign_labels

RESULTS = stored.RESULTS / "choices" / "doubled.csv"
#: What a work gives: labels, and how good they are.
Found = Iterator[tuple[np.ndarray, float]]


def knowledge(y: np.ndarray) -> Iterator[Constraints]:
    """Yield a label of every class, ten labels, and pairs."""
    one = np.full(len(y), -1)
    first = np.unique(y, return_index=True)[1]
    one[first] = y[first]
    yield Constraints.from_labels(one)
    yield sample_labels(y, 10, random_state=3)
    for share in (5, 2):
        yield sample_pairs(y, len(y) // share, random_state=3)


def fits(folder: Path, n_sets: int, *, method: str, **settings: Any) -> Found:
    """Fit a method to development sets."""
    for _, X, y in data_sets(folder, n_sets):
        for known in knowledge(y):
            model = getattr(sidecut, method)(len(np.unique(y)), random_state=0).set_params(**settings)
            labels = model.fit(X, constraints=known).labels_
            yield labels, adjusted_rand_index(y, labels, constraints=known)


def few_labels(folder: Path, n_sets: int) -> Found:
    """Fit the guarded methods that count labels per cluster, with one to four of each class."""
    for _, X, y in data_sets(folder, n_sets):
        order = np.random.RandomState(3).permutation(len(y))
        for count in (1, 2, 3, 4):
            given = np.full(len(y), -1)
            for name in np.unique(y):
                points = order[y[order] == name][:count]
                given[points] = name
            known = Constraints.from_labels(given)
            for method in ("Layers", "PoissonLearning"):
                model = getattr(sidecut, method)(len(np.unique(y)), random_state=0)
                labels = model.fit(X, constraints=known).labels_
                yield labels, adjusted_rand_index(y, labels, constraints=known)


def cannot_links(folder: Path, n_sets: int) -> Found:
    """Let AutoCut choose the number of clusters with cannot-links alone."""
    for _, X, y in data_sets(folder, n_sets):
        for n_pairs in (20, len(y) // 2):
            rows = np.random.RandomState(3).randint(len(y), size=(4 * n_pairs, 2))
            pairs = rows[y[rows[:, 0]] != y[rows[:, 1]]][:n_pairs]
            known = Constraints.from_pairs(cannot_link=pairs, n_samples=len(y))
            labels = sidecut.AutoCut(n_clusters="auto", random_state=0).fit(X, constraints=known).labels_
            yield labels, adjusted_rand_score(y, labels)


def large_fits(folder: Path, n_sets: int, *, method: str, n: int = 2_500, **settings: Any) -> Found:
    """Fit a method to groups of points that overlap, with labels and with n pairs."""
    for spread in (2.0, 3.0):
        X, y = make_blobs(n, n_features=8, centers=10, cluster_std=spread, random_state=0)
        for known in (sample_labels(y, n // 20, random_state=0), sample_pairs(y, n, random_state=0)):
            model = getattr(sidecut, method)(10, random_state=0).set_params(**settings)
            labels = model.fit(X, constraints=known).labels_
            yield labels, adjusted_rand_index(y, labels, constraints=known)


def rows_to_label(folder: Path, n_sets: int) -> Found:
    """Run k-means on many rows."""
    for spread in (2.0, 3.0, 4.0):
        X, y = make_blobs(45_000, n_features=6, centers=12, cluster_std=spread, random_state=1)
        labels = assign_labels(X, 12, method="kmeans", n_init=3, random_state=np.random.RandomState(0))
        yield labels, adjusted_rand_score(y, labels)


def dialogues(folder: Path, n_sets: int, *, reliability: float | None, wrong: float = 0.0) -> Found:
    """Ask forty questions, some of which are answered wrongly."""
    for _, X, y in data_sets(folder, n_sets):
        errors = np.random.RandomState(5).rand(40) < wrong
        run = ActiveClustering(reliability=reliability, random_state=0).start(X)
        for error in errors:
            question = run.question()
            if question is None:
                break
            run.answer(bool(y[question.i] == y[question.j]) != bool(error))
        yield run.labels_, adjusted_rand_score(y, run.labels_)


def suspicions(folder: Path, n_sets: int) -> Found:
    """Look for wrong labels; the index is the area under the curve, and labels are what is suspected."""
    for _, X, y in data_sets(folder, n_sets):
        rng = np.random.RandomState(0)
        points = rng.permutation(len(y))[: max(20, len(y) // 5)]
        given = np.full(len(y), -1)
        given[points] = y[points]
        wrong = points[rng.rand(len(points)) < 0.15]
        given[wrong] = (y[wrong] + 1) % len(np.unique(y))
        suspects = find_suspects(X, Constraints.from_labels(given), n_clusters=len(np.unique(y)))
        is_wrong = np.isin(suspects.points, wrong)
        if 0 < is_wrong.sum() < len(is_wrong):
            yield suspects.scores > 0.25, float(roc_auc_score(is_wrong, suspects.scores))


def pictures(folder: Path, n_sets: int) -> Found:
    """Cut some of the pictures on which constants were set."""
    from benchmarks.quality.images.marks import draw_marks
    from benchmarks.quality.images.pictures import bundled_scenes
    from benchmarks.quality.images.scores import mean_iou
    from sidecut.images import segment

    for scene in list(bundled_scenes())[::3]:
        for kind in ("dots", "short", "box"):
            labels = segment(scene.image, draw_marks(scene.truth, kind, 0)).labels
            yield labels, mean_iou(labels, scene.truth)


def graphs_in_parts(folder: Path, n_sets: int) -> Found:
    """Cut made graphs in parts, with three labels of each class."""
    from benchmarks.quality.parts.measure import make, score
    from benchmarks.quality.parts.shapes import SHAPES, draw_labels

    for shape in ("10 parts", "100 parts", "citations", "isolated nodes", "12 chains", "neighbours of blobs"):
        weights, y = SHAPES[shape](400, 5, np.random.RandomState(7))
        known = draw_labels(y, 3, np.random.RandomState(7))
        for method in ("E2CP", "PoissonMBO"):
            model = make(method, int(y.max()) + 1, True)
            labels = model.fit(weights, constraints=Constraints.from_labels(known)).labels_
            yield labels, score(labels, known, y)[0]


def updates(folder: Path, n_sets: int) -> Found:
    """Let new points come, some of them of a new class, with a link between old points of two clusters."""
    from benchmarks.quality.lasting.__main__ import known_of
    from benchmarks.quality.lasting.scenarios import SCENARIOS

    for _, X, y in data_sets(folder, n_sets):
        for scenario in ("5 % new", "20 % new", "a tenth changed", "drift"):
            made = SCENARIOS[scenario](X, y, np.random.default_rng(3))
            known = Constraints.from_labels(known_of(made.y_old, np.random.default_rng(3)))
            model = sidecut.PoissonMBO(len(np.unique(y)), random_state=0).fit(made.old, constraints=known)
            links = sample_pairs(made.y, 10, random_state=3)
            model.update(made.new, constraints=links)
            yield model.labels_, adjusted_rand_score(made.y, model.labels_)


def rows_apart(folder: Path, n_sets: int) -> Found:
    """Fit NCSC where each row is said to be apart from nine others, of its own class or not."""
    for _, X, y in data_sets(folder, n_sets):
        source = np.random.RandomState(3).permutation(len(y)) // 10
        known = Constraints.from_groups(source, apart=True)
        labels = sidecut.NCSC(len(np.unique(y)), safe=False, random_state=0).fit(X, constraints=known).labels_
        yield labels, adjusted_rand_score(y, labels)


def with_graph(folder: Path, n_sets: int) -> Found:
    """Let AutoCut choose among forms of points and a random graph, in which a class has more edges."""
    for _, X, y in data_sets(folder, n_sets):
        same = y[:, None] == y[None, :]
        edges = np.triu(np.random.RandomState(3).rand(len(y), len(y)) < np.where(same, 0.06, 0.02), k=1)
        known = sample_labels(y, 4 * len(np.unique(y)), random_state=3)
        model = sidecut.AutoCut(len(np.unique(y)), random_state=0)
        labels = model.fit(X, constraints=known, graph=(edges | edges.T).astype(float)).labels_
        yield labels, adjusted_rand_index(y, labels, constraints=known)


def merges(folder: Path, n_sets: int) -> Found:
    """Merge two clusters of one too many, and fit again with what that says."""
    for _, X, y in data_sets(folder, n_sets):
        model = sidecut.NormalizedCut(len(np.unique(y)) + 1, random_state=0).fit(X)
        main = [int(np.bincount(y[model.labels_ == c]).argmax()) for c in range(model.labels_.max() + 1)]
        twins = [(a, b) for a in range(len(main)) for b in range(a) if main[a] == main[b]]
        if twins:
            known = model.corrections().merge(*twins[0]).constraints
            other = sidecut.E2CP(len(np.unique(y)), safe=False, random_state=0).fit(X, constraints=known)
            yield other.labels_, adjusted_rand_score(y, other.labels_)


asking = partial(dialogues, reliability=1.0)
wrong_answers = partial(dialogues, reliability=0.9, wrong=0.1)
unknown_errors = partial(dialogues, reliability=None, wrong=0.1)
mbo = partial(fits, method="PoissonMBO", safe=False)
layers = partial(fits, method="Layers", safe=False)
auto = partial(fits, method="AutoCut")
auto_number = partial(fits, method="AutoCut", n_clusters="auto")
linear = partial(large_fits, method="E2CP")

#: The work of every constant, and another value where twice the value makes no sense.
CONSTANTS: dict[str, tuple[Callable[[Path, int], Found], Any]] = {
    "methods.csp.cuts.OTHER_BOUNDS": (partial(fits, method="CSP", safe=False), None),
    "methods.csp.estimator.MIN_NEW_SHARE": (partial(fits, method="CSP", safe=False), None),
    "methods.e2cp.adjustment.N_GROUPS": (linear, None),
    "methods.e2cp.estimator.MAX_ERROR": (linear, None),
    "methods.e2cp.estimator.FINER": (linear, None),
    "methods.e2cp.estimator.MAX_EXACT_PRODUCTS": (linear, None),
    "methods.e2cp.propagation.SMOOTH_TOLERANCE": (linear, None),
    "methods.csap.graph.MAX_HARD_NOISE": (partial(fits, method="CSAP", safe=False), None),
    "methods.csap.estimator.MAX_EXACT_PRODUCTS": (partial(large_fits, method="CSAP"), None),
    "methods.csap.merged.MAX_NEAREST": (partial(large_fits, method="CSAP", approximate=True), None),
    **{
        f"methods.poisson.{name}": (mbo, None)
        for name in (
            "mbo.TIMES", "mbo.SPREAD_ALPHAS", "mbo.SIZE_NOISE", "mbo.REACH_COUNT", "mbo.LABEL_WEIGHT",
            "mbo.MIN_LABELS_FOR_ONE_START", "descent.MIN_RETAINED_SHARE", "starts.LINK_SHARE",
            "starts.EXCHANGE_TIME", "starts.MIN_WALK_CHANCE",
        )
    },
    "labelling.labels.SAMPLE_ROWS": (rows_to_label, None),
    "graphs.landmarks.KMEANS_STEPS": (partial(large_fits, method="SCACS"), None),
    "graphs.kernels.BANDWIDTH_SAMPLE": (
        partial(large_fits, method="SpectralLearning", n=5_000, affinity="heat"),
        2_000,
    ),
    "diagnostics.suspects.ODD_SHARE": (suspicions, None),
    "diagnostics.influence.ALPHA": (suspicions, None),
    **{
        f"images.{name}": (pictures, None)
        for name in (
            "region_graph.REGION_PRIOR_WEIGHT", "marked_cut.PLACE_WEIGHT", "region_graph.WIDTH",
            "region_graph.FLOOR", "region_graph.SHARPNESS", "region_graph.TEXTURE_WEIGHT",
            "border.PIXEL_PRIOR_WEIGHT",
        )
    },
    "active.belief.NOISE": (asking, None),
    # The trust at the start is one of those that are tried.
    "active.belief.TRUSTS": (asking, (0.0, 0.6)),
    "active.belief.DEFAULT_TRUST": (asking, 0.9),
    "active.belief.SURE_CHANCE": (asking, None),
    "active.belief.EVEN_LINKAGE": (asking, None),
    "active.belief.MIN_OPEN": (asking, None),
    "active.belief.SETTLED_ODDS": (wrong_answers, None),
    "active.precomputed.ALPHA": (asking, None),
    "active.strategies.PRIOR_COUNT": (asking, None),
    "active.clustering.PRIOR_WRONG": (unknown_errors, None),
    "active.clustering.PRIOR_ANSWERS": (unknown_errors, None),
    "active.clustering.MAX_ERROR": (unknown_errors, 0.2),
    **{
        f"active.noisy_answers.{name}": (wrong_answers, None)
        for name in (
            "MIN_PRIOR_ODDS", "SET_DOUBT", "MIN_NEW_SET_CHANCE", "PLACED_CHANCE",
            "MIN_SURENESS",
        )
    },
    **{
        f"active.propagation.{name}": (wrong_answers, None)
        for name in ("NODE_DOUBT", "SAME_NEW_CHANCE", "CERTAIN")
    },
    "methods.poisson.starts.MAX_PARTS": (graphs_in_parts, None),
    **{f"methods.parts.{name}": (graphs_in_parts, None) for name in ("SMALL_SHARE", "ALPHA", "STRAY_SHARE")},
    **{
        f"lasting.update.{name}": (updates, None)
        for name in ("CHANCE", "MOVING_SHARE", "ATTACHMENT", "N_STEPS")
    },
    "methods.layers.layout.SOFTENING": (layers, None),
    "methods.layers.tree.N_NEIGHBORS": (layers, None),
    "methods.layers.tree.MIN_RATIO": (layers, None),
    **{
        f"methods.layers.estimator.{name}": (layers, None)
        for name in ("CONFLICT_COST", "MIN_CONFLICTS", "MAX_CHANCE", "FEW_LABELS", "ALPHA")
    },
    "selection.autocut.N_FOLDS": (auto, 1),
    "selection.autocut.MIN_VOTERS": (auto, None),
    "selection.comparison.MIN_WEIGHT": (auto, None),
    "selection.autocut.MIN_GAIN": (auto, None),
    "selection.n_clusters.MANY_CLUSTERS": (auto_number, None),
    "selection.n_clusters.MAX_CHANCE": (auto_number, None),
    "selection.n_clusters.MIN_OVERLAP": (auto_number, None),
    "selection.n_clusters.MAX_UNSEEN": (auto_number, None),
    "selection.n_clusters.POINTS_PER_CLUSTER": (auto_number, None),
    "selection.n_clusters.CHANCE_AGREEMENT": (cannot_links, 1.0),
    "selection.views.MIN_FILLED": (auto, None),
    "constraints.closure.FEW_LABELS": (few_labels, None),
    "methods.parts.N_NEAREST": (partial(fits, method="E2CP", safe=False, n_neighbors=2), None),
    "methods.ncsc.ncsc.PRICE_CUT": (rows_apart, None),
    "methods.ncsc.ncsc.MOST_CUTS": (rows_apart, None),
    "lasting.corrections.REPRESENTATIVES": (merges, None),
    "selection.both.MIN_GAIN": (with_graph, None),
    "selection.autocut.PILOT_POINTS": (partial(large_fits, method="AutoCut"), None),
    "selection.autocut.VOTING_POINTS": (partial(large_fits, method="AutoCut"), None),
}  # fmt: skip


def twice(value: Any) -> Any:
    """Return twice a value; of shares from a half on, the rest to one is halved."""
    if isinstance(value, dict):
        return {key: twice(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(twice(part) for part in value)
    return (1.0 + value) / 2.0 if isinstance(value, float) and 0.5 <= value < 1.0 else 2 * value


def changed(constant: str, other: Any) -> ExitStack:
    """Return a context in which a constant has another value, wherever it was imported."""
    module, _, name = constant.rpartition(".")
    value, stack = getattr(import_module(f"sidecut.{module}"), name), ExitStack()
    for place, loaded in list(sys.modules.items()):
        if place.startswith("sidecut.") and vars(loaded).get(name) is value:
            stack.enter_context(patch.object(loaded, name, other))
    return stack


def in_words() -> dict[str, str]:
    """Return what is stored of each constant, for the table of constants."""
    rows = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame()
    return {row["constant"]: f"{words(row)} (`doubled.csv`)" for _, row in rows.iterrows()}


def words(row: Any) -> str:
    """Return a row in words."""
    if row["other labels"] == 0:
        return f"{row['value']}: the same labels in {row['fits']} fits"
    return (
        f"{row['value']}: mean index {row['change']:+.3f} in {row['fits']} fits, worst {row['worst']:+.2f}; "
        f"{row['other labels']:.0%} have other labels"
    )


def main() -> None:
    """Run, and store a row for each constant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=CONSTANTS, default=list(CONSTANTS))
    parser.add_argument("--sets", type=int, default=8)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    as_it_is: dict[Any, list[tuple[np.ndarray, float]]] = {}
    for constant in args.only:
        work, other = CONSTANTS[constant]
        module, _, name = constant.rpartition(".")
        other = twice(getattr(import_module(f"sidecut.{module}"), name)) if other is None else other
        started = time.process_time()
        if work not in as_it_is:
            as_it_is[work] = list(work(args.data, args.sets))
        with changed(constant, other):
            found = list(work(args.data, args.sets))
        both = list(zip(as_it_is[work], found, strict=True))
        row = {
            "constant": constant,
            "value": str(other),
            "fits": len(both),
            "change": np.mean([after[1] - before[1] for before, after in both]),
            "worst": min(after[1] - before[1] for before, after in both),
            "other labels": np.mean([not np.array_equal(before[0], after[0]) for before, after in both]),
        }
        stored.merge([row], RESULTS, ["constant"])
        print(f"{constant}: {words(row)} ({time.process_time() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
