"""What `safe=True` means for methods that need no trial of their own: little knowledge must not do harm."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.methods.safeguard import GRAPH, TOLD, Judgement, is_little, judge, warn_if_unsure, weigh

if TYPE_CHECKING:
    from sidecut.methods.base import ConstrainedClusterer as _Clusterer
else:
    _Clusterer = object


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
    def _has_own_start(self) -> bool:
        """Whether a start was given, from which there is one answer."""
        return False

    @property
    def _is_bound(self) -> bool:
        """Whether links hold, whatever speaks against them."""
        return bool(getattr(self, "hard", False))

    def _safeguard(self, X: Any, constraints: Constraints | None) -> None:
        for name in ("judgement_", "_alone"):
            self.__dict__.pop(name, None)
        if (
            not self.safe
            or self._has_own_start
            or constraints is None
            or not is_little(constraints, self.n_clusters)
        ):
            return
        with warnings.catch_warnings(action="ignore", category=SidecutWarning):
            alone = self._refit(X, None)
            self.judgement_ = self._judge(X, constraints, alone)
        if self.judgement_.choice == GRAPH and (self.judgement_.is_sure or not self._is_bound):
            warn_if_unsure(self.judgement_, constraints, alone.labels_)
            self._alone = alone
            for name in ("labels_", *self._kept):
                setattr(self, name, getattr(alone, name))

    def _judge(self, X: Any, constraints: Constraints, alone: Self) -> Judgement:
        if not self._is_told_apart:
            return weigh(constraints, self.n_clusters, self.labels_, alone.labels_)
        return judge(
            constraints,
            self.n_clusters,
            {TOLD: self.labels_},
            lambda: alone.labels_,
            lambda part: {TOLD: self._refit(X, part).labels_},
        )

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
