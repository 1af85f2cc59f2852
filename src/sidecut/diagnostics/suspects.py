"""Labels and links that are likely to be wrong, with the reason, and the constraints without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.diagnostics.influence import (
    embed,
    read_problem,
    score_labels,
    score_labels_by_places,
    score_links,
    spread_between,
)
from sidecut.graphs import Graph
from sidecut.labelling import unit_rows
from sidecut.methods import NormalizedCut
from sidecut.methods.task import as_constraints

if TYPE_CHECKING:
    import pandas as pd


#: β, the power of the shares: the values that are tried.
SHARPNESS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0)
#: ε, the share of wrong answers: the values that are tried.
ERROR_RATES = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4)
#: δ, the share of points, or pairs, that nothing predicts. Without it about one right label in a hundred was
#: called wrong.
ODD_SHARE = 0.01


def chances_of_classes(views: Sequence[Sequence[FloatArray]], classes: IntArray) -> FloatArray:
    """Return the probability of every class for each labelled point."""
    # The given class has the probability (1 - ε) p_given / l, any other class c has ε p_c / (K - 1) / l. In
    # each view p ∝ shares^β. Views are mixed by the likelihood of the given labels.
    best = [max((_sharpen(shares, classes) for shares in view), key=lambda fit: fit[0]) for view in views]
    per_class = len(classes) / best[0][1].shape[1]
    # The views after the first have a prior weight that grows with the labels per class: 1 at 60 labels.
    prior = np.array([1.0] + [per_class / 60.0] * (len(views) - 1))
    # A label counts as a tenth of its log likelihood: labels are few, and not independent.
    weights = softmax(0.1 * np.array([fit[0] for fit in best]) + np.log(prior))
    mixed = np.tensordot(weights, [fit[1] for fit in best], axes=1)
    if len(views) > 1:
        # A mixture is blunter than its parts.
        mixed = _sharpen(mixed, classes)[1]
    mixed = _allow_for_odd(mixed, mixed.shape[1])
    here, others = np.arange(len(classes)), max(mixed.shape[1] - 1, 1)
    rate = max(ERROR_RATES, key=lambda rate: _posterior(mixed[here, classes], rate, others)[0])
    weighed = mixed * rate / others
    weighed[here, classes] = mixed[here, classes] * (1.0 - rate)
    return weighed / weighed.sum(axis=1, keepdims=True)


def _sharpen(shares: FloatArray, classes: IntArray) -> tuple[float, FloatArray]:
    """Return the largest log likelihood of the given labels over β, and the p ∝ shares^β that reach it."""
    # β is drawn towards one: a few labels that happen to disagree do not make the evidence worthless.
    n_classes = shares.shape[1]
    logs = np.log(shares + 1e-3 / n_classes)
    others = max(n_classes - 1, 1)
    here = np.arange(len(classes))
    fits = []
    for sharpness in SHARPNESS:
        chances = softmax(sharpness * logs, axis=1)
        given = _allow_for_odd(chances[here, classes], n_classes)
        likelihood = max(_posterior(given, rate, others)[0] for rate in ERROR_RATES)
        # A normal prior of log β around 0; 0.05 keeps the logarithm finite at β = 0.
        off = np.log((sharpness + 0.05) / 1.05)
        fits.append((likelihood - 0.3 * off**2, chances))
    return max(fits, key=lambda fit: fit[0])


def _allow_for_odd(chances: FloatArray, n_answers: int) -> FloatArray:
    """Return (1 - δ) p + δ / K."""
    return (1.0 - ODD_SHARE) * chances + ODD_SHARE / n_answers


def _posterior(given: FloatArray, rate: float, others: int) -> tuple[float, FloatArray]:
    """Return the log likelihood of the given answers times the prior of ε, and their chances to be wrong."""
    wrong = rate * (1.0 - given) / others
    likelihood = (1.0 - rate) * given + wrong
    # ε has the prior Beta(2, 13), with mode 1/13.
    prior = np.log(rate) + 12.0 * np.log1p(-rate)
    return float(np.log(likelihood).sum() + prior), wrong / likelihood


def chance_links_wrong(views: FloatArray, is_must: BoolArray) -> FloatArray:
    """Return the chance that each link is wrong."""
    # The chance of "together" is p = 1 / (1 + exp(-b - Σ w_v view_v)), with weights w ≥ 0, but for odd pairs.
    fits = [_fit_links(views, np.where(is_must, 1.0, -1.0), rate) for rate in ERROR_RATES]
    return max(fits, key=lambda fit: fit[0])[1]


def _fit_links(views: FloatArray, sign: FloatArray, rate: float) -> tuple[float, FloatArray]:
    """Return the penalised log likelihood of the best weights for an error rate ε, and the chances."""
    n_views = views.shape[1]
    design = np.column_stack([views, np.ones(len(views))])
    # The weights are drawn towards 1.5, the offset, more weakly, towards 0.
    centre = np.append(np.full(n_views, 1.5), 0.0)
    ridge = np.append(np.full(n_views, 0.3), 0.03)

    def cost(weights: FloatArray) -> tuple[float, FloatArray]:
        predicted = expit(sign * (design @ weights))
        given = _allow_for_odd(predicted, 2)
        likelihood = (1.0 - rate) * given + rate * (1.0 - given)
        slopes = (1.0 - 2.0 * rate) * (1.0 - ODD_SHARE) * predicted * (1.0 - predicted) / likelihood * sign
        off = weights - centre
        return float(ridge @ off**2 - np.log(likelihood).sum()), 2.0 * ridge * off - design.T @ slopes

    bounds = [(0.0, None)] * n_views + [(None, None)]
    found = minimize(cost, centre, jac=True, bounds=bounds, method="L-BFGS-B")
    given = _allow_for_odd(expit(sign * (design @ found.x)), 2)
    likelihood, wrong = _posterior(given, rate, 1)
    return likelihood - float(ridge @ (found.x - centre) ** 2), wrong


#: Above this chance a label or link is more likely wrong than right.
MIN_DOUBTFUL_CHANCE = 0.5
#: Above this chance a label or link is dropped. To keep a wrong label costs about three times what a right
#: one is worth, on the sets where constants were set; a wrong link costs about as much.
DROP_ABOVE = {"label": 0.25, "link": MIN_DOUBTFUL_CHANCE}


@dataclass(frozen=True, repr=False)
class Suspects:
    """How suspicious every label or link is, the most suspicious first.

    Attributes
    ----------
    kind : {"label", "link"}
        What is judged.
    points : array of shape (m,) or (m, 2)
        The labelled points, or the two ends of every link.
    said : tuple of length m
        The given class of every point, or "together" and "apart".
    scores : array of shape (m,)
        The chance that it is wrong, given the graph and the other labels or links.
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
        """The positions of those more likely wrong than right, the most suspicious first."""
        return np.flatnonzero(self.scores > MIN_DOUBTFUL_CHANCE)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row for each label or link, the most suspicious first.

        Examples
        --------
        >>> import numpy as np
        >>> from sidecut.diagnostics import Suspects
        >>> points, chances = np.array([4]), np.array([0.9])
        >>> doubts = Suspects("label", points, ("cat",), chances, ("all near it are dogs",), ("dog",))
        >>> doubts.to_frame().to_dict("records")
        [{'point': 4, 'said': 'cat', 'chance': 0.9, 'instead': 'dog', 'reason': 'all near it are dogs'}]
        """
        import pandas

        points = self.points.reshape(len(self.scores), -1)
        names = ["point"] if points.shape[1] == 1 else ["i", "j"]
        columns = {name: points[:, place] for place, name in enumerate(names)}
        more = {"said": self.said, "chance": self.scores, "instead": self.instead, "reason": self.reasons}
        return pandas.DataFrame(columns | {name: list(values) for name, values in more.items()})

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if not self.doubtful.size:
            return f"None of the {len(self.scores)} {self.kind}s looks wrong."
        lines = [f"{self.doubtful.size} of {len(self.scores)} {self.kind}s look wrong:"]
        for place in self.doubtful[:10]:
            where = " and ".join(str(point) for point in np.atleast_1d(self.points[place]))
            lines.append(f"  {where}, said {self.said[place]!r}: {self.reasons[place]}")
        return "\n".join(lines)


def find_suspects(
    X: Any,
    constraints: Any,
    *,
    n_clusters: int | None = None,
    affinity: Any = "knn",
    n_neighbors: int = 20,
    random_state: int | np.random.RandomState | None = 0,
) -> Suspects:
    """Estimate the chance that each label or link is wrong, from the data and the others.

    Each label or link is left out in turn and predicted from the others (`sidecut.diagnostics.influence`).
    Labels are predicted over the graph and, if there are at most 2,000, by the eigenvectors of the graph. So
    a graph alone is judged as the data it was built from.
    Links are predicted from other links, and from the labels and the embedding of the unconstrained cut. How
    well such predictions agree with all given labels or links decides the chance that each is wrong
    (`sidecut.diagnostics.suspects`).

    Parameters
    ----------
    X : array, sparse matrix or data frame; with affinity="precomputed" the graph itself
        The data, as for an estimator.
    constraints : Constraints, array-like, Series or dict
        The labels or links to judge, as for an estimator.
    n_clusters : int, optional
        For links: the number of clusters of the unconstrained cut. By default the number of must-linked sets
        that cannot-links keep apart from each other, and at least two.
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
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    constraints = as_constraints(constraints, n_samples, X)
    _, graph, points = read_problem(X, constraints, affinity, n_neighbors)
    between, given = spread_between(graph, points)
    if constraints.labels is not None:
        return _judge_labels(graph, constraints, points, between, given)
    return _judge_links(graph, constraints, points, between, n_clusters, random_state)


