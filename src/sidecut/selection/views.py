"""The graphs a choice is made among: forms of the features, comparable columns, and what learns on top."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import svd
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, GraphRecipe, Neighbors, SparseGraph
from sidecut.graphs.graph import Extension, Grown
from sidecut.labelling import rename_by_first_appearance
from sidecut.methods.base import GraphClusterer
from sidecut.methods.task import Answer, Task

#: How many neighbours a point has: the library's default.
NEIGHBORS = 20
#: How a form of the features is called in the name of a graph.
FORMS = {
    "raw": "",
    "scaled": " and scaled features",
    "columns": " and scaled columns, each category as one",
    "numeric": " and scaled columns without categories",
    "words": "",
    "angles": " and angles",
    "given": "",
}
#: How graphs are called whose metric is learned, and whose edges are weighed, after the name of the graph.
METRIC, LEARNED = " in a learned metric", ", weighed by a classifier"
#: Share of the rows above which columns encode a category: pixels at the border of pictures are mostly 0.
MIN_FILLED = 0.5


@dataclass(frozen=True)
class View:
    """A graph to choose: its name, the recipe that makes it, the form of the features, and what it learns."""

    # Must-links may give it a metric; a classifier that learns from labels may weigh its edges.

    name: str
    recipe: Any
    form: str = "given"
    transformer: Any = None
    uses_metric: bool = False
    uses_classifier: bool = False

    @property
    def learns(self) -> bool:
        """Whether the graph depends on the constraints."""
        return self.uses_metric or self.uses_classifier

    def with_metric(self) -> View:
        """Return the same graph in a metric learned from must-links."""
        return replace(self, name=self.name + METRIC, uses_metric=True)

    def with_classifier(self) -> View:
        """Return the same graph, its edges weighed by a classifier."""
        return replace(self, name=self.name + LEARNED, uses_classifier=True)

    def recipe_for(self, task: Task) -> Any:
        """Return the recipe that makes the graph, given the constraints of a task."""
        steps = [] if self.transformer is None else [self.transformer]
        steps += [MustLinkMetric(task.constraints)] if self.uses_metric else []
        recipe = Transformed(self.recipe, make_pipeline(*steps)) if steps else self.recipe
        if self.uses_classifier:
            return ClassifierWeighted(recipe, np.asarray(task.constraints.labels), task.seed)
        return recipe

    def build(self, task: Task) -> Graph:
        """Return the graph of the data of a task."""
        return task.data if isinstance(task.data, Graph) else self.recipe_for(task).build(task.data)


def list_views(X: Any) -> list[View]:
    """Return the graphs of all forms of the features, that of the features as given first."""
    count = min(NEIGHBORS, X.shape[0] - 1)
    recipe = Neighbors(count)
    transformers: dict[str, Any] = {"raw": None}
    if sp.issparse(X):
        angles = View(f"{count} neighbours{FORMS['angles']}", Neighbors(count, weights="cosine"), "angles")
        return [View(f"{count} neighbours", recipe, "words"), angles]
    encoded = find_categories(X)
    if encoded:
        transformers["columns"] = ScaledColumns()
        if sum(map(len, encoded)) < X.shape[1]:
            transformers["numeric"] = NumericColumns()
    spreads = np.std(X, axis=0, dtype=np.float64)
    if spreads.max() > 1.01 * spreads[spreads > 0].min(initial=spreads.max()):
        transformers["scaled"] = StandardScaler()
    return [
        View(f"{count} neighbours{FORMS[form]}", recipe, form, transformer)
        for form, transformer in transformers.items()
    ]


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
class TransformedRows:
    """Rows that are transformed when they are looked at: a search in cells looks at few."""

    rows: Any
    transformer: Any

    def __getitem__(self, which: Any) -> Any:
        return self.transformer.transform(self.rows[which])


@dataclass(frozen=True)
class TransformedExtension:
    """What links new points to a graph of transformed ones."""

    extension: Extension
    transformer: Any

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals."""
        return self.extension.edges(*self._transformed(X, X_new))

    def grow(self, graph: SparseGraph, X: Any, X_new: Any) -> Grown:
        """Return the graph of old and new points."""
        grown = self.extension.grow(graph, *self._transformed(X, X_new))
        if grown.graph.extension is not None:
            grown.graph.extension = replace(self, extension=grown.graph.extension)
        return grown

    def _transformed(self, X: Any, X_new: Any) -> tuple[Any, Any]:
        return TransformedRows(X, self.transformer), self.transformer.transform(X_new)


#: No edge is lost altogether: a graph in pieces would say nothing about most of them.
MIN_EDGE_FACTOR = 1e-6


class ClassifierWeighted(GraphRecipe):
    """A recipe whose edges count as far as a classifier believes that both ends are of one class."""

    # The classifier learns from the labelled points alone: the mean of a random forest, and of a logistic
    # regression on scaled features. With p_i the chances of the classes of point i, an edge weighs w_ij Σ_c
    # p_ic p_jc. The chances of a labelled point are those of its label: one, and zeros.

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

    def grow(self, graph: SparseGraph, X: Any, X_new: Any) -> Grown:
        """Return the graph of old and new points."""
        grown = self.extension.grow(graph, X, X_new)
        chances = np.vstack([self.chances, self.classifier.predict_proba(X_new)])
        if grown.graph.extension is not None:
            grown.graph.extension = replace(self, extension=grown.graph.extension, chances=chances)
        return grown


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


