"""Labels and links that are likely to be wrong, with the reason, and what is left without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.diagnostics.calibration import chance_links_wrong, chances_of_classes
from sidecut.diagnostics.influence import (
    MOST_BY_FEATURES,
    check_amount,
    score_labels,
    score_labels_by_features,
    score_links,
    spread_between,
)
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Graph
from sidecut.labelling import unit_rows
from sidecut.methods import NormalizedCut
from sidecut.methods.inputs import build_graph, check_data

#: Above this chance a label or link is more likely wrong than right.
DOUBTFUL = 0.5
#: Above this chance a label or link is better left out. To keep a wrong label costs about three times what a
#: right one is worth, on the sets where constants were set; a wrong link costs about as much.
WORTH_DROPPING = {"label": 0.25, "link": DOUBTFUL}
#: How many of the nearest labelled points a reason counts.
COUNTED = 9


@dataclass(frozen=True)
class Suspects:
    """How suspicious every label or link is, the most suspicious first.

    Attributes
    ----------
    kind : {"label", "link"}
        What is judged.
    points : array of shape (m,) or (m, 2)
        The labelled points, or the two ends of every link.
    said : tuple of length m
        What the user said: the class of every point, or "together" and "apart".
    scores : array of shape (m,)
        The chance that it is wrong, by the graph and all other knowledge.
    reasons : tuple of str
        Why, in words.
    instead : tuple of length m
        What is most likely if it is wrong: another class, or the other one of "together" and "apart".
    """

    kind: str
    points: IntArray
    said: tuple[Any, ...]
    scores: FloatArray
    reasons: tuple[str, ...]
    instead: tuple[Any, ...] = ()

    @property
    def doubtful(self) -> IntArray:
        """The places of those more likely wrong than right, the most suspicious first."""
        return np.flatnonzero(self.scores > DOUBTFUL)

    def __str__(self) -> str:
        if not self.doubtful.size:
            return f"None of the {len(self.scores)} {self.kind}s is suspicious."
        lines = [f"{self.doubtful.size} of {len(self.scores)} {self.kind}s look wrong:"]
        for place in self.doubtful[:10]:
            where = " and ".join(str(point) for point in np.atleast_1d(self.points[place]))
            lines.append(f"  {where}, said {self.said[place]!r}: {self.reasons[place]}")
        return "\n".join(lines)


def find_suspects(
    X: Any,
    constraints: Constraints,
    *,
    n_clusters: int | None = None,
    affinity: Any = "knn",
    n_neighbors: int = 20,
    random_state: int | np.random.RandomState | None = 0,
) -> Suspects:
    """Score how likely every label or link is wrong, given the data and all other knowledge.

    Each label or link is left out in turn, and what the others say about it is compared with it; see
    `sidecut.diagnostics.influence`. Labels are judged on the graph and, where there are features and not
    too many labels, by these alone. For links, the unconstrained cut counts as well: whether it puts the
    two points into one cluster, and how near they are in its embedding. How much all this foretells is
    measured on what was said itself, and gives the chance that each is wrong; see
    `sidecut.diagnostics.calibration`.

    Parameters
    ----------
    X : array, sparse matrix or data frame; with affinity="precomputed" the graph itself
        The data, as for an estimator.
    constraints : Constraints
        What is known: labels, or links.
    n_clusters : int, optional
        For links: how many clusters the unconstrained cut makes. By default as many as sets of points are
        known to be apart, and at least two.
    affinity, n_neighbors : as for the estimators
        How data become a graph.
    random_state : int, RandomState or None, default=0
        For the unconstrained cut.

    Returns
    -------
    Suspects
        All labels or links, the most suspicious first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut import Constraints
    >>> from sidecut.constraints import sample_labels
    >>> from sidecut.diagnostics import find_suspects
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = sample_labels(y, 40, random_state=0).labels.copy()
    >>> wrong = int((labels == 0).nonzero()[0][0])
    >>> labels[wrong] = 2
    >>> suspects = find_suspects(X, Constraints.from_labels(labels))
    >>> int(suspects.points[0]) == wrong, bool(suspects.scores[0] > 0.8)
    (True, True)
    """
    if constraints.is_empty:
        raise ConstraintError("nothing is known, so nothing can be suspicious: give labels or links.")
    data, graph = _build_graph(X, affinity, n_neighbors)
    constraints.check_matches(graph.n_nodes)
    points = constraints.constrained_points
    check_amount(points)
    between, given = spread_between(graph, points)
    if constraints.labels is not None:
        return _judge_labels(data, constraints, points, between, given)
    return _judge_links(graph, constraints, points, between, n_clusters, random_state)


def drop_suspects(
    constraints: Constraints, suspects: Suspects, threshold: float | None = None
) -> Constraints:
    """Return the constraints without the labels or links whose chance of being wrong is above a threshold.

    A wrong label does more harm than a right one does good, so labels go that are wrong with a chance of one
    in four; links go that are more likely wrong than right.

    Parameters
    ----------
    constraints : Constraints
        What was judged.
    suspects : Suspects
        The judgement.
    threshold : float, optional
        Higher keeps more. By default 0.25 for labels and 0.5 for links.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.diagnostics import Suspects, drop_suspects
    >>> known = Constraints.from_labels([0, 0, 1, -1])
    >>> doubts = Suspects("label", np.array([1, 0, 2]), (0, 0, 1), np.array([0.95, 0.1, 0.0]), ("", "", ""))
    >>> drop_suspects(known, doubts).labels.tolist()
    [0, -1, 1, -1]
    """
    least = WORTH_DROPPING[suspects.kind] if threshold is None else threshold
    dropped = suspects.points[suspects.scores > least]
    if suspects.kind == "label":
        kept = np.setdiff1d(constraints.constrained_points, dropped)
        return constraints.among(kept) if kept.size else Constraints.none(constraints.n_samples)
    keep = ~_is_among(constraints.pairs, dropped)
    pairs, strengths = constraints.pairs[keep], constraints.strengths[keep]
    is_must = strengths > 0
    return Constraints.from_pairs(
        constraints.n_samples,
        must_link=pairs[is_must],
        cannot_link=pairs[~is_must],
        must_weight=strengths[is_must],
        cannot_weight=-strengths[~is_must],
    )


def _is_among(pairs: IntArray, dropped: IntArray) -> BoolArray:
    gone = {tuple(sorted(pair)) for pair in dropped.tolist()}
    return np.array([tuple(sorted(pair)) in gone for pair in pairs.tolist()], dtype=bool)


def _build_graph(X: Any, affinity: Any, n_neighbors: int) -> tuple[Any, Graph]:
    """Return the data as they were let in, and their graph."""
    cut = NormalizedCut(2, affinity=affinity, n_neighbors=n_neighbors)
    data = check_data(cut, X)
    return data, build_graph(cut, data)


def _judge_labels(
    data: Any, constraints: Constraints, points: IntArray, between: FloatArray, given: FloatArray
) -> Suspects:
    labels = constraints.labels
    assert labels is not None
    classes = np.unique(labels[points], return_inverse=True)[1]
    names = _name_classes(constraints, points, classes)
    views = [[score_labels(between, given, classes)]]
    if not isinstance(data, Graph) and len(points) <= MOST_BY_FEATURES:
        views.append(score_labels_by_features(data[points], classes))
    chances, here = chances_of_classes(views, classes), np.arange(len(classes))
    scores = 1.0 - chances[here, classes]
    chances[here, classes] = -1.0
    instead = np.argmax(chances, axis=1)
    order = np.argsort(-scores, kind="stable")
    reasons = [
        _explain_label(
            place, between, classes, names, names[instead[place]] if scores[place] > DOUBTFUL else None
        )
        for place in order
    ]
    said, other = ([names[number[place]] for place in order] for number in (classes, instead))
    return Suspects("label", points[order], tuple(said), scores[order], tuple(reasons), tuple(other))


def _name_classes(constraints: Constraints, points: IntArray, classes: IntArray) -> list[Any]:
    """Return the user's name of every class, or its number."""
    known = constraints.known_classes
    values = constraints.labels if known is None else known
    assert values is not None
    first = np.unique(classes, return_index=True)[1]
    return [values[points[place]] for place in first]


