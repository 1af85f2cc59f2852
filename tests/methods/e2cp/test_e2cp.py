"""E2CP against eqs. 3 and 4 and the eigenvectors of LAPACK, and at scale against itself in memory."""

from functools import partial

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import block_diag, subspace_angles
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import E2CP, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConstraintWarning
from sidecut.graphs import DenseGraph, FactorGraph, Neighbors, ResolventGraph, SparseGraph, as_graph
from sidecut.graphs import lazy as strips
from sidecut.methods.e2cp import adjustment as grouped
from sidecut.methods.e2cp import estimator as e2cp
from sidecut.methods.e2cp import nontrivial
from sidecut.methods.e2cp import propagation as spreading
from sidecut.methods.e2cp.adjustment import AdjustedGraph, GroupedGraph, adjust_graph
from sidecut.spectral import laplacian_eigenpairs

# The methods themselves are tested here; the guard has tests of its own.
E2CP = partial(E2CP, safe=False)

X, Y = make_blobs(150, centers=4, cluster_std=2.0, random_state=0)
GRAPH = Neighbors(20).build(X)


def dense_e2cp(W, Z, alpha=0.8, rescale=False):
    """Eqs. 3 and 4 with matrices."""
    root = 1 / np.sqrt(W.sum(axis=1))
    P = (1 - alpha) * np.linalg.inv(np.eye(len(W)) - alpha * root[:, None] * W * root)
    F = P @ Z @ P
    if rescale:
        F = F / np.abs(F).max()
    F = np.clip(F, -1, 1)
    return np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)


def soft_pairs(y, n, seed):
    rng = np.random.default_rng(seed)
    pairs = sample_pairs(y, n, random_state=seed)
    upper = sp.csr_array(
        (pairs.strengths * rng.uniform(size=n), tuple(pairs.pairs.T)), shape=(y.size, y.size)
    )
    return Constraints.from_matrix(sp.csr_array(upper + upper.T))


def knowledge(kind, y):
    return {
        "labels": lambda: sample_labels(y, 25, random_state=0),
        "labels without diagonal": lambda: sample_labels(y, 25, random_state=0).with_diagonal(0),
        "pairs": lambda: sample_pairs(y, 60, random_state=0),
        "soft pairs": lambda: soft_pairs(y, 60, seed=0),
        "strong pairs": lambda: sample_pairs(y, 60, random_state=0).scaled(50.0),
    }[kind]()


KINDS = ["labels", "labels without diagonal", "pairs", "soft pairs", "strong pairs"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rescale", [False, True])
def test_the_graph_that_is_cut_is_eq4(kind, rescale):
    known = knowledge(kind, Y)
    model = E2CP(4, safe=False, rescale=rescale, random_state=0).fit(X, constraints=known)
    expected = dense_e2cp(GRAPH.toarray(), known.as_matrix().toarray(), rescale=rescale)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected, atol=1e-12)
    root = 1 / np.sqrt(expected.sum(axis=1))
    values, vectors = scipy.linalg.eigh(np.eye(150) - root[:, None] * expected * root)
    np.testing.assert_allclose(model.eigenvalues_, values[:4], atol=1e-10)
    assert subspace_angles(model.eigenvectors_, vectors[:, :4]).max() < 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_self_loops_of_eq4_are_kept(kind):
    model = E2CP(4, safe=False, rescale=False, random_state=0).fit(X, constraints=knowledge(kind, Y))
    loops = np.diag(model.propagated_constraints_.toarray())
    assert (loops > 0).any()
    np.testing.assert_allclose(np.diag(model.affinity_matrix_.toarray()), np.clip(loops, 0, 1), atol=1e-14)


def test_propagated_constraints_are_not_rescaled():
    known = knowledge("pairs", Y)
    plain = E2CP(4, safe=False, rescale=False, random_state=0).fit(X, constraints=known)
    rescaled = E2CP(4, safe=False, rescale=True, random_state=0).fit(X, constraints=known)
    np.testing.assert_array_equal(
        plain.propagated_constraints_.toarray(), rescaled.propagated_constraints_.toarray()
    )


def ten_clusters(n):
    """Ten overlapping clusters."""
    points, y = make_blobs(n, n_features=5, centers=10, cluster_std=3.0, random_state=1)
    return Neighbors(20).build(points), y


