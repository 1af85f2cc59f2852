"""Scattered pairs leave hundreds of feasible cuts: the few that are used are found without the others."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut.constraints import sample_labels, sample_pairs
from sidecut.graphs import Neighbors, NormalizedAffinity
from sidecut.methods.csp.bound import satisfiability
from sidecut.methods.csp.cuts import enough_cuts, feasible_cuts
from sidecut.spectral import laplacian_eigenpairs


@pytest.fixture(scope="module")
def scattered():
    X, y = make_blobs(1_500, 6, centers=4, cluster_std=3.5, random_state=0)
    return Neighbors(15).build(X), y, sample_pairs(y, 900, random_state=0)


def angle(first, second):
    """The smallest cosine between two subspaces."""
    bases = (np.linalg.qr(vectors)[0] for vectors in (first, second))
    return np.linalg.svd(np.matmul(*(basis if k else basis.T for k, basis in enumerate(bases))))[1].min()


def test_the_cuts_of_least_cost_are_those_of_all(scattered):
    graph, _, known = scattered
    smooth = laplacian_eigenpairs(graph, 4, random_state=0).vectors
    few = feasible_cuts(graph, known, n_clusters=4, max_cuts=enough_cuts("usual", 4), smooth=lambda: smooth)
    many = feasible_cuts(graph, known, n_clusters=4, max_cuts=60, tol=1e-8)
    assert few.beta == pytest.approx(many.beta, rel=1e-6)
    assert angle(few.vectors[:, :3], many.vectors[:, :3]) > 0.9999
    np.testing.assert_allclose(few.costs[:3], many.costs[:3], rtol=1e-3)
    assert (few.residuals[:3] < 1e-3).all()
    assert (few.satisfactions > few.beta).all()
    assert not few.complete


def test_start_vectors_are_asked_for_only_where_cuts_are_many(scattered):
    graph, y, _ = scattered

    def unexpected():
        raise AssertionError("Labels leave few cuts.")

    known = sample_labels(y, 1_200, random_state=0)
    cuts = feasible_cuts(graph, known, n_clusters=4, max_cuts=enough_cuts("usual", 4), smooth=unexpected)
    assert cuts.complete
    assert cuts.count_is_exact


def test_leading_eigenvalues_of_many_points_are_those_of_the_whole_spectrum(scattered):
    graph, _, known = scattered
    assert known.constrained_points.size > 1_000
    scale = NormalizedAffinity(graph).scale
    some, _ = satisfiability(known, scale, graph.degrees, "usual", 4, 8)
    whole, _ = satisfiability(known, scale, graph.degrees, "usual", 4)
    assert whole.is_exact
    assert not some.is_exact
    assert some.values.size == 10 < whole.values.size
    np.testing.assert_allclose(some.values, whole.values[:10], rtol=1e-6)
