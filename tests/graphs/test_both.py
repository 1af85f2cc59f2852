"""Points and a graph of the same things."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from sidecut import E2CP, LSC, AutoCut, Constraints, COPKMeans, NormalizedCut
from sidecut.graphs import Gaussian, Graph, Neighbors, as_graph, average_along, node_features, sum_graphs


@pytest.fixture(scope="module")
def papers():
    """Two groups that neither words nor links show alone: half of each is clear in one of them."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 80)
    X = rng.standard_normal((160, 6)) + 1.1 * y[:, None]
    chance = np.where(y[:, None] == y, 0.09, 0.03)
    upper = np.triu(rng.rand(160, 160) < chance, 1).astype(float)
    return X, sp.csr_array(upper + upper.T), y


class OnlyApplied(Graph):
    """A graph of which nothing is known but what it does to vectors."""

    def __init__(self, weights):
        self._hidden = weights
        self.n_nodes = weights.shape[0]

    def apply(self, block):
        return self._hidden @ block


def test_averages_are_those_of_the_textbook(papers):
    X, W, _ = papers
    step = np.diag(1.0 / (W.toarray().sum(axis=1) + 1.0)) @ (W.toarray() + np.eye(160))
    np.testing.assert_allclose(average_along(as_graph(W), X), step @ step @ X, atol=1e-12)
    np.testing.assert_allclose(average_along(as_graph(W.toarray()), X), step @ step @ X, atol=1e-12)
    sparse = average_along(as_graph(W), sp.csr_array(X))
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), step @ step @ X, atol=1e-12)


def test_the_unit_of_the_weights_does_not_matter(papers):
    X, W, _ = papers
    np.testing.assert_allclose(average_along(as_graph(1e3 * W), X), average_along(as_graph(W), X))


def test_a_node_without_neighbours_keeps_its_features():
    weights = np.zeros((3, 3))
    weights[0, 1] = weights[1, 0] = 2.0
    np.testing.assert_array_equal(
        average_along(as_graph(weights), np.array([[0.0], [4.0], [9.0]]), n_steps=1), [[2.0], [2.0], [9.0]]
    )


def test_graphs_count_alike_in_their_sum(papers):
    X, W, _ = papers
    near = Neighbors(10).build(X)
    total = sum_graphs(near, as_graph(7.0 * W))
    expected = near.toarray() / near.degrees.mean() + W.toarray() / W.toarray().sum(axis=1).mean()
    np.testing.assert_allclose(total.toarray(), expected)
    assert total.extension is near.extension
    lazy = sum_graphs(near, OnlyApplied(7.0 * W.toarray()))
    np.testing.assert_allclose(lazy.toarray(), expected)


@pytest.mark.parametrize("form", [lambda w: w, lambda w: w.toarray(), nx.from_scipy_sparse_array, as_graph])
def test_both_together_show_more_than_either(papers, form):
    X, W, y = papers

    def score(model, *data, **more):
        return adjusted_rand_score(y, model.fit(*data, **more).labels_)

    both = score(NormalizedCut(2, random_state=0), X, graph=form(W))
    assert both > score(NormalizedCut(2, random_state=0), X) + 0.1
    assert both > score(NormalizedCut(2, random_state=0, affinity="precomputed"), W) + 0.1
    assert (
        NormalizedCut(2, random_state=0).fit_predict(X, graph=W)
        == NormalizedCut(2, random_state=0).fit(average_along(as_graph(W), X)).labels_
    ).all()


def test_new_points_are_compared_with_averages_and_old_ones_keep_their_label(papers):
    X, W, y = papers
    labels = np.where(np.arange(160) % 10 == 0, y, -1)
    model = E2CP(2, random_state=0).fit(X, graph=W, constraints=Constraints.from_labels(labels))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new = np.array([np.zeros(6), np.full(6, 1.1)])
    np.testing.assert_array_equal(model.predict(new), model.labels_[[0, 80]])


def test_any_affinity_works_on_averages(papers):
    X, W, y = papers
    model = NormalizedCut(2, affinity=Gaussian("median"), random_state=0).fit(X, graph=W)
    assert adjusted_rand_score(y, model.labels_) > 0.7


@pytest.mark.parametrize("model", [NormalizedCut(2), AutoCut(2)])
def test_a_graph_that_does_not_fit_is_refused(papers, model):
    X, W, _ = papers
    with pytest.raises(ValueError, match=r"graph has 159 nodes, but X has 160 points: node i .* row i"):
        model.fit(X, graph=W[:-1, :-1])
    with pytest.raises(ValueError, match="graph has no edge between its 160 nodes"):
        model.fit(X, graph=sp.csr_array((160, 160)))
    with pytest.raises(ValueError, match="must be a square matrix"):
        model.fit(X, graph=X)
    with pytest.raises(ValueError, match="X is a graph itself"):
        model.__class__(2, affinity="precomputed").fit(W, graph=W)


@pytest.mark.parametrize("model", [COPKMeans(2), LSC(2)])
def test_methods_without_a_graph_say_so(papers, model):
    X, W, _ = papers
    with pytest.raises(ValueError, match=f"cut a graph, and {type(model).__name__} does not"):
        model.fit(X, graph=W)


def test_attributes_of_nodes_are_points(papers):
    X, W, _ = papers
    graph = nx.from_scipy_sparse_array(W)
    nx.set_node_attributes(
        graph, {i: {"words": row[:5], "age": row[5], "name": f"p{i}"} for i, row in enumerate(X)}
    )
    np.testing.assert_array_equal(node_features(graph, ["words", "age"]), X)
    found = NormalizedCut(2, random_state=0).fit(node_features(graph, ["words", "age"]), graph=graph)
    np.testing.assert_array_equal(found.labels_, NormalizedCut(2, random_state=0).fit(X, graph=W).labels_)
    with pytest.raises(ValueError, match=r"node 0 has attributes that are not all numbers, .*'name': 'p0'"):
        node_features(graph)
    del graph.nodes[7]["age"]
    with pytest.raises(ValueError, match="node 7 has no attribute 'age'"):
        node_features(graph, ["age"])
    with pytest.raises(ValueError, match="the nodes have no attributes"):
        node_features(nx.path_graph(3))
    graph.nodes[3]["words"] = [1.0]
    with pytest.raises(ValueError, match="longer lists"):
        node_features(graph, ["words"])