@pytest.fixture(scope="module")
def larger():
    return ten_clusters(1000)


@pytest.fixture(scope="module")
def large():
    """So many points that an approximation is worth while."""
    return ten_clusters(2000)


@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_never_formed_is_the_same_as_dense(larger, kind, rescale, monkeypatch):
    graph, y = larger
    known = knowledge(kind, y)
    expected = dense_e2cp(graph.toarray(), known.as_matrix().toarray(), rescale=rescale)
    monkeypatch.setitem(adjust_graph.__globals__, "DENSE_NODES", 0)
    lazy = E2CP(10, rescale=rescale, approximate=False)._adjust(graph, known).graph
    assert isinstance(lazy, AdjustedGraph)
    block = np.random.default_rng(0).normal(size=(1000, 3))
    np.testing.assert_allclose(lazy.apply(block), expected @ block, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(lazy.degrees, expected.sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize("kind", ["labels", "pairs", "soft pairs"])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_input_of_either_precision(larger, kind, precision, monkeypatch):
    """A graph that comes in single precision, and a factor that is kept in it."""
    graph, y = larger
    known = knowledge(kind, y)
    given = sp.csr_array(graph.matrix, dtype=precision)
    expected = dense_e2cp(given.toarray().astype(np.float64), known.as_matrix().toarray(), rescale=True)
    monkeypatch.setitem(adjust_graph.__globals__, "DENSE_NODES", 0)
    if precision == np.float32:
        monkeypatch.setattr(spreading, "MAX_DOUBLE_BYTES", 0)
        monkeypatch.setattr(spreading, "COLUMNS_AT_ONCE", 4)
        monkeypatch.setattr(spreading, "DENSE_NODES", 0)
    model = E2CP(10, safe=False, affinity="precomputed", approximate=False, random_state=0).fit(
        given, constraints=known
    )
    assert model.propagated_constraints_.matrix.factor.dtype == precision
    lazy = model.affinity_matrix_
    assert isinstance(lazy, AdjustedGraph)
    np.testing.assert_allclose(lazy.apply(np.eye(1000)[:, :200]), expected[:, :200], atol=1e-6)
    root = 1 / np.sqrt(expected.sum(axis=1))
    difference = root[:, None] * (lazy.apply(np.eye(1000)) - expected) * root
    assert np.linalg.norm(difference, 2) < (1e-6 if precision == np.float32 else 1e-10)


def test_labels_and_eigenvalues_at_scale_are_those_in_memory(larger, monkeypatch):
    graph, y = larger
    known = sample_labels(y, 50, random_state=0)
    expected = E2CP(10, safe=False, affinity="precomputed", random_state=0).fit(graph, constraints=known)
    assert isinstance(expected.affinity_matrix_, SparseGraph | DenseGraph)
    monkeypatch.setitem(adjust_graph.__globals__, "DENSE_NODES", 0)
    model = E2CP(10, safe=False, affinity="precomputed", approximate=False, random_state=0).fit(
        graph, constraints=known
    )
    assert isinstance(model.affinity_matrix_, AdjustedGraph)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, atol=1e-8)
    assert adjusted_rand_score(model.labels_, expected.labels_) > 0.99


def test_two_hundred_pairs_improve_digits():
    """The mean of three draws, on all points: without constraints 0.75."""
    points, y = load_digits(return_X_y=True)
    graph = Neighbors(20).build(points)
    plain = NormalizedCut(10, affinity="precomputed", random_state=0).fit(graph)
    told = E2CP(10, safe=False, affinity="precomputed", random_state=0)
    scores = [
        adjusted_rand_score(y, told.fit(graph, constraints=sample_pairs(y, 200, random_state=draw)).labels_)
        for draw in range(3)
    ]
    assert np.mean(scores) > adjusted_rand_score(y, plain.labels_) + 0.03


def test_rescaling_does_not_depend_on_the_strength_of_beliefs():
    known = knowledge("pairs", Y)
    model = E2CP(4, safe=False, random_state=0).fit(X, constraints=known)
    faint = E2CP(4, safe=False, random_state=0).fit(X, constraints=known.scaled(1e-3))
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), faint.affinity_matrix_.toarray(), atol=1e-12)


