"""The positive part of a low-rank matrix, applied by structure, against min(max(F, 0), 1) entry by entry."""

import numpy as np

from sidecut.methods.e2cp.adjustment import ClasswisePart, TiledPart, positive_part
from sidecut.methods.e2cp.propagation import AgreementMatrix, LowRankMatrix


def dense_part(matrix):
    return np.clip(matrix.toarray(), 0.0, 1.0)


def test_signs_decide_the_way():
    factor = np.random.default_rng(0).uniform(size=(10, 2))
    apart = LowRankMatrix(factor, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    assert positive_part(apart) is None
    together = LowRankMatrix(0.5 * factor, np.array([[0.0, 1.0], [1.0, 0.0]]))
    np.testing.assert_allclose(positive_part(together)(np.eye(10)), dense_part(together), atol=1e-14)
    strong = LowRankMatrix(3.0 * factor, np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert strong.largest() > 1
    np.testing.assert_allclose(positive_part(strong)(np.eye(10)), dense_part(strong), atol=1e-14)


def test_labels_go_class_by_class_and_pairs_tile_by_tile():
    factor = np.random.default_rng(0).uniform(size=(10, 2))
    assert isinstance(positive_part(AgreementMatrix(factor)), ClasswisePart)
    assert isinstance(positive_part(LowRankMatrix(factor, np.array([[1.0, -1.0], [-1.0, 1.0]]))), TiledPart)
