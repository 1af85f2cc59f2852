from itertools import pairwise

import numpy as np
import pytest

from sidecut.graphs.cells import Cells, smallest

RNG = np.random.default_rng(0)


def cells_of(X, largest):
    return Cells.of(np.asarray(X, dtype=np.float32), largest, np.random.RandomState(0))


@pytest.mark.parametrize("shape", [(500, 3), (300, 1)])
def test_every_point_lies_in_one_cell_and_no_cell_is_too_large(shape):
    X = RNG.normal(size=shape)
    cells = cells_of(X, 20)
    np.testing.assert_array_equal(np.sort(cells.order), np.arange(len(X)))
    np.testing.assert_array_equal(cells.coordinates, X.astype(np.float32)[cells.order])
    assert cells.sizes.min() >= 1
    assert cells.sizes.max() <= 20
    for cell in range(cells.sizes.size):
        inside = cells.cell_of == cell
        np.testing.assert_allclose(cells.centres[cell], X[inside].mean(axis=0), rtol=1e-4, atol=1e-5)


def test_duplicates_are_divided_too():
    cells = cells_of(np.concatenate([np.zeros((200, 2)), np.ones((150, 2)), RNG.normal(size=(50, 2))]), 16)
    assert cells.sizes.max() <= 16
    np.testing.assert_array_equal(np.sort(cells.order), np.arange(400))


def test_cells_are_regions():
    X = RNG.normal(size=(2000, 2))
    cells = cells_of(X, 50)
    spread = [X[cells.cell_of == cell].std(axis=0).mean() for cell in range(cells.sizes.size)]
    assert np.median(spread) < 0.3 * X.std()


def test_in_all_cells_the_candidates_are_the_nearest_points():
    X = RNG.normal(size=(400, 4))
    cells = cells_of(X, 30)
    n_cells = cells.sizes.size
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    for rows in cells.chunks(n_cells * 30):
        found = cells.candidates(cells.coordinates[rows], n_cells, 6)
        expected = np.argsort(distances[cells.order[rows]], axis=1)[:, :6]
        np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(expected, axis=1))


def test_candidates_come_from_the_nearest_cells_alone():
    X = RNG.normal(size=(400, 4))
    cells = cells_of(X, 30)
    found = cells.candidates(cells.coordinates[:400], 2, 10)
    distances = np.linalg.norm(X[cells.order][:, None] - cells.centres[None], axis=2)
    nearest = np.argsort(distances, axis=1)[:, :2]
    for row, candidates in enumerate(found):
        inside = np.flatnonzero(np.isin(cells.cell_of, nearest[row]))
        apart = np.linalg.norm(X[inside] - X[cells.order[row]], axis=1)
        expected = inside[np.argsort(apart)[:10]]
        assert set(candidates[candidates >= 0]) == set(expected)
        assert np.count_nonzero(candidates < 0) == 10 - expected.size


def test_a_guide_finds_nearly_the_nearest_cells(monkeypatch):
    cells = cells_of(RNG.normal(size=(20_000, 3)), 20)
    queries = RNG.normal(size=(500, 3)).astype(np.float32)
    true = cells.nearest(queries, 10)
    monkeypatch.setattr("sidecut.graphs.cells.GROUPS", cells.sizes.size)
    in_all = cells.guided(np.random.RandomState(0)).nearest(queries, 10)
    np.testing.assert_array_equal(np.sort(in_all, axis=1), np.sort(true, axis=1))
    monkeypatch.setattr("sidecut.graphs.cells.GROUPS", 12)
    guided = cells.guided(np.random.RandomState(0))
    assert guided.guide.sizes.size > 3 * 12
    found = guided.nearest(queries, 10)
    assert np.mean([np.isin(a, b).mean() for a, b in zip(found, true, strict=True)]) > 0.97
    # However few the groups are, they hold as many cells as are asked for.
    assert all(len(set(row)) == 300 and row.min() >= 0 for row in guided.nearest(queries, 300))


def test_the_chunks_are_all_rows_and_no_wider_than_asked(monkeypatch):
    monkeypatch.setattr("sidecut.graphs.cells.DISTANCES_HELD", 1000)
    cells = cells_of(RNG.normal(size=(103, 2)), 10)
    runs = list(cells.chunks(100))
    assert [run.stop - run.start for run in runs] == [10] * 10 + [3]


@pytest.mark.parametrize("width", [5, 40, 163, 3000])
@pytest.mark.parametrize("count", [1, 5])
def test_the_smallest_of_every_row(width, count):
    values = RNG.normal(size=(50, width)).astype(np.float32)
    found = np.take_along_axis(values, smallest(values, count), 1)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(values, axis=1)[:, :count])


def test_the_smallest_among_ties_and_infinities():
    values = RNG.integers(0, 3, size=(60, 500)).astype(np.float32)
    values[:20, 2:] = np.inf
    places = smallest(values, 7)
    found = np.take_along_axis(values, places, 1)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(values, axis=1)[:, :7])
    assert all(len(set(row)) == 7 for row in places)


def test_cells_of_more_points_hold_them_in_regions_no_larger_than_before():
    X, more = RNG.normal(size=(2000, 2)).astype(np.float32), RNG.normal(size=(700, 2)).astype(np.float32)
    cells = cells_of(X, 50).with_rows(more, 50)
    np.testing.assert_array_equal(np.sort(cells.order), np.arange(2700))
    np.testing.assert_array_equal(cells.coordinates, np.concatenate([X, more])[cells.order])
    assert cells.sizes.max() <= 50
    spread = [cells.coordinates[a:b].std(axis=0).mean() for a, b in pairwise(cells.starts)]
    assert np.median(spread) < 0.3 * X.std()
