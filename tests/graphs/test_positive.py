"""The positive part of a low-rank matrix, applied by structure, against min(max(F, 0), 1) entry by entry."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import LowRankMatrix, lowrank, positive, positive_part
from sidecut.graphs.positive import TiledPart


def dense_part(matrix):
    return np.clip(matrix.to_dense(), 0.0, 1.0)


@pytest.fixture(params=[8, 1024], ids="side {}".format)
def _tile_side(request, monkeypatch):
    monkeypatch.setattr(lowrank, "TILE_SIDE", request.param)


@pytest.mark.usefixtures("_tile_side")
@pytest.mark.parametrize("kept", [0, 3000, 512 * 2**20], ids="{} bytes kept".format)
@pytest.mark.parametrize("weight", [0.01, 1.0])
def test_tile_by_tile_is_exact(weight, kept, monkeypatch):
    monkeypatch.setattr(positive, "KEPT_BYTES", kept)
    rng = np.random.default_rng(0)
    core = sp.random_array((6, 6), density=0.5, rng=rng, data_sampler=rng.standard_normal).tocsr()
    matrix = LowRankMatrix(rng.exponential(size=(50, 6)), sp.csr_array(weight * (core + core.T)))
    block = rng.normal(size=(50, 3))
    part = TiledPart(matrix)
    np.testing.assert_allclose(part(block), dense_part(matrix) @ block, atol=1e-12)
    np.testing.assert_allclose(part(np.eye(50)), dense_part(matrix), atol=1e-12)
    np.testing.assert_array_equal(part(block), pickle.loads(pickle.dumps(part))(block))


def test_no_more_tiles_are_kept_than_fit(monkeypatch):
    monkeypatch.setattr(lowrank, "TILE_SIDE", 10)
    monkeypatch.setattr(positive, "KEPT_BYTES", 3 * 10 * 10 * 8)
    made = []
    matrix = LowRankMatrix(
        np.random.default_rng(0).uniform(size=(40, 2)), np.array([[1.0, -1.0], [-1.0, 1.0]])
    )
    monkeypatch.setattr(
        matrix, "block", lambda *place: made.append(place) or LowRankMatrix.block(matrix, *place)
    )
    part = TiledPart(matrix)
    part(np.ones(40))
    assert len(made) == 10
    part(np.ones(40))
    assert len(made) == 10 + 7


def test_signs_decide_the_way():
    factor = np.random.default_rng(0).uniform(size=(10, 2))
    apart = LowRankMatrix(factor, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    assert positive_part(apart) is None
    together = LowRankMatrix(0.5 * factor, np.array([[0.0, 1.0], [1.0, 0.0]]))
    np.testing.assert_allclose(positive_part(together)(np.eye(10)), dense_part(together), atol=1e-14)
    strong = LowRankMatrix(3.0 * factor, np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert strong.largest() > 1
    np.testing.assert_allclose(positive_part(strong)(np.eye(10)), dense_part(strong), atol=1e-14)