@pytest.mark.parametrize("factor", [0.5, 10.0])
def test_weights_above_one_are_relative_to_the_largest(factor):
    """Dividing such a graph by its largest weight changes nothing; one with weights below 1 is as it is."""
    known = knowledge("labels", Y)
    graph = SparseGraph(GRAPH.matrix * (factor / GRAPH.matrix.max()))
    model = E2CP(4, safe=False, affinity="precomputed", random_state=0).fit(graph, constraints=known)
    unit = max(1.0, factor)
    expected = unit * dense_e2cp(graph.toarray() / unit, known.as_matrix().toarray(), rescale=True)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected, atol=1e-11)


@pytest.mark.parametrize(
    "graph", [ResolventGraph(GRAPH, 0.02), FactorGraph(3.0 * np.abs(X))], ids=["resolvent", "factor"]
)
def test_weights_above_one_are_seen_where_they_are_only_applied(graph):
    known = knowledge("labels", Y)
    model = E2CP(4, safe=False, affinity="precomputed", random_state=0).fit(graph, constraints=known)
    W = graph.toarray()
    assert W.max() > 1.0
    expected = W.max() * dense_e2cp(W / W.max(), known.as_matrix().toarray(), rescale=True)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected, rtol=1e-9, atol=1e-9)


def test_nontrivial_eigenvectors_follow_the_trivial_one():
    known = knowledge("pairs", Y)
    leading = E2CP(5, safe=False, random_state=0).fit(X, constraints=known)
    model = E2CP(4, safe=False, eigenvectors="nontrivial", random_state=0).fit(X, constraints=known)
    np.testing.assert_allclose(model.eigenvalues_, leading.eigenvalues_[1:], atol=1e-12)
    assert subspace_angles(model.eigenvectors_, leading.eigenvectors_[:, 1:]).max() < 1e-6
    trivial = np.sqrt(model.affinity_matrix_.degrees)
    np.testing.assert_allclose(trivial @ model.eigenvectors_, 0.0, atol=1e-9)


@pytest.mark.parametrize("n_vectors", [2, 3, 5, 6])
def test_the_trivial_vector_is_projected_out_of_several_components(n_vectors):
    """Four components: eigenvalue 0 is fourfold, and no vector of the basis is the trivial one."""
    sizes = [3, 4, 5, 6]
    weights = scipy.linalg.block_diag(*[np.ones((n, n)) - np.eye(n) for n in sizes])
    graph = as_graph(weights)
    pairs = laplacian_eigenpairs(graph, n_vectors, random_state=0)
    left = nontrivial(graph, pairs)
    assert left.vectors.shape == (18, n_vectors - 1)
    np.testing.assert_allclose(np.sqrt(graph.degrees) @ left.vectors, 0.0, atol=1e-12)
    np.testing.assert_allclose(left.vectors.T @ left.vectors, np.eye(n_vectors - 1), atol=1e-12)
    root = 1 / np.sqrt(graph.degrees)
    laplacian = np.eye(18) - root[:, None] * weights * root
    np.testing.assert_allclose(laplacian @ left.vectors, left.vectors * left.values, atol=1e-10)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, np.nan, "0.8", None, True])
def test_alpha_is_between_zero_and_one(alpha):
    with pytest.raises(ValueError, match="must lie between 0 and 1, both excluded"):
        E2CP(2, alpha=alpha).fit(X)


def test_eigenvectors_are_leading_or_nontrivial():
    with pytest.raises(ValueError, match="eigenvectors='all': choose one of 'leading', 'nontrivial'"):
        E2CP(2, eigenvectors="all").fit(X)


def test_contradictions_are_reconciled():
    """One wrong cannot-link inside a class is outvoted by the right must-links around it."""
    inside = np.flatnonzero(Y == 0)[:20]
    must = [(int(i), int(j)) for i in inside for j in inside if i < j]
    wrong = Constraints.from_pairs(150, cannot_link=must[:1])
    known = Constraints.from_pairs(150, must, must[:1], on_conflict="weigh")
    i, j = must[0]
    assert (
        E2CP(4, safe=False, random_state=0)
        .fit(X, constraints=wrong)
        .propagated_constraints_.entries([i], [j])
        < 0
    )
    assert (
        E2CP(4, safe=False, random_state=0)
        .fit(X, constraints=known)
        .propagated_constraints_.entries([i], [j])
        > 0
    )


