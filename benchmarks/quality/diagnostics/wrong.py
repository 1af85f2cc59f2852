"""Make knowledge wrong, look for it, drop it; and see where a fitted model errs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC

from sidecut import CSP, E2CP, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.diagnostics import Suspects, drop_suspects, find_suspects
from sidecut.diagnostics.suspects import DROP_ABOVE
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Graph

SHARES = (0.05, 0.10, 0.20)
#: The share at which models are fitted.
FITTED_SHARE = 0.10
#: What is known, and by which method it is used.
KINDS = {"labels of 5 %": CSP, "labels of 20 %": CSP, "n/5 pairs": E2CP}


@dataclass(frozen=True)
class Case:
    """Points and their graph, classes, what is known, and the chances of a classifier that knows all."""

    X: Any
    graph: Graph
    y: Any
    kind: str
    draw: int
    chances: Any

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.y.max()) + 1

    def fit(self, known: Constraints) -> Any:
        """Return a model that was told this."""
        model = KINDS[self.kind](self.n_classes, affinity="precomputed", random_state=0)
        return model.fit(self.graph, constraints=known)

    def score(self, known: Constraints, told: Constraints) -> float:
        """Return the adjusted Rand index of such a model on points that were not spoken of."""
        labels = self.fit(known).labels_
        return round(float(adjusted_rand_index(self.y, labels, constraints=told)), 4)

    def judge(self, told: Constraints) -> Suspects:
        """Return what looks wrong."""
        return find_suspects(self.X, told, n_clusters=self.n_classes)

    def know(self) -> Constraints:
        """Return what is known, all of it right."""
        if self.kind == "n/5 pairs":
            return sample_pairs(self.y, len(self.y) // 5, random_state=self.draw)
        share = 0.05 if self.kind == "labels of 5 %" else 0.20
        n_labels = max(round(share * len(self.y)), 3 * self.n_classes)
        points = sample_labels(self.y, n_labels, random_state=self.draw).constrained_points
        labels = np.full(len(self.y), -1)
        labels[points] = self.y[points]
        return Constraints.from_labels(labels)


def know_all(X: Any, y: Any) -> Any:
    """Return what a support vector machine says of each fifth when it is told all the other labels."""
    model = SVC(C=10.0, probability=True, random_state=0)
    return cross_val_predict(model, X, y, cv=5, method="predict_proba")


def measure(case: Case, is_fitted: bool) -> Iterator[dict[str, Any]]:
    """Give one row for each share of wrong knowledge; with fits, also one for the right knowledge.

    Models are fitted at one share only: they take most of the time.
    """
    right = case.know()
    score = {}
    if is_fitted:
        model = case.fit(right)
        yield {"confidence": by_tenths(model, case.y, right)}
        score = {"right": round(float(adjusted_rand_index(case.y, model.labels_, constraints=right)), 4)}
    for share in SHARES:
        rng = np.random.default_rng([case.draw, int(100 * share)])
        flip = flip_links if right.labels is None else flip_labels
        told, wrong = flip(case, right, share, rng)
        suspects = case.judge(told)
        row = find(case, told, wrong, suspects)
        if is_fitted and share == FITTED_SHARE:
            row |= score | regain(case, told, wrong, suspects)
        yield {"share": share, **row}


def flip_labels(case: Case, right: Constraints, share: float, rng: Any) -> tuple[Constraints, set[int]]:
    """Return labels of which a share are of another class, and which."""
    points = right.constrained_points
    labels = np.full(len(case.y), -1)
    labels[points] = case.y[points]
    wrong = points[rng.random(len(points)) < share]
    shift = rng.integers(1, case.n_classes, size=len(wrong))
    labels[wrong] = (case.y[wrong] + shift) % case.n_classes
    return Constraints.from_labels(labels), set(wrong.tolist())


def flip_links(case: Case, right: Constraints, share: float, rng: Any) -> tuple[Constraints, set[Any]]:
    """Return links of which a share are turned around, and which."""
    is_wrong = rng.random(len(right.pairs)) < share
    must = (right.strengths > 0) != is_wrong
    told = Constraints.from_pairs(len(case.y), must_link=right.pairs[must], cannot_link=right.pairs[~must])
    return told, set(map(tuple, right.pairs[is_wrong].tolist()))


def find(case: Case, told: Constraints, wrong: set[Any], suspects: Suspects) -> dict[str, Any]:
    """Return how well the wrong ones are found."""
    bad, gone = _are_wrong(suspects, wrong), suspects.scores > DROP_ABOVE[suspects.kind]
    row = {
        "auc": area(bad, suspects.scores),
        "n": len(bad),
        "n_wrong": int(bad.sum()),
        "n_dropped": int(gone.sum()),
        "n_dropped_wrong": int(bad[gone].sum()),
    }
    if suspects.kind == "label":
        row["ceiling"] = area(bad, 1.0 - _chance_of_said(case, told, suspects.points))
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}


def regain(case: Case, told: Constraints, wrong: set[Any], suspects: Suspects) -> dict[str, float]:
    """Return what the wrong ones cost, what dropping suspects regains, and what dropping just those would."""
    exact = replace(suspects, scores=_are_wrong(suspects, wrong).astype(float))
    score = {"wrong": case.score(told, told)}
    for name, judged in (("dropped", suspects), ("at best", exact)):
        kept = drop_suspects(told, judged)
        score[name] = score["wrong"] if kept == told else case.score(kept, told)
    return score


def _are_wrong(suspects: Suspects, wrong: set[Any]) -> Any:
    judged = suspects.points.tolist()
    return np.array([(one if suspects.kind == "label" else tuple(one)) in wrong for one in judged])


def _chance_of_said(case: Case, told: Constraints, points: Any) -> Any:
    """Return own / (own + best other) by the classifier that knows all true labels but those of its fifth."""
    said = told.known_classes[points].astype(int)
    chances = case.chances[points]
    here = np.arange(len(points))
    own = chances[here, said]
    chances[here, said] = -1.0
    return own / np.maximum(own + chances.max(axis=1), 1e-12)


def area(is_wrong: Any, scores: Any) -> float | None:
    """Return the area under the curve, or None where none or all are wrong."""
    return float(roc_auc_score(is_wrong, scores)) if 0 < is_wrong.sum() < len(is_wrong) else None


def by_tenths(model: Any, y: Any, known: Constraints) -> list[list[float]]:
    """Return mean confidence, error rate and share of all errors of each tenth of the points.

    The least sure come first. Points that something is known about are left out.
    """
    free = np.setdiff1d(np.arange(len(y)), known.constrained_points)
    table = confusion_matrix(y, model.labels_)
    classes, clusters = linear_sum_assignment(-table)
    named = np.full(table.shape[1], -1)
    named[clusters] = classes
    order = free[np.argsort(model.confidence_[free], kind="stable")]
    errors = named[model.labels_[order]] != y[order]
    total = max(int(errors.sum()), 1)
    sure = np.array_split(model.confidence_[order], 10)
    return [
        [round(float(number), 4) for number in (one.mean(), part.mean(), part.sum() / total)]
        for one, part in zip(sure, np.array_split(errors, 10), strict=True)
    ]
