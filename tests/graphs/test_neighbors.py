import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sidecut.exceptions import GraphWarning
from sidecut.graphs import GaussianGraph, nearest_by_affinity, nearest_neighbors, symmetrize
from sidecut.graphs.recipes import as_rows_of_edges

FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


def step_one_of_e2cp(affinity, k):
    """W_ij = A_ij / sqrt(A_ii A_jj) if j is among the k nearest of i, ties to the lower index."""
    n = len(affinity)
    weights = np.zeros((n, n))
    for i in range(n):
        normalised = [affinity[i, j] / np.sqrt(affinity[i, i] * affinity[j, j]) for j in range(n)]
        others = sorted((j for j in range(n) if j != i), key=lambda j: (-normalised[j], j))
        for j in others[:k]:
            weights[i, j] = normalised[j]
    return weights


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [1, 3, 8])
@given(levels=arrays(np.float64, (9, 9), elements=st.sampled_from([0.0, 0.25, 0.5, 0.75])))
def test_ties_go_to_the_lower_index(form, k, levels):
    kernel = np.triu(levels, 1) + np.triu(levels, 1).T + np.eye(9)
    np.testing.assert_array_equal(
        nearest_by_affinity(FORMS[form](kernel), k).toarray(), step_one_of_e2cp(kernel, k)
    )


@pytest.mark.parametrize("form", FORMS)
def test_affinities_are_normalised_by_the_diagonal(form):
    rng = np.random.default_rng(0)
    factor = rng.random((20, 5)) * rng.uniform(0.1, 10, size=(20, 1))
    kernel = factor @ factor.T
    np.testing.assert_allclose(
        nearest_by_affinity(FORMS[form](kernel), 4).toarray(), step_one_of_e2cp(kernel, 4), rtol=1e-13
    )


@pytest.mark.parametrize("form", FORMS)
def test_on_a_gaussian_kernel_the_nearest_are_the_nearest(form):
    X = np.random.default_rng(1).normal(size=(40, 3))
    kernel = GaussianGraph(X, 1.0, self_loops=True).toarray()
    lists = nearest_neighbors(X, 6)
    expected = as_rows_of_edges(lists.indices, np.exp(-(lists.distances**2) / 2), 40).toarray()
    found = nearest_by_affinity(FORMS[form](kernel), 6).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_zero_diagonal_counts_as_one():
    kernel = np.array([[0.0, 0.5, 0.2], [0.5, 4.0, 0.6], [0.2, 0.6, 0.0]])
    expected = [[0.0, 0.25, 0.0], [0.0, 0.0, 0.3], [0.0, 0.3, 0.0]]
    for form in FORMS.values():
        np.testing.assert_allclose(nearest_by_affinity(form(kernel), 1).toarray(), expected)


@pytest.mark.parametrize("form", FORMS)
def test_too_many_neighbours_keep_every_edge(form):
    with pytest.warns(GraphWarning, match="n_neighbors=9 but each of the 3 points has only 2 others"):
        kept = nearest_by_affinity(FORMS[form](np.full((3, 3), 0.5) + 0.5 * np.eye(3)), 9)
    np.testing.assert_array_equal(kept.toarray(), 0.5 * (1 - np.eye(3)))


def test_a_kernel_is_square():
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        nearest_by_affinity(np.ones((2, 3)), 1)


RULES = {"mean": lambda a, b: (a + b) / 2, "union": max, "mutual": min}


@pytest.mark.parametrize("rule", RULES)
@given(directed=arrays(np.float64, (6, 6), elements=st.sampled_from([0.0, 0.0, 0.3, 0.5, 1.0])))
def test_symmetrising_rules_entry_by_entry(rule, directed):
    expected = [[RULES[rule](directed[i, j], directed[j, i]) for j in range(6)] for i in range(6)]
    np.testing.assert_array_equal(symmetrize(sp.csr_array(directed), rule).toarray(), expected)


def test_an_unknown_rule_lists_the_rules():
    with pytest.raises(ValueError, match="symmetrize='either': choose 'mean', 'union' or 'mutual'"):
        symmetrize(sp.csr_array((2, 2)), "either")
