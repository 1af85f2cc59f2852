"""Graphs in blocks of rows on a disk: the same products, components and weights as in memory."""

import json
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import (
    BlockGraph,
    Graph,
    LandmarkGraph,
    Landmarks,
    Neighbors,
    SparseGraph,
    as_graph,
    block_files,
)


@pytest.fixture
def graph():
    """Two components, an isolated node and self-loops, with weights that single precision holds."""
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(300, 3)), rng.normal(50, 1, size=(200, 3))])
    weights = sp.lil_array(sp.block_diag([Neighbors(6).build(points).matrix.astype(np.float32), [[0.0]]]))
    weights[3, 3], weights[401, 401] = 0.5, 2.0
    return SparseGraph(weights)


@pytest.fixture
def blocks(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(block_files, "BLOCK_ENTRIES", 700)
    graph.save(tmp_path / "graph")
    return Graph.open(tmp_path / "graph")


def test_products_are_those_in_memory(graph, blocks):
    rng = np.random.default_rng(1)
    assert len(blocks.blocks) > 4
    for block in (rng.normal(size=501), rng.normal(size=(501, 7))):
        np.testing.assert_allclose(blocks.apply(block), graph.apply(block), rtol=1e-13, atol=1e-13)
        single = blocks.apply(block.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, graph.apply(block), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(blocks.degrees, blocks.apply(np.ones(501)))
    np.testing.assert_allclose(blocks.apply_squares(block), graph.apply_squares(block), atol=1e-6)


def test_structure_is_that_in_memory(graph, blocks):
    np.testing.assert_array_equal(blocks.components, graph.components)
    assert blocks.n_components >= 2
    assert blocks.isolated.tolist() == [500]
    np.testing.assert_array_equal(blocks.diagonal, graph.diagonal)
    assert (abs(blocks.tosparse() - graph.matrix)).max() == 0
    edges = graph.matrix.tocoo()
    rows, columns = np.append(edges.row[::9], [0, 7]), np.append(edges.col[::9], [499, 7])
    np.testing.assert_array_equal(blocks.weights_at(rows, columns), graph.weights_at(rows, columns))


def test_blocks_need_few_rows_of_others(blocks):
    """Points near each other are in one block, though they were given in any order."""
    assert sum(len(block.ghosts) for block in blocks.blocks) < 2 * blocks.n_nodes


def test_other_weights_on_the_same_edges(graph, blocks):
    def change(rows, columns, weights):
        assert (rows <= columns).all()
        return weights * ((rows * 3 + columns) % 5)

    changed, expected = blocks.reweighted(change), graph.reweighted(change)
    block = np.random.default_rng(2).normal(size=(501, 2))
    np.testing.assert_allclose(changed.apply(block), expected.apply(block), rtol=1e-6, atol=1e-6)
    # Some weights are zero now, and connect nothing.
    np.testing.assert_array_equal(changed.components, expected.components)
    assert (abs(changed.tosparse() - changed.tosparse().T)).max() == 0
    with pytest.raises(TypeError, match="temporary folder"):
        pickle.dumps(changed)


def test_a_temporary_folder_goes_with_its_graph(blocks):
    changed = blocks.reweighted(lambda rows, columns, weights: weights)
    folder = changed.weights_path(0).parent
    assert folder.is_dir()
    del changed
    assert not folder.exists()


def test_few_blocks_stay_mapped_and_many_are_mapped_anew(blocks, monkeypatch):
    kept = Graph.open(blocks.folder).blocks
    assert kept[1] is kept[1]
    # Maps do not travel: a pickle has the names of the files.
    assert len(pickle.dumps(kept)) < 400 * len(kept)
    assert pickle.loads(pickle.dumps(kept))[1] is not kept[1]
    monkeypatch.setattr("sidecut.graphs.blocks.MAX_KEPT_ENTRIES", 0)
    anew = Graph.open(blocks.folder).blocks
    assert anew[1] is not anew[1]
    np.testing.assert_array_equal(anew[1].weights, kept[1].weights)


def test_a_graph_can_be_saved_again_and_pickled(blocks, tmp_path):
    blocks.save(tmp_path / "copy")
    copied = pickle.loads(pickle.dumps(Graph.open(tmp_path / "copy")))
    assert isinstance(copied, BlockGraph)
    assert (abs(copied.tosparse() - blocks.tosparse())).max() == 0


def test_a_given_order_decides_which_nodes_share_a_block(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(block_files, "BLOCK_ENTRIES", 2_000)
    order = np.random.default_rng(3).permutation(501)
    graph.save(tmp_path / "graph", order=order)
    opened = Graph.open(tmp_path / "graph")
    assert np.concatenate([block.own for block in opened.blocks]).tolist() == order.tolist()
    np.testing.assert_allclose(opened.degrees, graph.degrees, rtol=1e-13)
    with pytest.raises(ValueError, match="each of the 501 nodes once"):
        graph.save(tmp_path / "other", order=order[:-1])
    assert not (tmp_path / "other").exists()


def test_a_path_is_a_graph(blocks):
    assert isinstance(as_graph(str(blocks.folder)), BlockGraph)
    assert isinstance(as_graph(blocks.folder), BlockGraph)


@pytest.mark.parametrize("name", ["nodes", "indptr", "indices", "weights"])
def test_a_file_that_is_cut_short_is_named(blocks, name):
    path = blocks.folder / "block-00001" / name
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match=f"block-00001/{name}' has .* bytes"):
        Graph.open(blocks.folder, check=False)


def test_a_file_that_has_changed_is_named(blocks):
    path = blocks.folder / "block-00002" / "indices"
    content = bytearray(path.read_bytes())
    content[-1] ^= 64
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"block-00002/indices.*has changed"):
        Graph.open(blocks.folder)


def test_foreign_folders_are_refused(blocks, tmp_path):
    with pytest.raises(FileNotFoundError, match="not a graph"):
        Graph.open(tmp_path)
    meta = blocks.folder / "meta.json"
    described = json.loads(meta.read_text())
    meta.write_text(json.dumps({**described, "version": 99}))
    with pytest.raises(ValueError, match="version 99"):
        Graph.open(blocks.folder)
    meta.write_text("[1, 2]")
    with pytest.raises(ValueError, match="does not describe a graph"):
        Graph.open(blocks.folder)
    meta.write_text(json.dumps(described))
    (blocks.folder / "block-00000" / "weights").unlink()
    with pytest.raises(ValueError, match=r"weights' cannot be read"):
        Graph.open(blocks.folder)


def test_a_graph_is_written_whole_or_not_at_all(graph, blocks, tmp_path, monkeypatch):
    with pytest.raises(FileExistsError, match="is there already"):
        graph.save(blocks.folder)
    real = block_files.checksum

    def full(values):
        if (tmp_path / f".other.{os.getpid()}.partial" / "block-00002").exists():
            raise OSError("no space left on device")
        return real(values)

    monkeypatch.setattr(block_files, "checksum", full)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match="no space"):
        graph.save(tmp_path / "other")
    assert sorted(tmp_path.iterdir()) == before