def _explain_label(
    place: int, between: FloatArray, classes: IntArray, names: list[Any], instead: Any = None
) -> str:
    """Count the classes near a label; where most agree with it, say what else speaks against it."""
    weights = between[place].copy()
    weights[place] = 0.0
    nearest = np.argsort(-weights, kind="stable")[: min(COUNTED, len(weights) - 1)]
    nearest = nearest[weights[nearest] > 0]
    if nearest.size == 0:
        return "no other labelled point is connected to it"
    if nearest.size == 1:
        return f"the only labelled point near it is {names[classes[nearest[0]]]!r}"
    counts = np.bincount(classes[nearest], minlength=len(names))
    most = int(np.argmax(counts))
    share = "all" if counts[most] == nearest.size else f"{counts[most]} of the"
    counted = f"{share} {nearest.size} labelled points nearest to it are {names[most]!r}"
    if instead is not None and most == classes[place]:
        return f"taken together the other labels speak for {instead!r}, though {counted}"
    return counted


def _judge_links(
    graph: Graph,
    constraints: Constraints,
    points: IntArray,
    between: FloatArray,
    n_clusters: int | None,
    random_state: Any,
) -> Suspects:
    pairs, strengths = constraints.pairs, constraints.strengths
    first, second = np.searchsorted(points, pairs).T
    belief = score_links(between, first, second, strengths)
    cut = _cut_without_knowledge(graph, constraints, n_clusters, random_state)
    same = np.where(cut.labels_[pairs[:, 0]] == cut.labels_[pairs[:, 1]], 1.0, -1.0)
    rows = unit_rows(cut.embedding_)
    near = np.einsum("ij,ij->i", rows[pairs[:, 0]], rows[pairs[:, 1]])
    views = np.column_stack([_of_mean_size_one(view) for view in (belief, same, near)])
    scores = chance_links_wrong(views, strengths > 0)
    order = np.argsort(-scores, kind="stable")
    said = tuple("together" if strengths[place] > 0 else "apart" for place in order)
    reasons = tuple(_explain_link(strengths[place] > 0, same[place] > 0, belief[place]) for place in order)
    instead = tuple("apart" if word == "together" else "together" for word in said)
    return Suspects("link", pairs[order], said, scores[order], reasons, instead)


