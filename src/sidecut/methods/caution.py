"""What `safe=True` means for methods that need no trial of their own: little knowledge must not do harm."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.methods.safeguard import GRAPH, TOLD, Judgement, is_little, judge, warn_if_unsure, weigh

if TYPE_CHECKING:
    from sidecut.methods.base import ConstrainedClusterer as _Clusterer
else:
    _Clusterer = object


#: A graph is all but in pieces, as many as clusters, if the last of as many eigenvalues is below this.
IN_PIECES = 1e-6


def is_alone(model: Any) -> bool:
    """Tell whether a method without a trial of its own kept its answer without constraints."""
    judgement = getattr(model, "judgement_", None)
    return isinstance(model, Cautious) and judgement is not None and judgement.choice == GRAPH


class Cautious(_Clusterer):
    """Gives a method `safe`: where little is known, its own answer without constraints may be kept.

    What the method computed stays as it is; `labels_` and `confidence_` are those of the answer kept, and
    `judgement_` says why.
    """

    safe: bool
    judgement_: Judgement
    #: What else is taken from the fit without constraints if that is kept.
    _kept: tuple[str, ...] = ()
    #: Whether an answer is judged by pairs held back. It must be where it satisfies all it is told anyway.
    _is_told_apart = False

    @property
    def _is_guarded(self) -> bool:
        """Whether the answer without constraints may be kept, with these parameters."""
        return self.safe

    def _safeguard(self, X: Any, constraints: Constraints | None) -> None:
        for name in ("judgement_", "_alone"):
            self.__dict__.pop(name, None)
        if constraints is None or not self._is_guarded or not is_little(constraints, self.n_clusters):
            return
        with warnings.catch_warnings(action="ignore", category=SidecutWarning):
            alone = self._refit(X, None)
            self.judgement_ = self._judge(X, constraints, alone)
        if self.judgement_.choice != GRAPH:
            return
        reason = "" if self.judgement_.is_sure else self._must_follow(constraints, alone)
        if reason:
            self.judgement_ = Judgement(TOLD, f"The constraints are followed: {reason}.")
            return
        self._alone = alone
        for name in ("labels_", *self._kept):
            setattr(self, name, getattr(alone, name))
        self._hold_links(constraints)
        warn_if_unsure(self.judgement_, constraints, self.labels_)

    def _must_follow(self, constraints: Constraints, alone: Self) -> str:
        """Return why constraints are followed whatever speaks against them, or nothing."""
        if getattr(self, "hard", False):
            return "they are hard"
        if self._graph_is_silent(constraints, alone):
            return "the graph is in pieces, and cannot tell how these belong together"
        return ""

    def _hold_links(self, constraints: Constraints) -> None:
        """Hook: change labels so that links hold which the method promises to keep."""

    def _graph_is_silent(self, constraints: Constraints, alone: Self) -> bool:
        """Tell whether points named lie in different pieces of the graph, or it all but falls to pieces."""
        graph = getattr(self, "_graph_before", None)
        if graph is None:
            return False
        are_apart = np.ptp(graph.components[constraints.constrained_points]) > 0
        smallest = getattr(alone, "eigenvalues_", np.ones(1))
        return bool(are_apart or smallest[-1] < IN_PIECES)

    def _judge(self, X: Any, constraints: Constraints, alone: Self) -> Judgement:
        if not self._is_told_apart:
            refines = self._knows_all_clusters(constraints)
            return weigh(constraints, self.n_clusters, self.labels_, alone.labels_, refines=refines)
        return judge(
            constraints,
            self.n_clusters,
            {TOLD: self.labels_},
            lambda: alone.labels_,
            lambda part: {TOLD: self._refit(X, part).labels_},
        )

    def _knows_all_clusters(self, constraints: Constraints) -> bool:
        """Hook: whether so few labels are all the method needs, if no two clusters lack one."""
        return False

    def _refit(self, X: Any, constraints: Constraints | None) -> Self:
        """Return the same method, fitted on the same graph and told something else."""
        # Not a clone: that would copy a graph that is shared.
        settings = {**self.get_params(deep=False), "safe": False}
        graph = getattr(self, "_graph_before", None)
        if graph is None:
            return type(self)(**settings).fit(X, constraints=constraints)
        return type(self)(**{**settings, "affinity": "precomputed"}).fit(graph, constraints=constraints)

    def _measure_confidence(self, X: Any) -> Any:
        alone = self.__dict__.pop("_alone", None)
        return super()._measure_confidence(X) if alone is None else alone.confidence_