def test_a_graph_that_stores_no_weights_cannot_be_saved(tmp_path):
    graph = Landmarks(20, random_state=0).build(np.random.default_rng(0).normal(size=(100, 2)))
    assert isinstance(graph, LandmarkGraph)
    with pytest.raises(TypeError, match="stores no weights"):
        graph.save(tmp_path / "graph")
    assert list(tmp_path.iterdir()) == []


def test_some_nodes_of_a_graph(graph, blocks):
    """The graph of some components: products, self-loops and changed weights."""
    nodes = np.flatnonzero(graph.components == 1)
    assert 100 < nodes.size < 500
    inside, expected = blocks.restricted_to(nodes), graph.restricted_to(nodes)
    block = np.random.default_rng(4).normal(size=(nodes.size, 3))
    np.testing.assert_allclose(inside.apply(block), expected.apply(block), atol=1e-12)
    np.testing.assert_allclose(inside.apply_squares(block), expected.apply_squares(block), atol=1e-6)
    np.testing.assert_array_equal(inside.diagonal, expected.diagonal)

    class Change:
        def __call__(self, rows, columns, weights):
            assert (rows <= columns).all()
            assert columns.max(initial=0) < nodes.size
            return weights * ((rows * 3 + columns) % 5)

    changed, other = inside.reweighted(Change()), expected.reweighted(Change())
    np.testing.assert_allclose(changed.apply(block), other.apply(block), atol=1e-5)
