"""Figures 2, 3 and 4 of Lu & Carreira-Perpiñán (CVPR 2008), on the 1-D data they describe."""

import numpy as np
import pytest

from sidecut import CSAP, Constraints, NormalizedCut
from sidecut.graphs import Gaussian, NormalizedAffinity

THREE_CLUSTERS = np.concatenate([start + np.linspace(0, 4, 15) for start in (0.0, 20.0, 40.0)])[:, None]
CONTINUUM = np.arange(1.0, 41.0)[:, None]


def pair(i, j):
    """Samples as the paper numbers them, from 1."""
    return [(i - 1, j - 1)]


CANNOT_LINK = Constraints.from_pairs(40, cannot_link=pair(5, 15))


def fitted(X, sigma, n_clusters=2, algorithm="A", **links):
    model = CSAP(
        n_clusters,
        algorithm=algorithm,
        affinity=Gaussian(sigma, self_loops=True),
        safe=False,
        random_state=0,
    )
    return model.fit(X, constraints=Constraints.from_pairs(len(X), **links))


def cut(X, sigma, n_clusters):
    return NormalizedCut(n_clusters, affinity=Gaussian(sigma, self_loops=True), random_state=0).fit(X)


def second_cut(model):
    """e₂ of the paper: the second eigenvector of the random walk, D^{-1/2} v₂."""
    return NormalizedAffinity(model.affinity_matrix_).scale * model.eigenvectors_[:, 1]


def test_figure_2_one_must_link_merges_two_clusters():
    before = cut(THREE_CLUSTERS, 1.0, 3)
    after = fitted(THREE_CLUSTERS, 1.0, 3, must_link=pair(5, 20))
    assert before.eigenvalues_[2] == pytest.approx(0.0, abs=1e-10)
    assert after.eigenvalues_[1] == pytest.approx(0.0, abs=1e-10)
    assert after.eigenvalues_[2] == pytest.approx(0.20, abs=0.005)
    weights = after.affinity_matrix_.toarray()
    assert weights[4, 19] == pytest.approx(0.5, abs=1e-6)
    # Affinity spreads around the entry of the link, and falls off with the distance from it.
    across = weights[:15, 15:30]
    assert np.unravel_index(across.argmax(), across.shape) == (4, 4)
    assert (np.diff(across[4, 4:]) < 0).all()
    two = fitted(THREE_CLUSTERS, 1.0, 2, must_link=pair(5, 20))
    np.testing.assert_array_equal(two.labels_, np.repeat([0, 0, 1], 15))


def test_figure_3_one_cannot_link_splits_a_continuum():
    before = cut(CONTINUUM, 8.0, 2)
    after = fitted(CONTINUUM, 8.0, cannot_link=pair(5, 15))
    assert before.eigenvalues_[1] == pytest.approx(0.224, abs=0.001)
    assert after.eigenvalues_[1] == pytest.approx(0.009, abs=0.001)
    jumps = np.abs(np.diff(second_cut(after)))
    assert jumps.argmax() + 1 == 10
    assert jumps.max() > 3 * np.abs(np.diff(second_cut(before))).max()
    # The eigenvector as it is, without unit rows: the paper looks at e₂ itself.
    labels = after.set_params(unit_rows=False).fit(CONTINUUM, constraints=CANNOT_LINK).labels_
    np.testing.assert_array_equal(labels, np.repeat([0, 1], [10, 30]))


def test_figure_4_two_cannot_links_and_a_false_affinity():
    links = {"cannot_link": pair(5, 15) + pair(16, 35)}
    kernel = cut(CONTINUUM, 4.0, 2).affinity_matrix_.toarray()
    a, b = (fitted(CONTINUUM, 4.0, algorithm=name, **links).affinity_matrix_.toarray() for name in "AB")
    assert kernel[4, 34] == pytest.approx(6e-13, rel=0.1)
    assert a[4, 34] == pytest.approx(0.310, abs=0.001)
    assert b[4, 34] == 0.0
    # What the two algorithms agree on: both links are gone.
    for affinity in (a, b):
        assert affinity[4, 14] == affinity[15, 34] == 0.0
