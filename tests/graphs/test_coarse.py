"""Small graphs that stand for graphs on a disk: some nodes, which all others have joined."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from sidecut import AutoCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Graph, Neighbors, SparseGraph, block_files
from sidecut.selection import autocut


def stored(weights, folder, monkeypatch, n_entries=4):
    monkeypatch.setattr(block_files, "BLOCK_ENTRIES", n_entries)
    SparseGraph(sp.csr_array(weights)).save(folder / "graph")
    return Graph.open(folder / "graph")


def test_nodes_join_what_their_heaviest_edge_leads_to(tmp_path, monkeypatch):
    """A path 0 - 1 - 2 - 3 - 4 with an edge between 5 and 6, which no path joins to nodes 0 and 4."""
    weights = np.zeros((7, 7))
    for one, other, weight in [(0, 1, 1.0), (1, 2, 2.0), (2, 3, 5.0), (3, 4, 4.0), (5, 6, 9.0)]:
        weights[one, other] = weights[other, one] = weight
    small = stored(weights, tmp_path, monkeypatch).contracted(np.array([4, 0]))
    # 1 joins 0 and 3 joins 4; then 2 joins 3 by the weight 5, not 1 by the weight 2.
    np.testing.assert_array_equal(small.toarray(), [[18.0, 2.0], [2.0, 2.0]])


def test_all_nodes_stand_for_themselves(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    weights = Neighbors(5).build(X).matrix.astype(np.float32)
    graph = stored(weights, tmp_path, monkeypatch, 100)
    np.testing.assert_array_equal(graph.contracted(np.arange(60)).toarray(), graph.toarray())
    some = graph.contracted(np.array([3, 17, 40]))
    assert some.volume == pytest.approx(graph.volume)


def test_autocut_compares_on_a_small_graph_and_fits_on_the_whole(tmp_path, monkeypatch):
    X, y = make_blobs(3_000, n_features=4, centers=4, cluster_std=1.8, random_state=0)
    graph = stored(Neighbors(10).build(X).matrix, tmp_path, monkeypatch, 8_000)
    sizes = []

    class Comparison(autocut.Comparison):
        def __init__(self, task, *others):
            sizes.append(task.data.n_nodes)
            super().__init__(task, *others)

    monkeypatch.setattr(autocut, "Comparison", Comparison)
    model = AutoCut(random_state=0).fit(graph, constraints=sample_labels(y, 24, random_state=0))
    assert sizes == [1_000]
    assert model.n_clusters_ == 4
    assert adjusted_rand_index(y, model.labels_) > 0.95
    # Without constraints the number of clusters is looked for on the small graph, too.
    plain = AutoCut(random_state=0).fit(graph)
    assert plain.n_clusters_ == 4
    assert len(plain.labels_) == 3_000
