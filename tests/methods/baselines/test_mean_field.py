"""The mean field against sums over all labellings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logsumexp

from sidecut.methods.baselines.constrained_gmm import MeanField, independent_sets


def drawn(seed, n_nodes=6, n_labels=3):
    rng = np.random.default_rng(seed)
    links = np.triu(
        rng.normal(scale=3.0, size=(n_nodes, n_nodes)) * (rng.random((n_nodes, n_nodes)) < 0.4), k=1
    )
    return rng.normal(scale=2.0, size=(n_nodes, n_labels)), sparse.csr_array(links + links.T), rng


def log_partition(scores, links):
    """log Σ_z exp(Σ_j a_j(z_j) - Σ_{j<j'} |W_jj'| [violated]), by looking at every z."""
    n_nodes, n_labels = scores.shape
    dense = links.toarray()
    terms = []
    for z in product(range(n_labels), repeat=n_nodes):
        z = np.array(z)
        violated = np.triu(np.where(dense > 0, z[:, None] != z, z[:, None] == z), k=1)
        terms.append(scores[np.arange(n_nodes), z].sum() - (np.abs(dense) * violated).sum())
    return logsumexp(terms)


@given(st.integers(0, 500))
def test_it_is_a_bound_that_never_falls(seed):
    scores, links, rng = drawn(seed, n_nodes=5)
    field = MeanField(links)
    beliefs = rng.dirichlet(np.ones(3), size=5)
    beliefs = field.improve(scores, beliefs, max_sweeps=1)
    bounds = [field.bound(scores, beliefs)]
    for _ in range(15):
        beliefs = field.improve(scores, beliefs, max_sweeps=1)
        bounds.append(field.bound(scores, beliefs))
    assert (np.diff(bounds) >= -1e-10).all()
    assert bounds[-1] <= log_partition(scores, links) + 1e-10
    np.testing.assert_allclose(beliefs.sum(axis=1), 1.0)


def test_without_links_it_is_exact():
    scores, _, _ = drawn(3)
    nothing = sparse.csr_array((6, 6))
    field = MeanField(nothing)
    beliefs = field.improve(scores, np.full((6, 3), 1 / 3))
    np.testing.assert_allclose(beliefs, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    assert field.bound(scores, beliefs) == pytest.approx(log_partition(scores, nothing))


def test_it_comes_to_rest_where_no_node_wants_to_change():
    scores, links, rng = drawn(8)
    field = MeanField(links)
    beliefs = field.improve(scores, rng.dirichlet(np.ones(3), size=6), max_sweeps=500, tol=1e-14)
    wanted = np.exp(scores + links @ beliefs)
    np.testing.assert_allclose(beliefs, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-9)


def test_sets_have_no_links_inside_and_hold_every_node_once():
    _, links, _ = drawn(5, n_nodes=30)
    sets = independent_sets(links)
    assert sorted(np.concatenate(sets)) == list(range(30))
    for one in sets:
        assert links[one][:, one].nnz == 0
