"""Neighbour graphs of points in files, searched cell by cell."""

import numpy as np
import pandas as pd
import pytest

from sidecut.exceptions import GraphWarning
from sidecut.graphs import Graph, Neighbors, block_files, graph_from_points, point_files


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(point_files, "BLOCK_ENTRIES", 10_000)
    monkeypatch.setattr(point_files, "ROWS_AT_ONCE", 999)
    monkeypatch.setattr(point_files, "CELL_SAMPLE", 1_500)


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4_000, 5)) + 7.0 * rng.integers(0, 3, size=(4_000, 1))


def test_edges_are_those_of_neighbors(points, tmp_path):
    folder = tmp_path / "points"
    folder.mkdir()
    for place, part in enumerate(np.split(points, 4)):
        pd.DataFrame(part, columns=list("abcde")).to_parquet(folder / f"{place}.parquet")
    seen = {}
    graph = graph_from_points(
        folder,
        tmp_path / "graph",
        n_neighbors=8,
        progress=lambda step, n: seen.update({step: seen.get(step, 0) + n}),
    )
    expected = Neighbors(8, search="exact").build(points)
    found, true = graph.tosparse(), expected.matrix
    kept = found.multiply(true > 0)
    # The search may miss some neighbours; the edges that it finds have the weights of Neighbors.
    assert kept.nnz > 0.96 * true.nnz
    assert np.median(abs(kept - true).data) < 1e-6
    assert abs(found - found.T).max() == 0
    assert graph.recall > 0.96
    np.testing.assert_array_equal(graph.n_components, expected.n_components)
    assert set(seen.values()) == {4_000}
    assert [entry.name for entry in graph.folder.iterdir() if not entry.is_dir()] == ["meta.json"]


def test_blocks_are_runs_of_cells(points, tmp_path, monkeypatch):
    graph = graph_from_points(points, tmp_path / "graph", n_neighbors=8)
    assert len(graph.blocks) > 3
    monkeypatch.setattr(block_files, "BLOCK_ENTRIES", 10_000)
    order = np.random.default_rng(0).permutation(4_000)
    Neighbors(8).build(points).save(tmp_path / "shuffled", order=order)
    shuffled = Graph.open(tmp_path / "shuffled")
    n_ghosts = [sum(len(block.ghosts) for block in found.blocks) for found in (graph, shuffled)]
    assert n_ghosts[0] < 0.6 * n_ghosts[1]


def test_duplicates_and_few_points(tmp_path):
    points = np.repeat(np.random.default_rng(0).normal(size=(40, 2)), 30, axis=0)
    graph = graph_from_points(points, tmp_path / "graph", n_neighbors=5)
    # Each point has neighbours at distance zero, with the largest weight.
    assert (graph.degrees >= 2.4).all()
    with pytest.warns(GraphWarning, match="has only 2 others"):
        few = graph_from_points(points[[0, 40, 80]], tmp_path / "few", n_neighbors=5)
    assert few.n_entries == 6


def test_bad_points_are_named(points, tmp_path):
    bad = points.copy()
    bad[1_234, 2] = np.nan
    with pytest.raises(ValueError, match=r"X\[1234, 2\] = nan"):
        graph_from_points(bad, tmp_path / "graph")
    with pytest.raises(ValueError, match="n_neighbors=0"):
        graph_from_points(points, tmp_path / "graph", n_neighbors=0)
    assert list(tmp_path.iterdir()) == []