def can_train(constraints: Constraints, n_clusters: int) -> bool:
    """Return whether a classifier can learn all clusters: it never finds a class without labels."""
    if constraints.labels is None:
        return False
    labels = np.asarray(constraints.labels)
    return len(np.unique(labels[labels >= 0])) == n_clusters >= 2


def has_must_links(constraints: Constraints) -> bool:
    """Return whether some points are known to be in one cluster, so that a metric can be learned."""
    return constraints.n_must_link > 0


def find_categories(X: npt.NDArray) -> list[IntArray]:
    """Return the columns that encode one category each, an array of columns per category."""
    # They stand side by side, hold 0 and one other value, and never more than one of them is not 0. In most
    # rows one is. A single column of two values is no such encoding: it is a feature like others.
    is_binary = np.array([len(np.unique(column[:200])) <= 2 for column in X.T], dtype=bool)
    is_binary[is_binary] = [_is_indicator(column) for column in X.T[is_binary]]
    found: list[list[int]] = []
    taken = np.ones(len(X), dtype=bool)
    for column in np.flatnonzero(is_binary).tolist():
        here = X[:, column] != 0
        if found and found[-1][-1] == column - 1 and not (taken & here).any():
            found[-1].append(column)
            taken |= here
        else:
            found.append([column])
            taken = here.copy()
    several = [np.array(columns) for columns in found if len(columns) > 1]
    return [columns for columns in several if np.count_nonzero(X[:, columns]) > MIN_FILLED * len(X)]


def _is_indicator(column: npt.NDArray) -> bool:
    values = np.unique(column)
    return len(values) == 2 and bool(values[0] == 0)


class ScaledColumns(TransformerMixin, BaseEstimator):
    """Features scaled to variance one, where all columns that encode one category share a variance of one.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.selection.views import ScaledColumns
    >>> X = np.array([[20.0, 1, 0, 0], [40.0, 0, 1, 0], [20.0, 0, 0, 1], [40.0, 1, 0, 0]])
    >>> ScaledColumns().fit_transform(X).var(axis=0).round(2)
    array([1. , 0.4, 0.3, 0.3])
    """

    def fit(self, X: npt.NDArray, y: Any = None) -> Self:
        """Measure the columns."""
        variances = StandardScaler().fit(X).var_
        for columns in find_categories(X):
            variances[columns] = variances[columns].sum()
        self.scale_ = 1.0 / np.sqrt(np.where(variances > 0, variances, 1.0))
        return self

    def transform(self, X: npt.NDArray) -> npt.NDArray:
        """Scale the columns."""
        return X * self.scale_


class NumericColumns(ScaledColumns):
    """The scaled features that do not encode a category."""

    def fit(self, X: npt.NDArray, y: Any = None) -> Self:
        """Find the columns that encode categories."""
        super().fit(X)
        encoded = find_categories(X)
        self.kept_ = np.setdiff1d(np.arange(X.shape[1]), np.concatenate([*encoded, []]))
        return self

    def transform(self, X: npt.NDArray) -> npt.NDArray:
        """Scale the columns that are kept."""
        return super().transform(X)[:, self.kept_]


class MustLinkMetric(TransformerMixin, BaseEstimator):
    """Relevant component analysis (Bar-Hillel, Hertz, Shental & Weinshall, 2005), drawn towards no change."""

    # Directions in which must-linked points differ count less: with S = Σ (x - m)(x - m)ᵀ over sets of linked
    # points with means m, points become (S + d v I)^{-1/2} x, up to scale, for d features of mean variance v.

    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints

    def fit(self, X: npt.NDArray, y: Any = None) -> Self:
        """Measure how far linked points differ."""
        components = self.constraints.must_link_components()
        sizes = np.bincount(components)
        linked = np.flatnonzero(sizes[components] > 1)
        names = np.unique(components[linked], return_inverse=True)[1]
        rows = X[linked].astype(np.float64)
        sums = np.zeros((names.max(initial=-1) + 1, X.shape[1]))
        np.add.at(sums, names, rows)
        rows -= (sums / np.bincount(names)[:, None])[names] if len(names) else 0.0
        shrunk = X.shape[1] * float(np.var(X, axis=0, dtype=np.float64).mean())
        _, lengths, directions = (
            svd(rows, full_matrices=False) if len(rows) else (0, np.empty(0), np.empty((0, X.shape[1])))
        )
        self.directions_ = directions
        self.loss_ = 1.0 - np.sqrt(shrunk / (lengths**2 + shrunk)) if shrunk > 0 else 0.0 * lengths
        return self

    def transform(self, X: npt.NDArray) -> FloatArray:
        """Shorten the directions in which linked points differ."""
        return X - ((X @ self.directions_.T) * self.loss_) @ self.directions_
