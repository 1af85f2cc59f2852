"""The graphs a choice is made among: how features are scaled, and how many neighbours a point has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, GraphRecipe, Neighbors, SparseGraph
from sidecut.graphs.graph import Extension
from sidecut.labelling import rename_by_first_appearance
from sidecut.methods.base import GraphClusterer
from sidecut.methods.task import Answer, Task

#: How many neighbours a point has: the library's default. Fewer were tried too, and chosen by luck mostly.
NEIGHBORS = 20
#: How graphs of scaled features, and of angles, are called.
SCALED, ANGLES = " and scaled features", " and angles"
#: Features are of one kind where the largest spread is less than the first number times the median one, and
#: in different units where it is more than the second.
MAX_SAME_KIND_RATIO, MIN_UNIT_RATIO = 3.0, 10.0
#: The expected gain of scaled features where units differ; it is a loss where features are of one kind.
PRIOR_GAIN = 0.15
#: Texts differ in length where the standard deviation of their lengths is this part of the mean.
MIN_LENGTH_SPREAD = 0.1


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
    """What links new points to a graph of transformed ones."""

    extension: Extension
    transformer: Any

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals."""
        return self.extension.edges(self.transformer.transform(X), self.transformer.transform(X_new))


def list_views(X: Any) -> dict[str, GraphRecipe]:
    """Return the graphs to choose among, by a name in plain words, the usual one first."""
    count = min(NEIGHBORS, X.shape[0] - 1)
    views: dict[str, GraphRecipe] = {f"{count} neighbours": Neighbors(count)}
    if sp.issparse(X):
        views[f"{count} neighbours{ANGLES}"] = Neighbors(count, weights="cosine")
    elif _largest_over(X, np.min) > 1.01:
        views[f"{count} neighbours{SCALED}"] = Transformed(Neighbors(count), StandardScaler())
    return views


def prior_for_scaling(X: Any, views: dict[str, GraphRecipe]) -> dict[str, float]:
    """Return what to expect of graphs of scaled features, or of angles, over those of the features as given.

    Features that differ greatly in spread are measured in different units, and want to be scaled; features
    of one kind, such as pixels, do not; in between nothing is expected. Of sparse data, such as words,
    angles say more than distances, which are mostly lengths of texts; where all have one length, they say
    the same.
    """
    if sp.issparse(X):
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64)).ravel()
        prior_gain = PRIOR_GAIN if lengths.std() > MIN_LENGTH_SPREAD * lengths.mean() else 0.0
        return {name: prior_gain if name.endswith(ANGLES) else 0.0 for name in views}
    ratio = _largest_over(X, _usual_spread)
    prior_gain = PRIOR_GAIN * (float(ratio > MIN_UNIT_RATIO) - float(ratio < MAX_SAME_KIND_RATIO))
    return {name: prior_gain if name.endswith(SCALED) else 0.0 for name in views}


def _usual_spread(spreads: npt.NDArray) -> Any:
    """Return the median; of two the smaller one, since the largest is never more than twice their mean."""
    return np.min(spreads) if spreads.size == 2 else np.median(spreads)


def _largest_over(X: npt.NDArray, of: Callable[[npt.NDArray], Any]) -> float:
    """Return the largest standard deviation of a feature over the smallest or median one."""
    spread = np.std(X, axis=0, dtype=np.float64)
    spread = spread[spread > 0]
    return float(spread.max() / of(spread)) if spread.size else 1.0


#: How the graph is called, after the name of the graph it is made from.
LEARNED = ", weighed by a classifier"
#: How the answer of the classifier alone is called.
CLASSIFIER = "classifier"
#: Labels of a class that are needed: in each fold, and in the mean.
N_FOLDS, MIN_LABELS_PER_CLASS = 3, 8
#: No edge is lost altogether: a graph in pieces would say nothing about most of them.
MIN_EDGE_FACTOR = 1e-6


class ClassifierWeighted(GraphRecipe):
    """A recipe whose edges count as far as a classifier believes that both ends are of one class.

    The classifier learns from the labelled points alone: the mean of a random forest, and of a logistic
    regression on scaled features. With p_i the chances of the classes of point i, an edge weighs
    w_ij Σ_c p_ic p_jc. The chances of a labelled point are those of its label: one, and zeros.
    """

    def __init__(
        self,
        recipe: GraphRecipe,
        labels: npt.ArrayLike,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.recipe = recipe
        self.labels = labels
        self.random_state = random_state

    def build(self, X: npt.NDArray) -> SparseGraph:
        """Return the graph of the points X, its edges weighed."""
        graph = self.recipe.build(X)
        labels = np.asarray(self.labels)
        known = np.flatnonzero(labels >= 0)
        classifier = make_classifier(X, self.random_state).fit(X[known], labels[known])
        chances = classifier.predict_proba(X)
        chances[known] = labels[known, None] == classifier.classes_
        weights = weigh(graph.tosparse(), chances, chances)
        extension = getattr(graph, "extension", None)
        if extension is not None:
            extension = ClassifierExtension(extension, classifier, chances)
        return SparseGraph(weights, recall=graph.recall, extension=extension)


@dataclass(frozen=True)
class ClassifierExtension:
    """What links new points to a graph that has learned."""

    extension: Extension
    classifier: Any
    chances: FloatArray

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals."""
        edges, exact_matches = self.extension.edges(X, X_new)
        return weigh(edges, self.classifier.predict_proba(X_new), self.chances), exact_matches


@dataclass(eq=False, repr=False)
class ClassifierAnswer(GraphClusterer):
    """The answer of the classifier that weighed the edges of a graph, without the graph."""

    def _solve(self, task: Task) -> Answer:
        chances = task.graph.extension.chances
        labels = rename_by_first_appearance(chances.argmax(axis=1))
        return Answer(labels, graph=task.graph, confidence=chances.max(axis=1))


def make_classifier(X: Any, random_state: int | np.random.RandomState | None) -> VotingClassifier:
    """Return the classifier, not fitted: the mean of a random forest and of a logistic regression."""
    linear: Any = LogisticRegression(max_iter=500)
    if not sp.issparse(X):
        linear = make_pipeline(StandardScaler(), linear)
    forest = RandomForestClassifier(100, random_state=random_state)
    return VotingClassifier([("forest", forest), ("linear", linear)], voting="soft")


def weigh(edges: sp.csr_array, sources: FloatArray, targets: FloatArray) -> sp.csr_array:
    """Return edges times the chance that both ends are of one class, Σ_c p_ic p_jc."""
    rows = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    agreement = np.einsum("ec,ec->e", sources[rows], targets[edges.indices])
    return sp.csr_array(
        (edges.data * (agreement + MIN_EDGE_FACTOR), edges.indices, edges.indptr), shape=edges.shape
    )


def can_learn(constraints: Constraints, n_clusters: int) -> bool:
    """Return whether there are labels enough to learn from, and of every cluster.

    A classifier cannot find a class without labels, and no fold would show that.
    """
    if constraints.labels is None:
        return False
    labels = np.asarray(constraints.labels)
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
    return bool(
        len(sizes) == n_clusters >= 2 and sizes.min() >= N_FOLDS and sizes.mean() >= MIN_LABELS_PER_CLASS
    )
