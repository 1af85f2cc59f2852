"""Spectral learning against its one-line definition: A_ij = 1 for must-links, 0 for cannot-links."""

from functools import partial

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import Constraints, NormalizedCut, SpectralLearning
from sidecut.constraints import sample_labels
from sidecut.exceptions import GraphWarning
from sidecut.graphs import CorrectedGraph, DenseGraph, Gaussian, GaussianGraph, Neighbors, SparseGraph
from sidecut.methods import normalized_cut
from sidecut.methods.normalized_cut import even_out_degrees, link_affinity

# The methods themselves are tested here; the guard has tests of its own.
SpectralLearning = partial(SpectralLearning, safe=False)

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
SOME = np.where(np.arange(40) % 3 == 0, Y, -1)


def beliefs():
    Q = np.random.default_rng(1).uniform(-1, 1, size=(40, 40))
    Q[np.abs(Q) < 0.7] = 0.0
    return np.triu(Q, 1) + np.triu(Q, 1).T


KNOWLEDGE = {
    "pairs": Constraints.from_pairs(40, [(0, 1), (1, 2), (30, 5)], [(0, 3), (7, 2)]),
    "labels": Constraints.from_labels(SOME),
    "closed": Constraints.from_pairs(40, [(0, 1), (1, 2), (2, 9)], [(0, 3), (3, 4)]).closed(),
    "soft": Constraints.from_matrix(beliefs()),
    "both": Constraints.from_labels(SOME, weight=0.5) | Constraints.from_pairs(40, [(1, 2)], [(4, 5)]),
    "one label": Constraints.from_labels([0] + [-1] * 39),
}
FORMS = {
    "dense": lambda: Gaussian(1.0).build(X),
    "self-loops": lambda: DenseGraph(GaussianGraph(X, 1.0, self_loops=True).toarray()),
    "sparse": lambda: Neighbors(5).build(X),
    "lazy": lambda: GaussianGraph(X, 1.0),
}


def literal(A, constraints):
    """A loop over all pairs."""
    A, largest = A.copy(), max(1.0, A.max())
    for (i, j), q in zip(constraints.pairs, constraints.strengths, strict=True):
        q = q / max(1.0, np.abs(constraints.strengths).max())
        value = A[i, j] * (1 - abs(q)) + largest * max(q, 0.0)
        A[i, j] = A[j, i] = value
    return A


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KNOWLEDGE)
def test_links_are_one_and_zero(form, kind):
    graph, known = FORMS[form](), KNOWLEDGE[kind]
    linked = link_affinity(graph, known)
    np.testing.assert_allclose(linked.toarray(), literal(graph.toarray(), known), atol=1e-14)
    np.testing.assert_allclose(linked.degrees, literal(graph.toarray(), known).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("kind", KNOWLEDGE)
def test_the_model_cuts_the_graph_with_links(kind):
    known = KNOWLEDGE[kind]
    model = SpectralLearning(3, safe=False, affinity=Gaussian(1.0), random_state=0).fit(X, constraints=known)
    A = literal(FORMS["dense"]().toarray(), known)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), A, atol=1e-14)
    cut = NormalizedCut(3, affinity="precomputed", random_state=0).fit(A)
    np.testing.assert_allclose(model.eigenvalues_, cut.eigenvalues_, atol=1e-10)
    assert subspace_angles(model.eigenvectors_, cut.eigenvectors_).max() < 1e-6


@pytest.mark.parametrize("strength", [1.5, 3.0, 49.0, 98.0, 1e9])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_strongest_beliefs_are_facts(form, strength):
    """49 * (1 / 49) is less than one: a cannot-link must be zero all the same, or it joins what it parts."""
    known = Constraints.from_pairs(40, [(0, 1), (2, 3)], [(4, 5)], [strength, strength / 2], strength)
    graph = FORMS[form]()
    A = link_affinity(graph, known).toarray()
    assert A[4, 5] == 0.0
    assert A[0, 1] == pytest.approx(1.0)
    assert A[2, 3] == pytest.approx(0.5 * graph.toarray()[2, 3] + 0.5)


@pytest.mark.parametrize("n_listed", [0, 10**6])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_must_link_is_no_weaker_than_any_weight(monkeypatch, form, n_listed):
    """K₆ with weights 5: a must-link of weight 1 would be the weakest edge."""
    monkeypatch.setattr(normalized_cut, "MAX_LISTED_PAIRS", n_listed)
    weights = 5.0 * (np.ones((6, 6)) - np.eye(6))
    weights[2, 3] = weights[3, 2] = 0.5
    graph = DenseGraph(weights) if form == "dense" else SparseGraph(sp.csr_array(weights))
    A = link_affinity(graph, Constraints.from_pairs(6, [(0, 1), (2, 3)], [(4, 5)])).toarray()
    assert A[0, 1] == A[2, 3] == 5.0
    assert A[4, 5] == 0.0
    assert A[0, 2] == 5.0


@pytest.mark.parametrize("factor", [10.0, 1000.0])
def test_larger_weights_have_the_cut_of_the_same_graph_in_other_units(factor):
    graph, known = FORMS["sparse"](), KNOWLEDGE["labels"]
    top = graph.matrix.max()
    small, large = (
        SpectralLearning(4, affinity="precomputed", random_state=0).fit(
            SparseGraph(graph.matrix * (scale / top)), constraints=known
        )
        for scale in (1.0, factor)
    )
    np.testing.assert_allclose(large.eigenvalues_, small.eigenvalues_, atol=1e-10)
    np.testing.assert_array_equal(large.labels_, small.labels_)


