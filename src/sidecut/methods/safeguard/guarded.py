"""The mixin that gives a method `safe=True`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.methods.inputs import check_points
from sidecut.methods.safeguard.held_back import CONSTRAINED, GRAPH
from sidecut.methods.safeguard.judgement import (
    FEW_FACTS,
    FEWEST_FOR_GAIN,
    Judgement,
    is_little,
    is_tried,
    judge,
    try_out,
    warn_if_unsure,
    weigh,
)
from sidecut.progress import stage

if TYPE_CHECKING:
    from sidecut.methods.base import ConstrainedClusterer as _Clusterer
else:
    _Clusterer = object

#: A graph is all but in pieces, as many as clusters, if the last of as many eigenvalues is below this.
IN_PIECES = 1e-6


def is_unconstrained(model: Any) -> bool:
    """Tell whether a method without a trial of its own kept its answer without constraints."""
    judgement = getattr(model, "judgement_", None)
    return isinstance(model, Safeguarded) and judgement is not None and judgement.choice == GRAPH


class Safeguarded(_Clusterer):
    """Gives a method `safe`: where little is known, its own answer without constraints may be kept.

    What the method computed stays as it is; `labels_` and `confidence_` are those of the answer kept, and
    `judgement_` says why.
    """

    safe: bool
    judgement_: Judgement
    #: What else is taken from the fit without constraints if that is kept.
    _taken: tuple[str, ...] = ()
    #: Whether an answer is judged by pairs held back. It must be where a method satisfies all it is given.
    _holds_pairs_back = False
    #: Fewer facts than this are not followed, see benchmarks/choices/caution.py.
    _fewest_facts = FEWEST_FOR_GAIN
    #: Whether labels are held back too. Most methods lose more by that than they are spared.
    _tries_labels = False

    @property
    def _few_facts(self) -> int:
        """So few facts are not held back."""
        return FEW_FACTS

    def _is_tried(self, constraints: Constraints) -> bool:
        is_of_a_kind = self._tries_labels or constraints.labels is None
        return is_of_a_kind and is_tried(constraints, self._few_facts)

    @property
    def _is_guarded(self) -> bool:
        """Whether the answer without constraints may be kept, with these parameters."""
        return self.safe

    def _safeguard(self, X: Any, constraints: Constraints | None) -> None:
        self._forget("judgement_")
        if constraints is None or not self._is_guarded:
            return
        if not is_little(constraints, self.n_clusters, tries_labels=self._tries_labels):
            return
        with (
            warnings.catch_warnings(action="ignore", category=SidecutWarning),
            stage("answer without constraints"),
        ):
            unconstrained = self._refit(X, None)
            self.judgement_ = self._judge(X, constraints, unconstrained)
        if self.judgement_.choice != GRAPH:
            return
        reason = "" if self.judgement_.is_sure else self._must_follow(constraints, unconstrained)
        if reason:
            self.judgement_ = Judgement(CONSTRAINED, f"The constraints are followed: {reason}.")
            return
        self._confidence = unconstrained.confidence_
        for name in ("labels_", *self._taken):
            setattr(self, name, getattr(unconstrained, name))
        self._hold_links(constraints)
        if hasattr(self, "repair_"):
            # It tells of the answer that is not kept. This one satisfies everything as it is.
            rows = getattr(unconstrained, "embedding_", None)
            self._repair(_dense(check_points(self, X, reset=False)) if rows is None else rows, constraints)
        warn_if_unsure(self.judgement_, constraints, self.labels_)

    def _must_follow(self, constraints: Constraints, unconstrained: Self) -> str:
        """Return why constraints are followed whatever speaks against them, or nothing."""
        if getattr(self, "hard", False):
            return "they are hard"
        if self._is_graph_in_pieces(unconstrained):
            return "the graph is in pieces, and cannot tell how these belong together"
        if self._speaks_of_isolated(constraints):
            return "they speak of points without neighbours, of which the graph says nothing"
        return ""

    def _hold_links(self, constraints: Constraints) -> None:
        """Hook: change labels so that links hold which the method promises to keep."""

    def _is_graph_in_pieces(self, unconstrained: Self) -> bool:
        """Tell whether the graph falls apart, or all but, into as many pieces as clusters or more."""
        if self._seen[1] is None:
            return False
        smallest = getattr(unconstrained, "eigenvalues_", np.ones(1))
        return bool(smallest[-1] < IN_PIECES)

    def _speaks_of_isolated(self, constraints: Constraints) -> bool:
        graph = self._seen[1]
        return graph is not None and bool(np.isin(graph.isolated, constraints.constrained_points).any())

    def _judge(self, X: Any, constraints: Constraints, unconstrained: Self) -> Judgement:
        if not self._holds_pairs_back:
            refines = self._knows_all_clusters(constraints)
            alone = unconstrained.labels_
            # Three labels are two facts. So are two pairs, but these do not speak of each other.
            fewest = self._fewest_facts if constraints.labels is not None else FEWEST_FOR_GAIN
            judgement = weigh(
                constraints, self.n_clusters, self.labels_, alone, refines=refines, fewest=fewest
            )
            if judgement.choice == GRAPH or not self._is_tried(constraints):
                return judgement
            if self._must_follow(constraints, unconstrained):
                return judgement
            return try_out(constraints, self.labels_, alone, lambda part: self._refit(X, part).labels_)
        return judge(
            constraints,
            self.n_clusters,
            {CONSTRAINED: self.labels_},
            lambda: unconstrained.labels_,
            lambda part: {CONSTRAINED: self._refit(X, part).labels_},
        )

    def _knows_all_clusters(self, constraints: Constraints) -> bool:
        """Hook: whether so few labels are all the method needs, if no two clusters lack one."""
        return False

    def _refit(self, X: Any, constraints: Constraints | None) -> Self:
        """Return the same method, fitted on the same graph with other constraints."""
        graph = self._seen[1]
        return self._twin().fit(X if graph is None else graph, constraints=constraints)

    def _twin(self) -> Self:
        """Return the same method, not fitted, for the graph that this one was fitted on."""
        # Not a clone: that would copy a graph that is shared.
        settings = {**self.get_params(deep=False), "safe": False}
        if self._seen[1] is not None:
            settings["affinity"] = "precomputed"
        return type(self)(**settings)


def _dense(points: Any) -> FloatArray:
    return np.asarray(points.toarray() if sp.issparse(points) else points, dtype=np.float64)
