import numpy as np
import pytest
from scipy import sparse

from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph
from sidecut.plots import plot_affinity


class AppliedGraph(Graph):
    """A graph that exists only as a product."""

    def __init__(self, weights):
        self.weights = weights
        self.n_nodes = len(weights)

    def apply(self, block):
        return self.weights @ block


@pytest.fixture
def weights():
    upper = np.triu(np.random.default_rng(0).random((20, 20)), 1)
    return upper + upper.T


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, SparseGraph, DenseGraph, AppliedGraph])
def test_any_graph_gives_the_square_roots_of_its_weights_sorted_by_cluster(weights, wrap):
    labels = np.random.default_rng(1).integers(0, 3, 20)
    order = np.argsort(labels, kind="stable")
    ax = plot_affinity(wrap(weights), labels)
    np.testing.assert_allclose(ax.images[0].get_array(), np.sqrt(weights[np.ix_(order, order)]))


def test_clusters_are_separated_by_lines_at_their_boundaries(weights):
    labels = np.repeat([0, 1, 2], [5, 10, 5])
    ax = plot_affinity(weights, labels)
    heights = sorted(line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1)
    assert heights[:2] == [4.5, 14.5]


def test_large_graphs_are_sampled_and_the_title_says_so():
    ax = plot_affinity(sparse.eye_array(1500, format="csr"))
    assert ax.images[0].get_array().shape == (1000, 1000)
    assert ax.get_title(loc="left") == "1,000 of 1,500 points"


def test_self_loops_do_not_set_the_scale(weights):
    with_loops = weights + np.diag(np.full(20, 1e6))
    assert plot_affinity(with_loops).images[0].get_clim() == plot_affinity(weights).images[0].get_clim()


@pytest.mark.parametrize(
    ("matrix", "labels", "complaint"),
    [(np.zeros((2, 3)), None, "square"), (np.eye(3), [0, 1], "one label for each of 3")],
)
def test_what_is_no_affinity_is_refused(matrix, labels, complaint):
    with pytest.raises(ValueError, match=complaint):
        plot_affinity(matrix, labels)
