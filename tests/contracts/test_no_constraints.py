"""Nothing known is the normalised cut, exactly."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from sidecut import Constraints
from sidecut.graphs import Gaussian


@pytest.mark.parametrize("nothing", [None, Constraints.none(60)], ids=["None", "none(60)"])
@pytest.mark.parametrize("affinity", ["gaussian", "knn", "self_tuning", "heat"])
def test_nothing_known_is_the_normalized_cut(cutting, blobs, affinity, nothing):
    X, _ = blobs
    model = cutting.make(affinity=affinity, n_neighbors=25).fit(X, constraints=nothing)
    cut = cutting.reference(affinity=affinity, n_neighbors=25).fit(X)
    np.testing.assert_array_equal(model.labels_, cut.labels_)
    np.testing.assert_allclose(model.eigenvalues_, cut.eigenvalues_, atol=1e-10)
    assert subspace_angles(model.eigenvectors_, cut.eigenvectors_).max() < 1e-6
    np.testing.assert_array_equal(model.affinity_matrix_.toarray(), cut.affinity_matrix_.toarray())


def test_nothing_known_about_two_clusters(cutting, blobs):
    X = blobs[0][:40]
    model = cutting.make(2, affinity="gaussian").fit(X)
    cut = cutting.reference(2, affinity="gaussian").fit(X)
    np.testing.assert_array_equal(model.labels_, cut.labels_)


def test_nothing_known_about_a_given_graph(cutting, blobs):
    weights = Gaussian(1.0).build(blobs[0]).toarray()
    model = cutting.make(affinity="precomputed").fit(weights)
    cut = cutting.reference(affinity="precomputed").fit(weights)
    np.testing.assert_array_equal(model.labels_, cut.labels_)
    np.testing.assert_allclose(model.eigenvalues_, cut.eigenvalues_, atol=1e-10)


def test_two_ways_to_know_nothing(case, blobs):
    X, _ = blobs
    silent = case.make(affinity="gaussian").fit(X)
    empty = case.make(affinity="gaussian").fit(X, constraints=Constraints.from_pairs(60))
    np.testing.assert_array_equal(silent.labels_, empty.labels_)
