"""The order of the rows means nothing."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sidecut.graphs import Gaussian


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("affinity", [Gaussian(1.5), "knn"])
def test_permuted_rows_give_permuted_labels(case, blobs, known, affinity, seed):
    X, y = blobs
    order = np.random.default_rng(seed).permutation(60)
    model = case.make(affinity=affinity, n_neighbors=25).fit(X, constraints=case.knows(known))
    permuted = case.make(affinity=affinity, n_neighbors=25)
    permuted.fit(X[order], constraints=case.knows(known.permuted(order)))
    assert adjusted_rand_score(model.labels_, y) == 1.0
    assert adjusted_rand_score(permuted.labels_, model.labels_[order]) == 1.0


@pytest.mark.parametrize("affinity", [Gaussian(1.5), "knn"])
def test_permuted_rows_give_the_same_eigenvalues(graph_case, blobs, known, affinity):
    X, _ = blobs
    order = np.random.default_rng(0).permutation(60)
    model = graph_case.make(affinity=affinity, n_neighbors=25).fit(X, constraints=graph_case.knows(known))
    permuted = graph_case.make(affinity=affinity, n_neighbors=25)
    permuted.fit(X[order], constraints=graph_case.knows(known.permuted(order)))
    np.testing.assert_allclose(permuted.eigenvalues_, model.eigenvalues_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        permuted.affinity_matrix_.toarray(),
        model.affinity_matrix_.toarray()[np.ix_(order, order)],
        atol=1e-12,
    )


def test_new_units_change_nothing(case, blobs, known):
    """Graphs that choose their own width see the same picture, moved, turned and magnified."""
    X, _ = blobs
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    moved = 1000.0 * X @ turn + [30.0, -7.0]
    model = case.make(affinity="gaussian").fit(X, constraints=case.knows(known))
    same = case.make(affinity="gaussian").fit(moved, constraints=case.knows(known))
    assert adjusted_rand_score(same.labels_, model.labels_) == 1.0