@pytest.mark.parametrize("kind", ["labels", "closed", "soft", "both", "pairs"])
def test_applied_links_are_the_listed_ones(monkeypatch, kind):
    graph, known = FORMS["sparse"](), KNOWLEDGE[kind].scaled(3.0)
    listed = link_affinity(graph, known)
    monkeypatch.setattr(normalized_cut, "MAX_LISTED_PAIRS", 0)
    applied = link_affinity(graph, known)
    assert isinstance(listed, SparseGraph)
    assert isinstance(applied, CorrectedGraph)
    np.testing.assert_allclose(applied.toarray(), listed.toarray(), atol=1e-14)
    np.testing.assert_array_equal(applied.components, listed.components)


@given(seed=st.integers(0, 10_000), share=st.floats(0.1, 1.0))
@settings(max_examples=25, deadline=None)
def test_components_of_applied_links(seed, share):
    """Few edges, some of them cut, groups of labels across them: who hangs together with whom."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((25, 25)) < 0.05, 1)
    graph = SparseGraph(sp.csr_array((upper + upper.T).astype(float)))
    told = np.where(rng.random(25) < share, rng.integers(0, 6, 25), -1)
    known = Constraints.from_labels(told)
    if known.n_pairs == 0:
        return
    listed = link_affinity(graph, known)
    applied = normalized_cut._with_applied_links(graph, known, 1.0, 1.0)
    np.testing.assert_allclose(applied.toarray(), listed.toarray(), atol=1e-14)
    np.testing.assert_array_equal(applied.isolated, listed.isolated)
    np.testing.assert_array_equal(applied.components, listed.components)


@pytest.mark.parametrize("normalization", ["sym", "additive"])
def test_applied_links_give_the_same_model(monkeypatch, normalization):
    known = KNOWLEDGE["labels"]
    settings = {"n_neighbors": 8, "normalization": normalization, "random_state": 0}
    listed = SpectralLearning(4, safe=False, **settings).fit(X, constraints=known)
    monkeypatch.setattr(normalized_cut, "MAX_LISTED_PAIRS", 0)
    applied = SpectralLearning(4, safe=False, **settings).fit(X, constraints=known)
    assert isinstance(applied.affinity_matrix_, CorrectedGraph)
    np.testing.assert_allclose(applied.eigenvalues_, listed.eigenvalues_, atol=1e-8)
    assert adjusted_rand_score(applied.labels_, listed.labels_) == 1.0


@pytest.mark.parametrize(
    "known", [None, KNOWLEDGE["pairs"], KNOWLEDGE["labels"]], ids=["none", "pairs", "labels"]
)
def test_additive_is_the_additive_normalisation(known):
    graph = FORMS["dense"]()
    model = SpectralLearning(4, safe=False, affinity="precomputed", normalization="additive", random_state=0)
    model.fit(graph, constraints=known)
    A = graph.toarray() if known is None else literal(graph.toarray(), known)
    degrees = A.sum(axis=1)
    N = (A + degrees.max() * np.eye(40) - np.diag(degrees)) / degrees.max()
    values, vectors = scipy.linalg.eigh(N)
    np.testing.assert_allclose(1.0 - model.eigenvalues_, values[::-1][:4], atol=1e-10)
    assert subspace_angles(model.eigenvectors_, vectors[:, ::-1][:, :4]).max() < 1e-6
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), A, atol=1e-14)


def test_additive_loops_leave_isolated_points_alone():
    A = np.zeros((5, 5))
    A[0, 1] = A[1, 0] = 1.0
    A[1, 2] = A[2, 1] = 3.0
    looped = even_out_degrees(DenseGraph(A))
    np.testing.assert_array_equal(looped.degrees, [4.0, 4.0, 4.0, 0.0, 0.0])
    np.testing.assert_array_equal(looped.isolated, [3, 4])


def test_cannot_links_part_a_graph_into_components():
    known = Constraints.from_labels(np.arange(40) % 2, weight=49.0)
    model = SpectralLearning(2, safe=False, affinity=Gaussian(1.0), random_state=0).fit(X, constraints=known)
    np.testing.assert_array_equal(model.eigenvalues_, 0.0)
    np.testing.assert_array_equal(model.labels_, np.arange(40) % 2)


def test_must_links_join_components():
    components = np.repeat([0, 1, 2], 5)
    A = (components[:, None] == components).astype(float)
    model = SpectralLearning(2, safe=False, affinity="precomputed", random_state=0)
    with pytest.warns(GraphWarning, match="3 connected components"):
        model.fit(A)
    model.fit(A, constraints=Constraints.from_pairs(15, must_link=[(0, 5), (1, 6)]))
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 0, 1], 5))


def test_constraints_find_moons_that_the_graph_alone_does_not():
    X, y = make_moons(300, noise=0.2, random_state=0)
    alone = NormalizedCut(2, n_neighbors=15, random_state=0).fit(X)
    known = sample_labels(y, 150, random_state=0)
    told = SpectralLearning(2, safe=False, n_neighbors=15, random_state=0).fit(X, constraints=known)
    unlabelled = known.labels < 0
    before = adjusted_rand_score(y[unlabelled], alone.labels_[unlabelled])
    after = adjusted_rand_score(y[unlabelled], told.labels_[unlabelled])
    assert before < 0.7
    assert after > before + 0.1
    assert known.satisfaction(told.labels_) > 0.99
