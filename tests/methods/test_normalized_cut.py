"""The normalised cut against textbook eigenvectors and against scikit-learn."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.manifold import spectral_embedding
from sklearn.metrics import adjusted_rand_score

from sidecut import NormalizedCut
from sidecut.exceptions import GraphWarning
from sidecut.graphs import Gaussian, Neighbors


@pytest.fixture(params=[Gaussian(1.0), Neighbors(12)], ids=["dense", "sparse"])
def weights(request):
    X, _ = make_blobs(120, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=1.0, random_state=1)
    graph = request.param.build(X)
    assert graph.n_components == 1
    return graph.matrix


def textbook(weights, count):
    """The smallest generalised eigenpairs of L u = λ D u, by LAPACK."""
    W = weights if isinstance(weights, np.ndarray) else weights.toarray()
    degrees = W.sum(axis=1)
    values, vectors = scipy.linalg.eigh(np.diag(degrees) - W, np.diag(degrees))
    return values[:count], vectors[:, :count]


def test_eigenpairs_are_those_of_the_textbook(weights):
    model = NormalizedCut(4, affinity="precomputed", unit_rows=False, random_state=0).fit(weights)
    values, vectors = textbook(weights, 4)
    np.testing.assert_allclose(model.eigenvalues_, values, atol=1e-10)
    assert subspace_angles(model.embedding_, vectors).max() < 1e-6
    signs = np.sign(np.sum(model.embedding_ * vectors, axis=0))
    np.testing.assert_allclose(model.embedding_, signs * vectors, atol=1e-7)


def test_unit_rows_have_length_one(weights):
    plain = NormalizedCut(3, affinity="precomputed", unit_rows=False, random_state=0).fit(weights)
    unit = NormalizedCut(3, affinity="precomputed", random_state=0).fit(weights)
    np.testing.assert_allclose(np.linalg.norm(unit.embedding_, axis=1), 1.0)
    lengths = np.linalg.norm(plain.embedding_, axis=1, keepdims=True)
    np.testing.assert_allclose(unit.embedding_, plain.embedding_ / lengths)


def for_scikit_learn(weights):
    """The same weights; scikit-learn takes indices of 32 bits only."""
    if sp.issparse(weights):
        parts = (weights.data, weights.indices.astype(np.int32), weights.indptr.astype(np.int32))
        return sp.csr_array(parts, shape=weights.shape)
    return weights


def test_eigenvectors_agree_with_scikit_learn(weights):
    model = NormalizedCut(4, affinity="precomputed", unit_rows=False, random_state=0).fit(weights)
    theirs = spectral_embedding(
        for_scikit_learn(weights),
        n_components=4,
        norm_laplacian=True,
        drop_first=False,
        random_state=0,
        eigen_tol=1e-12,
    )
    assert subspace_angles(model.embedding_, theirs).max() < 1e-5


def test_labels_agree_with_scikit_learn(weights):
    ours = NormalizedCut(3, affinity="precomputed", unit_rows=False, random_state=0).fit(weights).labels_
    theirs = (
        SpectralClustering(3, affinity="precomputed", random_state=0).fit(for_scikit_learn(weights)).labels_
    )
    assert adjusted_rand_score(ours, theirs) == 1.0


def test_labels_are_assigned_in_one_of_three_ways(weights):
    with pytest.raises(ValueError, match="assign_labels='sign': choose one of 'kmeans', 'discretize', 'clus"):
        NormalizedCut(2, affinity="precomputed", assign_labels="sign").fit(weights)


@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize", "cluster_qr"])
def test_every_labelling_finds_moons(assign_labels):
    X, y = make_moons(200, noise=0.05, random_state=0)
    model = NormalizedCut(2, n_neighbors=10, assign_labels=assign_labels, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, y) == 1.0


@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize", "cluster_qr"])
def test_as_many_components_as_clusters_are_the_clusters(assign_labels):
    components = np.repeat([0, 1, 2], [4, 7, 5])
    weights = (components[:, None] == components).astype(float)
    model = NormalizedCut(3, affinity="precomputed", assign_labels=assign_labels, random_state=0).fit(weights)
    np.testing.assert_array_equal(model.labels_, components)
    np.testing.assert_array_equal(model.eigenvalues_, 0.0)


@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize"])
def test_more_components_than_clusters_warn_and_stay_whole(assign_labels):
    components = np.repeat([0, 1, 2, 3], [4, 9, 5, 8])
    weights = (components[:, None] == components).astype(float)
    model = NormalizedCut(2, affinity="precomputed", assign_labels=assign_labels, random_state=0)
    with pytest.warns(GraphWarning, match="4 connected components .* n_clusters=2"):
        model.fit(weights)
    per_component = [set(model.labels_[components == c]) for c in range(4)]
    assert all(len(labels) == 1 for labels in per_component)
    # The two of largest volume, 81 and 64, are kept apart.
    assert per_component[1] != per_component[3]


def test_a_cut_is_scale_free(weights):
    model = NormalizedCut(3, affinity="precomputed", random_state=0).fit(weights)
    for factor in (1e-30, 1e30):
        scaled = NormalizedCut(3, affinity="precomputed", random_state=0).fit(factor * weights)
        np.testing.assert_array_equal(scaled.labels_, model.labels_)
        np.testing.assert_allclose(scaled.eigenvalues_, model.eigenvalues_, atol=1e-10)