def test_a_must_link_joins_components():
    weights = sp.csr_array(block_diag(*[np.ones((6, 6)) - np.eye(6)] * 3))
    known = Constraints.from_pairs(18, must_link=[(0, 6)], cannot_link=[(0, 12)])
    model = E2CP(2, safe=False, split_parts=False, affinity="precomputed", random_state=0)
    model.fit(weights, constraints=known)
    assert model.affinity_matrix_.n_components == 2
    np.testing.assert_array_equal(model.labels_, [0] * 12 + [1] * 6)


def test_nothing_known_propagates_nothing():
    model = E2CP(4, random_state=0).fit(X)
    assert model.propagated_constraints_.max_abs == 0
    assert model.propagated_constraints_.toarray().shape == (150, 150)


def test_hours_of_work_are_announced(monkeypatch):
    known = knowledge("pairs", Y)
    monkeypatch.setitem(adjust_graph.__globals__, "DENSE_NODES", 0)
    monkeypatch.setattr(strips, "KEPT_BYTES", 0)
    E2CP(4, safe=False, random_state=0).fit(X, constraints=known)
    monkeypatch.setattr(e2cp, "MAX_MULTIPLICATIONS", 150**2 / 2 * known.constrained_points.size - 1)
    with pytest.warns(
        ConstraintWarning, match="of 150 points: every product with the adjusted graph costs 9e"
    ):
        E2CP(4, safe=False, random_state=0).fit(X, constraints=known)
    E2CP(4, safe=False, random_state=0).fit(X, constraints=knowledge("labels", Y))


def test_the_approximation_by_labels_measures_its_error(large, monkeypatch):
    graph, y = large
    known = sample_labels(y, 30, random_state=0)
    monkeypatch.setattr(e2cp, "APPROXIMATE_FROM", 1000)
    monkeypatch.setattr(grouped, "N_MEASURED_POINTS", 10**6)
    exact, quick = (
        E2CP(10, safe=False, affinity="precomputed", approximate=approximate, random_state=0).fit(
            graph, constraints=known
        )
        for approximate in (False, True)
    )
    weights = exact.affinity_matrix_.toarray()
    shares = np.abs(quick.affinity_matrix_.toarray() - weights).sum(axis=0) / weights.sum(axis=0)
    assert exact.approximation_error_ == 0.0
    # It is measured against the F it uses, whose labels are spread to a residual of 1e-5.
    assert quick.approximation_error_ == pytest.approx(shares.mean(), rel=1e-3)
    assert 0.0 < quick.approximation_error_ < 0.05
    np.testing.assert_allclose(quick.eigenvalues_, exact.eigenvalues_, atol=quick.approximation_error_)
    assert adjusted_rand_score(quick.labels_, exact.labels_) > 0.9


def test_small_graphs_are_never_approximated():
    model = E2CP(4, safe=False, approximate=True, random_state=0).fit(X, constraints=knowledge("labels", Y))
    assert model.approximation_error_ == 0.0
    expected = E2CP(4, safe=False, random_state=0).fit(X, constraints=knowledge("labels", Y))
    np.testing.assert_array_equal(model.affinity_matrix_.toarray(), expected.affinity_matrix_.toarray())


def test_many_pairs_are_approximated_and_the_error_is_measured(large, monkeypatch):
    graph, y = large
    known = sample_pairs(y, 1000, random_state=0)
    monkeypatch.setattr(e2cp, "APPROXIMATE_FROM", 1000)
    exact, quick = (
        E2CP(10, safe=False, affinity="precomputed", approximate=approximate, random_state=0).fit(
            graph, constraints=known
        )
        for approximate in (False, True)
    )
    assert exact.approximation_error_ == 0.0
    assert 0.0 < quick.approximation_error_ < 0.3
    assert isinstance(quick.affinity_matrix_, GroupedGraph)
    np.testing.assert_allclose(quick.eigenvalues_, exact.eigenvalues_, atol=2 * quick.approximation_error_)
    agreement = adjusted_rand_score(exact.labels_, quick.labels_)
    assert agreement > 0.75
    assert abs(adjusted_rand_score(y, quick.labels_) - adjusted_rand_score(y, exact.labels_)) < 0.05
    # F itself is exact whenever it is asked for.
    one, other = exact.propagated_constraints_, quick.propagated_constraints_
    np.testing.assert_allclose(one.apply(np.eye(2000)[:, :5]), other.apply(np.eye(2000)[:, :5]))


