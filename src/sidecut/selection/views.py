"""The graphs a choice is made among: how features are scaled, and how many neighbours a point has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from sidecut.arrays import IntArray
from sidecut.graphs import Graph, GraphRecipe, Neighbors, SparseGraph
from sidecut.graphs.graph import Extension

#: How many neighbours a point has: the library's default. Fewer were tried too, and chosen by luck mostly.
NEIGHBORS = 20
#: How graphs of scaled features, and of angles, are called.
SCALED, ANGLES = " and scaled features", " and angles"
#: Features are of one kind where the largest spread is less than the first number times the median one, and
#: in different units where it is more than the second.
ONE_KIND, OTHER_UNITS = 3.0, 10.0
#: Scaled features are expected to be so much better where units differ, and so much worse in one kind.
LEANING = 0.15
#: Texts differ in length where the standard deviation of their lengths is so large a part of the mean.
OTHER_LENGTHS = 0.1


class Transformed(GraphRecipe):
    """A recipe on transformed data: features are scaled, say, before neighbours are looked for.

    Parameters
    ----------
    recipe : GraphRecipe
        How transformed data become a graph.
    transformer : scikit-learn transformer
        Fitted on the data whenever a graph is built.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sidecut.graphs import Neighbors
    >>> from sidecut.selection import Transformed
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 900.0], [1.0, 900.0]])
    >>> recipe = Transformed(Neighbors(3), StandardScaler())
    >>> recipe.build(X).toarray().round(2)[0]
    array([0.  , 0.61, 0.61, 0.37])
    """

    def __init__(self, recipe: GraphRecipe, transformer: Any) -> None:
        self.recipe = recipe
        self.transformer = transformer

    def build(self, X: npt.NDArray) -> Graph:
        """Return the graph of the transformed points X."""
        transformer = clone(self.transformer)
        graph = self.recipe.build(transformer.fit_transform(X))
        if isinstance(graph, SparseGraph) and graph.extension is not None:
            graph.extension = TransformedExtension(graph.extension, transformer)
        return graph


@dataclass(frozen=True)
class TransformedExtension:
    """What links new points to a graph of transformed ones.

    Parameters
    ----------
    extension : Extension
        Of the graph of transformed points.
    transformer : scikit-learn transformer
        Fitted on the points of the graph.
    """

    extension: Extension
    transformer: Any

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals."""
        return self.extension.edges(self.transformer.transform(X), self.transformer.transform(X_new))


class Shared(GraphRecipe):
    """A recipe that builds the graph of the same data once, for all estimators that hold it.

    Parameters
    ----------
    recipe : GraphRecipe
        How data become a graph.
    """

    def __init__(self, recipe: GraphRecipe) -> None:
        self.recipe = recipe

    def build(self, X: npt.NDArray) -> Graph:
        """Return the graph of the points X, the same object for the same X."""
        data, graph = self.__dict__.get("_built", (None, None))
        if data is not X or graph is None:
            graph = self.recipe.build(X)
            self._built = (X, graph)
        return graph


def list_views(X: Any) -> dict[str, GraphRecipe]:
    """Return the graphs to choose among, by a name in plain words, the usual one first.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The points. Words are many and mostly absent: of sparse data the angles are looked at instead of
        scaled features.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.selection.views import list_views
    >>> print(*list_views(np.arange(60.0).reshape(30, 2) * [1, 9]), sep="; ")
    20 neighbours; 20 neighbours and scaled features
    """
    count = min(NEIGHBORS, X.shape[0] - 1)
    views: dict[str, GraphRecipe] = {f"{count} neighbours": Neighbors(count)}
    if sp.issparse(X):
        views[f"{count} neighbours{ANGLES}"] = Neighbors(count, weights="cosine")
    elif _largest_over(X, np.min) > 1.01:
        views[f"{count} neighbours{SCALED}"] = Transformed(Neighbors(count), StandardScaler())
    return views


def lean_by_units(X: Any, views: dict[str, GraphRecipe]) -> dict[str, float]:
    """Return what to expect of graphs of scaled features, or of angles, over those of the features as given.

    Features that differ greatly in spread are measured in different units, and want to be scaled; features
    of one kind, such as pixels, do not; in between nobody knows. Of sparse data, such as words, angles say
    more than distances, which are mostly lengths of texts; where all have one length, they say the same.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The points.
    views : dict of str to GraphRecipe
        The graphs by name.
    """
    if sp.issparse(X):
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64)).ravel()
        leaning = LEANING if lengths.std() > OTHER_LENGTHS * lengths.mean() else 0.0
        return {name: leaning if name.endswith(ANGLES) else 0.0 for name in views}
    ratio = _largest_over(X, _usual_spread)
    leaning = LEANING * (float(ratio > OTHER_UNITS) - float(ratio < ONE_KIND))
    return {name: leaning if name.endswith(SCALED) else 0.0 for name in views}


def _usual_spread(spreads: npt.NDArray) -> Any:
    """Return the median; of two the smaller one, since the largest is never more than twice their mean."""
    return np.min(spreads) if spreads.size == 2 else np.median(spreads)


def _largest_over(X: npt.NDArray, of: Callable[[npt.NDArray], Any]) -> float:
    """Return the largest standard deviation of a feature over the smallest or median one."""
    spread = np.std(X, axis=0, dtype=np.float64)
    spread = spread[spread > 0]
    return float(spread.max() / of(spread)) if spread.size else 1.0
