import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.exceptions import GraphWarning
from sidecut.graphs import as_graph, warn_about_graph


def cliques(*sizes):
    return as_graph(
        sp.block_diag([sp.coo_array(np.ones((size, size)) - np.eye(size)) for size in sizes], format="csr")
    )


def test_a_healthy_graph_passes_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_about_graph(cliques(3, 4), n_clusters=2)


def test_isolated_points_are_counted_and_named():
    with pytest.warns(GraphWarning, match=r"2 of 7 points have no neighbours \(3, 6\)"):
        warn_about_graph(cliques(3, 1, 2, 1), n_clusters=2)


def test_only_the_first_few_isolated_points_are_listed():
    with pytest.warns(GraphWarning, match=r"\(3, 4, 5, 6, 7, \.\.\.\)"):
        warn_about_graph(cliques(3, 1, 1, 1, 1, 1, 1), n_clusters=2)


def test_more_components_than_clusters_are_named_with_their_sizes():
    with pytest.warns(GraphWarning, match=r"3 connected components \(of 5, 3, 2 points\).*n_clusters=2"):
        warn_about_graph(cliques(3, 2, 5), n_clusters=2)


def test_isolated_points_are_no_components():
    with pytest.warns(GraphWarning) as caught:
        warn_about_graph(cliques(3, 1, 2, 1), n_clusters=2)
    assert len(caught) == 1


def test_a_graph_without_edges_cannot_be_cut():
    with pytest.raises(ValueError, match="None of the 4 points has a neighbour"):
        warn_about_graph(as_graph(np.zeros((4, 4))), n_clusters=2)
