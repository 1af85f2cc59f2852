"""Graphs from lists of edges in files, sorted outside memory."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sidecut.graphs import Graph, block_files, edge_files, graph_from_edges


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(edge_files, "BLOCK_ENTRIES", 300)
    monkeypatch.setattr(edge_files, "EDGES_READ", 170)


@pytest.fixture
def weights():
    """A random graph with a self-loop and an isolated last node."""
    rng = np.random.default_rng(0)
    upper = sp.triu(sp.random_array((90, 90), density=0.2, rng=rng, dtype=np.float32)).tolil()
    upper[5, 5] = 0.25
    upper[89], upper[:, 89] = 0, 0
    return sp.csr_array(upper + sp.triu(upper, k=1).T)


def listed(weights):
    edges = sp.triu(weights).tocoo()
    frame = pd.DataFrame({"from": edges.row, "to": edges.col, "weight": edges.data})
    return frame.sample(frac=1, random_state=0)


@pytest.mark.parametrize("form", ["csv", "parquet", "folder", "without names"])
def test_a_graph_from_files(weights, tmp_path, form):
    frame, path = listed(weights), tmp_path / "edges.csv"
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "without names":
        frame.to_csv(path, index=False, header=False)
    elif form == "parquet":
        path = tmp_path / "edges.parquet"
        frame.to_parquet(path)
    else:
        path = tmp_path / "edges"
        path.mkdir()
        frame[:100].to_parquet(path / "a.parquet")
        frame[100:].to_parquet(path / "b.parquet")
    graph = graph_from_edges(path, tmp_path / "graph", n_nodes=90)
    assert len(graph.blocks) > 3
    assert abs(graph.tosparse() - weights).max() == 0
    assert graph.isolated.tolist() == [89]
    assert sorted(entry.name for entry in graph.folder.iterdir()) == [
        *(f"block-{i:05d}" for i in range(len(graph.blocks))),
        "meta.json",
    ]
    # Checksums are those of what is on the disk.
    Graph.open(graph.folder)


def test_edges_in_both_directions_and_without_weights(weights, tmp_path):
    edges = (weights > 0).tocoo()
    chunk = np.column_stack([edges.row, edges.col])
    graph = graph_from_edges(lambda: iter([chunk[:50], chunk[50:]]), tmp_path / "graph")
    assert graph.n_nodes == 89
    assert abs(graph.tosparse() - (weights > 0)[:89, :89].astype(float)).max() == 0


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([[0, 1, 1.0], [1, 0, 2.0]], "listed with the weights 1 and 2"),
        ([[0, 1, 1.0], [0, 1.5, 1.0]], r"edge 1 is \[0.0, 1.5, 1.0\]"),
        ([[0, 1, -1.0]], "weights are not negative"),
        ([[0, -1, 1.0]], "nodes are whole numbers from 0 on"),
        ([[0, 1, np.nan]], r"edges\[0, 2\] = nan"),
        ([[0, 1, 1.0, 1.0]], r"shape \(1, 4\)"),
        ([[0, 7, 1.0]], "names node 7, but n_nodes=5"),
        (np.empty((0, 3)), "the list of edges is empty"),
    ],
)
def test_what_is_no_edge_is_named(edges, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        graph_from_edges(lambda: iter([np.array(edges)]), tmp_path / "graph", n_nodes=5)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.parquet"):
        graph_from_edges(tmp_path / "nothing.parquet", tmp_path / "graph")


def test_the_graph_of_a_matrix_has_the_same_blocks_of_rows(weights, tmp_path, monkeypatch):
    monkeypatch.setattr(block_files, "BLOCK_ENTRIES", 300)
    from sidecut.graphs import SparseGraph

    SparseGraph(weights).save(tmp_path / "saved", order=np.arange(90))
    saved = Graph.open(tmp_path / "saved")
    sorted_ = graph_from_edges(lambda: iter([listed(weights).to_numpy()]), tmp_path / "sorted", n_nodes=90)
    vector = np.random.default_rng(1).normal(size=90)
    np.testing.assert_array_equal(saved.apply(vector), sorted_.apply(vector))
