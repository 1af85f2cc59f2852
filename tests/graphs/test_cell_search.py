from dataclasses import replace

import numpy as np
import pytest

from sidecut.graphs import nearest_neighbors
from sidecut.graphs.cells import calibrate

RNG = np.random.default_rng(0)


def fitted(X, k=5, n_sample=100):
    sample = RNG.choice(len(X), n_sample, replace=False)
    truth = nearest_neighbors(X, k, search="exact").indices[sample]
    return calibrate(X, sample, truth, np.random.RandomState(0)), sample, truth


def share_found(search, sample, truth):
    proposed = np.empty((search.cells.order.size, search.n_candidates), dtype=int)
    for rows in search.runs():
        points = search.cells.order[rows]
        proposed[points] = search.propose(rows)
    return np.mean([np.isin(true, some).mean() for true, some in zip(truth, proposed[sample], strict=True)])


@pytest.mark.parametrize("n_features", [3, 12, 30])
def test_enough_of_the_samples_neighbours_are_found_and_not_with_fewer_cells(n_features):
    search, sample, truth = fitted(RNG.normal(size=(1500, n_features)))
    assert share_found(search, sample, truth) >= 0.987
    fewer = replace(search, n_cells=search.n_cells - 1)
    assert search.n_cells == 1 or share_found(fewer, sample, truth) < 0.987


def test_data_of_few_directions_are_searched_in_few_components():
    plane = RNG.normal(size=(1500, 5)) @ RNG.normal(size=(5, 200))
    flat = fitted(plane + 0.01 * RNG.normal(size=plane.shape))[0]
    full = fitted(RNG.normal(size=(1500, 200)))[0]
    assert flat.cells.coordinates.shape[1] == 16
    assert full.cells.coordinates.shape[1] > 64


def test_points_far_from_the_origin_keep_their_neighbours():
    search, sample, truth = fitted(1e4 + RNG.normal(size=(1500, 20)))
    assert share_found(search, sample, truth) >= 0.987


def test_what_is_scanned_is_counted():
    search = fitted(RNG.normal(size=(1500, 3)))[0]
    sizes = search.cells.sizes
    assert search.scanned == search.n_cells * sizes.max() + sizes.size
    assert search.scanned < 1500