def test_new_points_join_the_clusters_of_an_approximate_fit(monkeypatch):
    monkeypatch.setattr(e2cp, "APPROXIMATE_FROM", 100)
    model = E2CP(4, safe=False, random_state=0).fit(X, constraints=knowledge("pairs", Y))
    assert isinstance(model.affinity_matrix_, GroupedGraph)
    assert np.mean(model.predict(X) == model.labels_) > 0.9


def test_f_is_not_there_before_a_fit():
    assert not hasattr(E2CP(4), "propagated_constraints_")


def test_approximate_is_yes_no_or_auto():
    with pytest.raises(ValueError, match="approximate='maybe' must be True or False"):
        E2CP(4, safe=False, approximate="maybe").fit(X, constraints=knowledge("pairs", Y))


def test_too_coarse_an_approximation_is_made_exact_or_warned_about(monkeypatch):
    monkeypatch.setattr(e2cp, "APPROXIMATE_FROM", 100)
    monkeypatch.setattr(e2cp, "MAX_ERROR", 0.0)
    known = knowledge("pairs", Y)
    exact, auto = (
        E2CP(4, safe=False, approximate=approximate, random_state=0).fit(X, constraints=known)
        for approximate in (False, "auto")
    )
    assert auto.approximation_error_ == 0.0
    np.testing.assert_array_equal(auto.affinity_matrix_.toarray(), exact.affinity_matrix_.toarray())
    monkeypatch.setattr(e2cp, "WARN_ERROR", 0.0)
    with pytest.warns(ConstraintWarning, match=r"differs from eq. 4 by \d+% of the degrees.*=False"):
        quick = E2CP(4, safe=False, approximate=True, random_state=0).fit(X, constraints=known)
    assert quick.approximation_error_ > 0.0


def test_an_inaccurate_graph_is_made_exact_or_of_more_vectors_and_groups(monkeypatch):
    """Two classes of several blobs, few vectors: an error of .3 shows in the clusters."""
    monkeypatch.setattr(e2cp, "APPROXIMATE_FROM", 500)
    monkeypatch.setattr(grouped, "N_MEASURED_POINTS", 100)
    X, z = make_blobs(600, n_features=6, centers=8, cluster_std=4.0, random_state=0)
    known = sample_pairs(z % 2, 600, random_state=0)
    given = {"safe": False, "random_state": 0}
    exact = E2CP(2, approximate=False, **given).fit(X, constraints=known)
    auto = E2CP(2, **given).fit(X, constraints=known)
    np.testing.assert_array_equal(auto.labels_, exact.labels_)
    assert auto.approximation_error_ == 0.0
    # Where the exact graph costs too much, more vectors come closer.
    monkeypatch.setattr(e2cp, "MAX_EXACT_PRODUCTS", 0)
    finer = E2CP(2, **given).fit(X, constraints=known)
    monkeypatch.setattr(e2cp, "MAX_MEASURED_NODES", 0)
    coarse = E2CP(2, **given).fit(X, constraints=known)
    assert coarse.approximation_error_ > 0.2
    assert 0.0 < finer.approximation_error_ < 0.9 * coarse.approximation_error_


def test_few_labels_in_the_plane_are_solved_by_factorisation():
    # The eigenvalues crowd near zero, and W̃ is not sparse: Lanczos on it would need thousands of products.
    X, y = make_moons(2_500, noise=0.15, random_state=0)
    known = np.full(y.size, -1)
    for k in (0, 1):
        known[np.flatnonzero(y == k)[[5, 600]]] = k
    model = E2CP(2, safe=False, random_state=0).fit(X, constraints=Constraints.from_labels(known))
    assert model.solution_.solver == "shift-invert (sparse factorisation)"
    assert model.solution_.certificate.complete
    W = model.affinity_matrix_.toarray()
    root = np.sqrt(W.sum(axis=1))
    values = scipy.linalg.eigvalsh(np.eye(y.size) - W / root[:, None] / root, subset_by_index=(0, 1))
    np.testing.assert_allclose(model.eigenvalues_[1], values[1], rtol=1e-6)
