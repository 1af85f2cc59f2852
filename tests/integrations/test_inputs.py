"""Frames, tables and graphs of other libraries give what the same numbers in NumPy give."""

import igraph
import networkx as nx
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris

from sidecut import CSP, SCACS, AutoCut, Constraints, COPKMeans, PoissonLearning
from sidecut.graphs import Neighbors, as_graph
from sidecut.labelling import kmeans_labels
from sidecut.plots import project_for_picture

X, Y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
COLUMNS = {name: X[:, column] for column, name in enumerate(NAMES)}
KINDS = {"setosa": 0, "versicolor": 60, "virginica": 120}


def labels_of(n=150):
    labels = [None] * n
    for kind, row in KINDS.items():
        labels[row] = kind
    return labels


KNOWN = Constraints.from_labels(labels_of())
FRAMES = {
    "polars": pl.DataFrame(COLUMNS),
    "lazy polars": pl.LazyFrame(COLUMNS),
    "Arrow table": pa.table(COLUMNS),
    "Arrow batch": pa.record_batch(COLUMNS),
}
METHODS = [
    CSP(3, random_state=0),
    SCACS(3, random_state=0),
    COPKMeans(3, random_state=0),
    PoissonLearning(3, random_state=0),
]


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_points_in_frames(method, frame):
    expected = method.fit(X, constraints=KNOWN)
    labels, predicted = expected.labels_, expected.predict(X)
    model = method.fit(frame, constraints=KNOWN)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.predict(frame), predicted)


@pytest.mark.parametrize("frame", [FRAMES["polars"], FRAMES["Arrow table"]], ids=["polars", "Arrow"])
def test_names_of_columns_are_kept_and_checked(frame):
    model = CSP(3, random_state=0).fit(frame, constraints=KNOWN)
    assert model.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pl.DataFrame({name[::-1]: column for name, column in COLUMNS.items()}))


def test_autocut_takes_frames():
    expected = AutoCut(3, random_state=0).fit(X, constraints=KNOWN).labels_
    labels = AutoCut(3, random_state=0).fit(FRAMES["lazy polars"], constraints=KNOWN).labels_
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(labels_of()),
        pl.Series(labels_of(), dtype=pl.Categorical),
        pa.array(labels_of()),
        pa.array(labels_of()).dictionary_encode(),
        pa.chunked_array([labels_of()[:75], labels_of()[75:]]),
    ],
    ids=["polars", "polars categorical", "Arrow", "Arrow dictionary", "Arrow chunks"],
)
def test_labels_in_columns(column):
    known = Constraints.from_labels(column)
    assert known == KNOWN
    assert known.name_clusters(Y) == {0: "setosa", 1: "versicolor", 2: "virginica"}


@pytest.mark.parametrize("numbers", [pl.Series([0, None, 1, 0]), pa.array([0, None, 1, 0])], ids=["pl", "pa"])
def test_numbers_with_nulls_are_partial_labels(numbers):
    assert Constraints.from_labels(numbers) == Constraints.from_labels([0, -1, 1, 0])


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pa.table], ids=["polars", "lazy", "Arrow"])
def test_pairs_and_weights_in_tables(make):
    weights = pl.Series([0.5, 2.0])
    known = Constraints.from_pairs(5, make({"left": [0, 3], "right": [1, 2]}), must_weight=weights)
    assert known.pairs.tolist() == [[0, 1], [2, 3]]
    assert known.strengths.tolist() == [0.5, 2.0]


# Graphs


def weighted_graph():
    """Parallel edges, a self-loop, a node without edges, and edges written from high to low."""
    edges = [(0, 1, 1.0), (3, 1, 2.0), (2, 0, 0.5), (2, 0, 0.25), (3, 3, 4.0), (4, 3, 1.5)]
    multi = nx.MultiGraph()
    multi.add_nodes_from(range(6))
    multi.add_weighted_edges_from(edges)
    other = igraph.Graph(n=6, edges=[edge[:2] for edge in edges])
    other.es["weight"] = [edge[2] for edge in edges]
    return multi, other


def test_an_igraph_graph_is_its_networkx_twin():
    ours, theirs = (as_graph(graph).apply(np.eye(6)) for graph in weighted_graph())
    np.testing.assert_array_equal(theirs, ours)
    assert theirs[0, 2] == theirs[2, 0] == 0.75
    assert theirs[3, 3] == 4.0


def test_igraph_edges_without_weights_count_one():
    np.testing.assert_array_equal(as_graph(igraph.Graph.Ring(4)).degrees, as_graph(nx.cycle_graph(4)).degrees)


def test_an_igraph_graph_is_cut_and_known():
    graph = nx.karate_club_graph()
    other = igraph.Graph.from_networkx(graph)
    model = CSP(2, affinity="precomputed", random_state=0)
    known = Constraints.from_labels([0, *[None] * 32, 1])
    expected = model.fit(graph, constraints=known).labels_
    np.testing.assert_array_equal(model.fit(other, constraints=known).labels_, expected)
    assert Constraints.from_graph(other) == Constraints.from_graph(graph)


def test_a_directed_igraph_graph_is_refused():
    with pytest.raises(ValueError, match=r"as_undirected\(\)"):
        as_graph(igraph.Graph.Ring(4, directed=True))


@pytest.mark.parametrize("graph", weighted_graph(), ids=["networkx", "igraph"])
@pytest.mark.parametrize(
    "method", [CSP(2), AutoCut(2), SCACS(2), COPKMeans(2)], ids=lambda m: type(m).__name__
)
def test_a_graph_is_not_taken_for_points(method, graph):
    with pytest.raises(ValueError, match=r'X is a (networkx|igraph) graph.*affinity="precomputed"'):
        method.fit(graph)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_graphs_pictures_and_labels_of_frames(frame):
    expected = Neighbors(5).build(X).degrees
    np.testing.assert_array_equal(Neighbors(5).build(frame).degrees, expected)
    np.testing.assert_allclose(project_for_picture(frame), project_for_picture(X), atol=1e-9)
    np.testing.assert_array_equal(
        kmeans_labels(frame, 3, random_state=0), kmeans_labels(X, 3, random_state=0)
    )