def drop_suspects(
    constraints: Constraints, suspects: Suspects, threshold: float | None = None
) -> Constraints:
    """Return the constraints without the labels or links whose chance of being wrong is above a threshold.

    A wrong label does more harm than a right one does good. So by default labels are dropped above a chance
    of 0.25, and links above 0.5.

    Parameters
    ----------
    constraints : Constraints
        The constraints that were judged.
    suspects : Suspects
        The result of `find_suspects`.
    threshold : float, optional
        A higher one keeps more. By default 0.25 for labels and 0.5 for links.

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
    least = DROP_ABOVE[suspects.kind] if threshold is None else threshold
    dropped = suspects.points[suspects.scores > least]
    if suspects.kind == "label":
        kept = np.setdiff1d(constraints.constrained_points, dropped)
        return constraints.among(kept) if kept.size else Constraints.none(constraints.n_samples)
    gone = {tuple(sorted(pair)) for pair in dropped.tolist()}
    keep = np.array([tuple(sorted(pair)) not in gone for pair in constraints.pairs.tolist()], dtype=bool)
    pairs, strengths = constraints.pairs[keep], constraints.strengths[keep]
    is_must = strengths > 0
    return Constraints.from_pairs(
        constraints.n_samples,
        must_link=pairs[is_must],
        cannot_link=pairs[~is_must],
        must_weight=strengths[is_must],
        cannot_weight=-strengths[~is_must],
    )


def _judge_labels(
    graph: Graph, constraints: Constraints, points: IntArray, between: FloatArray, given: FloatArray
) -> Suspects:
    labels, known = constraints.labels, constraints.known_classes
    assert labels is not None
    numbers, first, classes = np.unique(labels[points], return_index=True, return_inverse=True)
    names = list(numbers) if known is None else [known[points[place]] for place in first]
    views = [[score_labels(between, given, classes)]]
    if len(points) <= 2_000:  # The time grows with the cube.
        views.append(score_labels_by_places(embed(graph, len(names))[points], classes))
    chances, here = chances_of_classes(views, classes), np.arange(len(classes))
    scores = 1.0 - chances[here, classes]
    chances[here, classes] = -1.0
    instead = np.argmax(chances, axis=1)
    order = np.argsort(-scores, kind="stable")
    reasons = []
    for place in order:
        other = names[instead[place]] if scores[place] > MIN_DOUBTFUL_CHANCE else None
        reasons.append(_explain_label(place, between, classes, names, other))
    said, others = ([names[number[place]] for place in order] for number in (classes, instead))
    return Suspects("label", points[order], tuple(said), scores[order], tuple(reasons), tuple(others))


def _explain_label(
    place: int, between: FloatArray, classes: IntArray, names: list[Any], instead: Any = None
) -> str:
    """Count the classes of the nine nearest labels; if they agree, name the likelier class."""
    weights = between[place].copy()
    weights[place] = 0.0
    nearest = np.argsort(-weights, kind="stable")[: min(9, len(weights) - 1)]
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
        return f"all other labels together predict {instead!r}, although {counted}"
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
    k = n_clusters if n_clusters is not None else _guess_clusters(constraints)
    cut = NormalizedCut(min(k, graph.n_nodes), affinity="precomputed", random_state=random_state).fit(graph)
    same = np.where(cut.labels_[pairs[:, 0]] == cut.labels_[pairs[:, 1]], 1.0, -1.0)
    rows = unit_rows(cut.embedding_)
    near = np.einsum("ij,ij->i", rows[pairs[:, 0]], rows[pairs[:, 1]])
    views = np.column_stack([belief, same, near])
    views /= np.maximum(np.abs(views).mean(axis=0), np.finfo(float).tiny)
    scores = chance_links_wrong(views, strengths > 0)
    order = np.argsort(-scores, kind="stable")
    said = tuple("together" if strengths[place] > 0 else "apart" for place in order)
    reasons = tuple(_explain_link(strengths[place] > 0, same[place] > 0, belief[place]) for place in order)
    instead = tuple("apart" if word == "together" else "together" for word in said)
    return Suspects("link", pairs[order], said, scores[order], reasons, instead)


def _guess_clusters(constraints: Constraints) -> int:
    """Return the size of a clique of must-linked sets that are apart, found greedily; at least two."""
    apart: dict[int, set[int]] = {}
    for one, other in constraints.without_conflicts().components.apart.tolist():
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
