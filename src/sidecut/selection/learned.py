"""A graph that learns from labels: edges count as far as a classifier believes that they join one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import GraphRecipe, SparseGraph
from sidecut.graphs.graph import Extension
from sidecut.labelling import rename_by_first_appearance
from sidecut.selection.views import Shared

#: How the graph is called, after the name of the graph it is made from.
LEARNED = ", weighed by a classifier"
#: Labels of a class that are needed: in each fold, and in the mean.
N_FOLDS, PER_CLASS = 3, 8
#: No edge is lost altogether: a graph in pieces would say nothing about most of them.
LEAST = 1e-6


class Learned(GraphRecipe):
    """A recipe whose edges count as far as a classifier believes that both ends are of one class.

    The classifier learns from the labelled points alone: the mean of a random forest, and of a logistic
    regression on scaled features. With p_i the chances of the classes of point i, an edge weighs
    w_ij Σ_c p_ic p_jc. The chances of a labelled point are those of its label: one, and zeros.

    Parameters
    ----------
    recipe : GraphRecipe
        How data become a sparse graph.
    labels : array-like of shape (n_samples,)
        The known classes from 0, -1 elsewhere: of at least two classes.
    random_state : int, RandomState or None, default=None
        For the random forest.

    Examples
    --------
    Two points are near each other, but the first feature tells classes apart:

    >>> import numpy as np
    >>> from sidecut.graphs import Neighbors
    >>> from sidecut.selection.learned import Learned
    >>> X = np.array([[0, 0], [0, 9], [0, 4], [1, 1], [1, 8], [1, 4]], dtype=float)
    >>> labels = np.array([0, 0, -1, 1, 1, -1])
    >>> before = Neighbors(4).build(X).toarray()
    >>> learned = Learned(Neighbors(4), labels, random_state=0).build(X).toarray()
    >>> bool(learned[2, 5] < before[2, 5] / 2)
    True
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
        beliefs = classifier.predict_proba(X)
        beliefs[known] = labels[known, None] == classifier.classes_
        weights = weigh(graph.tosparse(), beliefs, beliefs)
        extension = getattr(graph, "extension", None)
        if extension is not None:
            extension = LearnedExtension(extension, classifier, beliefs)
        return SparseGraph(weights, recall=graph.recall, extension=extension)


@dataclass(frozen=True)
class LearnedExtension:
    """What links new points to a graph that has learned.

    Parameters
    ----------
    extension : Extension
        Of the graph before its edges were weighed.
    classifier : classifier
        Fitted on the labelled points.
    beliefs : array of shape (n, n_classes)
        The chances of the classes of the old points.
    """

    extension: Extension
    classifier: Any
    beliefs: FloatArray

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals."""
        edges, twins = self.extension.edges(X, X_new)
        return weigh(edges, self.classifier.predict_proba(X_new), self.beliefs), twins


class Believed(ClusterMixin, BaseEstimator):
    """The answer of the classifier that weighs the edges of a graph, without the graph.

    Parameters
    ----------
    affinity : Learned
        The recipe of the graph.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The class with the best chances, numbered in order of first appearance.
    confidence_ : array of shape (n_samples,)
        Its chances.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import Neighbors
    >>> from sidecut.selection.learned import Believed, Learned
    >>> X = np.array([[0, 0], [0, 9], [0, 4], [1, 1], [1, 8], [1, 4]], dtype=float)
    >>> Believed(Learned(Neighbors(4), [0, 0, -1, 1, 1, -1], random_state=0)).fit(X).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, affinity: GraphRecipe | None = None) -> None:
        self.affinity = affinity

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Ask the classifier about all points.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The points.
        y, constraints : ignored
            The recipe holds the labels.
        """
        assert self.affinity is not None
        # Only what is not yet an array is converted: the graph of the same array is shared.
        data = X if sp.issparse(X) or isinstance(X, np.ndarray) else check_array(X)
        beliefs = self.affinity.build(data).extension.beliefs
        self.labels_ = rename_by_first_appearance(beliefs.argmax(axis=1))
        self.confidence_ = beliefs.max(axis=1)
        return self


def make_classifier(X: Any, random_state: int | np.random.RandomState | None) -> VotingClassifier:
    """Return the classifier, not fitted: the mean of a random forest and of a logistic regression.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The points. Features of sparse data are not scaled: rare words would be the loudest.
    random_state : int, RandomState or None
        For the random forest.
    """
    linear: Any = LogisticRegression(max_iter=500)
    if not sp.issparse(X):
        linear = make_pipeline(StandardScaler(), linear)
    forest = RandomForestClassifier(100, random_state=random_state)
    return VotingClassifier([("forest", forest), ("linear", linear)], voting="soft")


def weigh(edges: sp.csr_array, sources: FloatArray, targets: FloatArray) -> sp.csr_array:
    """Return edges times the chance that both ends are of one class, Σ_c p_ic p_jc.

    Parameters
    ----------
    edges : csr_array of shape (m, n)
        Weights.
    sources, targets : arrays of shape (m, n_classes) and (n, n_classes)
        The chances of the classes at both ends.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from sidecut.selection.learned import weigh
    >>> weigh(sp.csr_array([[4.0]]), np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])).toarray().round(3)
    array([[2.]])
    """
    rows = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    agreement = np.einsum("ec,ec->e", sources[rows], targets[edges.indices])
    return sp.csr_array((edges.data * (agreement + LEAST), edges.indices, edges.indptr), shape=edges.shape)


def can_learn(constraints: Constraints, n_clusters: int) -> bool:
    """Return whether there are labels enough to learn from, and of every cluster.

    A classifier cannot find a class that nobody labelled, and no fold would show that.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    n_clusters : int
        The number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.selection.learned import can_learn
    >>> known = Constraints.from_labels(np.repeat([0, 1, -1], 10))
    >>> can_learn(known, 2), can_learn(known, 3)
    (True, False)
    """
    if constraints.labels is None:
        return False
    labels = np.asarray(constraints.labels)
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
    return bool(len(sizes) == n_clusters >= 2 and sizes.min() >= N_FOLDS and sizes.mean() >= PER_CLASS)


class Learning:
    """Graphs that learn, one for each part of what is known, all made from the same graph.

    Parameters
    ----------
    affinity : GraphRecipe
        How data become the graph whose edges are weighed.
    random_state : int
        For the classifiers.
    """

    def __init__(self, affinity: GraphRecipe, random_state: int) -> None:
        self.affinity = affinity
        self.random_state = random_state
        self._recipes: list[tuple[Constraints, Shared]] = []

    def told(self, constraints: Constraints | None) -> Shared:
        """Return the recipe that learns from these constraints, the same object for the same constraints."""
        assert constraints is not None
        for told, recipe in self._recipes:
            if told is constraints:
                return recipe
        recipe = Shared(Learned(self.affinity, np.asarray(constraints.labels), self.random_state))
        self._recipes.append((constraints, recipe))
        return recipe


def unshared(affinity: Any) -> Any:
    """Return an affinity that can be fitted again, without the graphs that were built for this fit."""
    if isinstance(affinity, Shared):
        affinity = affinity.recipe
    if isinstance(affinity, Learned):
        return Learned(unshared(affinity.recipe), affinity.labels, affinity.random_state)
    return affinity