def _cut_without_knowledge(
    graph: Graph, constraints: Constraints, n_clusters: int | None, random_state: Any
) -> NormalizedCut:
    k = n_clusters if n_clusters is not None else _guess_clusters(constraints)
    model = NormalizedCut(min(k, graph.n_nodes), affinity="precomputed", random_state=random_state)
    return model.fit(graph)


def _of_mean_size_one(view: FloatArray) -> FloatArray:
    return view / max(float(np.mean(np.abs(view))), np.finfo(float).tiny)


def _guess_clusters(constraints: Constraints) -> int:
    """Return how many sets are seen to be apart from each other, found greedily; at least two."""
    contracted = constraints.without_conflicts().components
    apart: dict[int, set[int]] = {}
    for one, other in contracted.apart.tolist():
        apart.setdefault(one, set()).add(other)
        apart.setdefault(other, set()).add(one)
    clique: list[int] = []
    for node in sorted(apart, key=lambda node: -len(apart[node])):
        if all(node in apart[member] for member in clique):
            clique.append(node)
    return max(len(clique), 2)


def _explain_link(is_must: bool, is_same: bool, belief: float) -> str:
    graph = f"the graph alone puts the two points into {'one cluster' if is_same else 'two clusters'}"
    others = f"other links near them say {'together' if belief > 0 else 'apart'}"
    against = [text for text, together in ((graph, is_same), (others, belief > 0)) if together != is_must]
    return " and ".join(against) if against else "the graph and other links agree with it"
