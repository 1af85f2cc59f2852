"""The graphs a choice is made among: forms of the features, and what learns from constraints on top."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from sidecut.graphs.graph import Extension, Grown
from sidecut.labelling import rename_by_first_appearance
from sidecut.methods.base import GraphClusterer
from sidecut.methods.task import Answer, Task
from sidecut.selection.features import MustLinkMetric, NumericColumns, ScaledColumns, find_categories

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


@dataclass(frozen=True)
class View:
    """A graph to choose: its name, the recipe that makes it, the form of the features, and what it learns.

    Must-links may give it a metric; a classifier that learns from labels may weigh its edges.
    """

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
