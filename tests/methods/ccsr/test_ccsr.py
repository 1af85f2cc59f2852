"""CCSR: the squares against K itself, the programme solved by hand, the estimator."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from sidecut import CCSR, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.labelling import unit_rows
from sidecut.methods import ccsr as ccsr
from sidecut.methods.ccsr import link_squares, point_squares

# The methods themselves are tested here; the guard has tests of its own.
CCSR = partial(CCSR, safe=False)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def squares_as_written(kernel, constraints):
    """Σ_i (K_ii - 1)² and Σ_{i<j} |Q_ij| (K_ij - t_ij)², pair by pair."""
    points = sum((kernel[i, i] - 1.0) ** 2 for i in range(len(kernel)))
    links = sum(
        abs(strength) * (kernel[i, j] - (1.0 if strength > 0 else 0.0)) ** 2
        for (i, j), strength in zip(constraints.pairs, constraints.strengths, strict=True)
    )
    return points, links


def drawn_constraints(rng, kind):
    if kind == "pairs":
        y = rng.integers(0, 3, size=12)
        return sample_pairs(y, 15, random_state=int(rng.integers(100)))
    if kind == "labels":
        return Constraints.from_labels(np.r_[0, 1, rng.integers(-1, 3, size=10)], weight=0.7)
    if kind == "closed":
        return Constraints.from_pairs(12, [(0, 1), (1, 2), (3, 4), (5, 6)], [(2, 3), (4, 7)]).closed()
    beliefs = rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.3)
    return Constraints.from_matrix(beliefs + beliefs.T + np.diag(rng.normal(size=12)) + 1e-3)


@given(
    seed=st.integers(0, 1000),
    size=st.integers(1, 5),
    kind=st.sampled_from(["pairs", "labels", "closed", "any"]),
)
@settings(max_examples=60, deadline=None)
def test_squares_are_those_of_the_kernel(seed, size, kind):
    rng = np.random.default_rng(seed)
    features, root = rng.normal(size=(12, size)), rng.normal(size=(size, size))
    constraints = drawn_constraints(rng, kind)
    matrix = root + root.T
    points, links = squares_as_written(features @ matrix @ features.T, constraints)
    assert point_squares(features).objective(matrix) == pytest.approx(points)
    assert link_squares(features, constraints).objective(matrix) == pytest.approx(links)


def test_points_in_pieces_are_the_same_points(monkeypatch):
    monkeypatch.setattr(ccsr, "MAX_EXACT_POINTS", 20_000)
    features = np.random.default_rng(0).normal(size=(20_000, 3))
    whole = point_squares(features)
    parts = [point_squares(features[:9_000]), point_squares(features[9_000:])]
    np.testing.assert_allclose(whole.hessian, parts[0].hessian + parts[1].hessian)
    np.testing.assert_allclose(whole.linear, parts[0].linear + parts[1].linear)
    assert whole.constant == 20_000


def test_labels_are_not_listed_as_pairs(monkeypatch):
    def refuse(self):
        raise AssertionError("pairs were listed")

    labels = np.random.default_rng(0).integers(0, 3, size=9000)
    constraints = Constraints.from_labels(labels)
    monkeypatch.setattr(Constraints, "_list_pairs", refuse)
    monkeypatch.setattr(Constraints, "as_matrix", refuse)
    features = np.eye(3)[labels]
    assert link_squares(features, constraints).objective(np.eye(3)) == pytest.approx(0.0, abs=1e-3)
    assert link_squares(features, constraints).objective(np.zeros((3, 3))) == constraints.n_must_link


def test_a_programme_solved_by_hand():
    """Two points along two axes and a third between them, linked to the first and kept from the second.

    With f = (1, 0), (0, 1), (1, 1)/√2 and M = [[a, b], [b, c]], the five squares are (a - 1)², (c - 1)²,
    ((a + c)/2 + b - 1)², ((a + b)/√2 - 1)² and ((b + c)/√2)²; setting their derivatives to zero gives a
    linear system, whose solution lies inside the cone.
    """
    features = np.array([[1, 0], [0, 1], [np.sqrt(0.5), np.sqrt(0.5)]])
    links = Constraints.from_pairs(3, must_link=[(0, 2)], cannot_link=[(1, 2)])
    programme = point_squares(features) + link_squares(features, links)
    system = np.array([[1 + 1 / 4 + 1 / 2, 1 / 2 + 1 / 2, 1 / 4], [1, 2, 1], [1 / 4, 1, 1 + 1 / 4 + 1 / 2]])
    a, b, c = np.linalg.solve(system, [1 + 1 / 2 + np.sqrt(0.5), 1 + np.sqrt(0.5), 1 + 1 / 2])
    by_hand = np.array([[a, b], [b, c]])
    assert np.linalg.eigvalsh(by_hand)[0] > 0.1
    np.testing.assert_allclose(programme.solve().matrix, by_hand, atol=1e-7)


def test_links_that_the_eigenvectors_can_satisfy_are_satisfied_exactly():
    """Four groups at the axes of the plane; links join opposite ones: K must be 1 within the new groups."""
    features = np.repeat([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], 5, axis=0)
    links = Constraints.from_pairs(
        20, must_link=[(0, 5), (10, 15)], cannot_link=[(0, 10), (5, 10), (0, 15), (5, 15)]
    )
    matrix = (point_squares(features) + link_squares(features, links)).solve().matrix
    np.testing.assert_allclose(matrix, np.kron(np.eye(2), np.ones((2, 2))), atol=1e-4)


def test_the_embedding_is_the_root_of_the_kernel(iris):
    X, y = iris
    known = sample_labels(y, 20, random_state=0)
    model = CCSR(3, safe=False, unit_rows=False, random_state=0).fit(X, constraints=known)
    features = np.sqrt(150) * model.eigenvectors_
    kernel = features @ model.programme_.matrix @ features.T
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, kernel, atol=1e-8)
    points, links = squares_as_written(kernel, known)
    mean = (points + links) / (150 + known.n_pairs)
    # What is left of the objective is the pull of the ridge towards the normalised cut.
    squares = (point_squares(features) + link_squares(features, known)).scaled(1 / (150 + known.n_pairs))
    pull = model.ridge * np.trace(squares.hessian) / squares.linear.size
    cut = np.diag((np.arange(features.shape[1]) < 3).astype(float))
    away = np.linalg.norm(model.programme_.matrix - cut) ** 2
    assert model.programme_.objective == pytest.approx(mean + pull * away)


def test_unit_rows_before_and_after(iris):
    X, y = iris
    model = CCSR(3, safe=False, random_state=0).fit(X, constraints=sample_labels(y, 20, random_state=0))
    values, vectors = np.linalg.eigh(model.programme_.matrix)
    adapted = unit_rows(model.eigenvectors_) @ (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    np.testing.assert_allclose(model.embedding_, unit_rows(adapted), atol=1e-7)


def test_the_programme_of_the_model_is_solved_to_the_minimum(iris):
    X, y = iris
    known = sample_pairs(y, 40, random_state=0)
    model = CCSR(3, safe=False, ridge=0.0, n_eigenvectors=5, random_state=0).fit(X, constraints=known)
    features = unit_rows(model.eigenvectors_)
    squares = point_squares(features) + link_squares(features, known)
    matrix = model.programme_.matrix
    gradient = squares.gradient(matrix) / (150 + known.n_pairs)
    assert np.linalg.eigvalsh(gradient)[0] > -1e-6
    assert abs(np.trace(gradient @ matrix)) < 1e-6
    assert model.programme_.objective == pytest.approx(squares.objective(matrix) / (150 + known.n_pairs))
    assert model.programme_.status == "Solved"


def test_a_strong_ridge_is_the_normalized_cut(iris):
    X, y = iris
    model = CCSR(3, safe=False, ridge=1e8, random_state=0).fit(
        X, constraints=sample_labels(y, 20, random_state=0)
    )
    cut = NormalizedCut(3, random_state=0).fit(X)
    np.testing.assert_allclose(model.embedding_[:, :3], cut.embedding_, atol=1e-3)
    np.testing.assert_allclose(model.embedding_[:, 3:], 0, atol=0.02)
    np.testing.assert_array_equal(model.labels_, cut.labels_)


def test_a_point_labelled_alone_says_nothing(iris):
    """One label is no pair: it is the normalised cut, and nothing is left of an earlier programme."""
    X, y = iris
    lone = np.where(np.arange(150) == 7, y, -1)
    model = CCSR(3, safe=False, random_state=0).fit(X, constraints=sample_labels(y, 20, random_state=0))
    model.fit(X, constraints=Constraints.from_labels(lone))
    cut = NormalizedCut(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.embedding_, cut.embedding_)
    np.testing.assert_array_equal(model.labels_, cut.labels_)
    assert not hasattr(model, "programme_")


def test_links_reach_points_that_are_not_linked():
    X, y = load_digits(return_X_y=True)
    known = sample_labels(y, 60, random_state=0)
    others = known.labels < 0
    told = CCSR(10, safe=False, random_state=0).fit(X, constraints=known).labels_
    alone = NormalizedCut(10, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y[others], told[others]) > adjusted_rand_score(y[others], alone[others]) + 0.05


def test_both_kinds_of_link_matter(iris):
    X, y = iris
    both = sample_pairs(y, 300, random_state=0)
    alone = adjusted_rand_score(y, NormalizedCut(3, random_state=0).fit_predict(X))
    for links in (
        Constraints.from_pairs(150, cannot_link=both.cannot_link),
        Constraints.from_pairs(150, must_link=both.must_link),
        both,
    ):
        model = CCSR(3, safe=False, n_eigenvectors=15, random_state=0).fit(X, constraints=links)
        assert adjusted_rand_score(y, model.labels_) > alone


def test_contradictions_are_weighed():
    """K_01 is asked to be 1 with weight 3 and 0 with weight 1; beliefs of one pair add before they count."""
    features = np.eye(2)
    links = Constraints.from_pairs(2, [(0, 1)], [(0, 1)], must_weight=3.0, on_conflict="weigh")
    assert link_squares(features, links).objective(np.zeros((2, 2))) == pytest.approx(2.0)


@pytest.mark.parametrize("n_eigenvectors", [0, -1, 2.0, "3", True])
def test_numbers_of_eigenvectors_that_are_none(iris, n_eigenvectors):
    with pytest.raises(ValueError, match=r"n_eigenvectors=.* must be a whole number"):
        CCSR(3, n_eigenvectors=n_eigenvectors).fit(iris[0])


def test_more_eigenvectors_than_points(iris):
    X, y = iris
    with pytest.raises(ValueError, match="n_eigenvectors=200 is more than the n_samples=150"):
        CCSR(3, safe=False, n_eigenvectors=200).fit(X, constraints=sample_labels(y, 9, random_state=0))


@pytest.mark.parametrize("ridge", [-1, np.nan, np.inf, "0.1", None, True])
def test_ridges_that_are_none(iris, ridge):
    with pytest.raises(ValueError, match=r"ridge=.* must be a finite number, not negative"):
        CCSR(3, ridge=ridge).fit(iris[0])


def test_many_clusters():
    """Fifty clusters are a matrix of 55 rows and 1,540 unknowns: gradients, not an interior point."""
    points, classes = make_blobs(100, centers=10, random_state=0)
    known = sample_pairs(classes, 29, random_state=0)
    model = CCSR(50, safe=False, random_state=0).fit(points, constraints=known)
    assert model.programme_.matrix.shape == (55, 55)
    assert model.programme_.status == "Solved"
    assert model.programme_.stationarity < 1e-8


@pytest.mark.parametrize("kind", ["labels", "pairs"])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_the_programme_that_is_not_formed_is_the_same(monkeypatch, kind, ridge):
    rng = np.random.default_rng(0)
    n, m, k = 90, 7, 4
    features = rng.normal(size=(n, m))
    y = rng.integers(k, size=n)
    known = sample_labels(y, 25, random_state=0) if kind == "labels" else sample_pairs(y, 40, random_state=0)
    model = CCSR(k, ridge=ridge)
    formed = model._programme(features, known, model.n_clusters)
    monkeypatch.setattr(ccsr, "MAX_FORMED_ROWS", m - 1)
    factored = model._programme(features, known, model.n_clusters)
    for matrix in (np.eye(m), rng.normal(size=(m, m))):
        matrix = matrix + matrix.T
        assert factored.objective(matrix) == pytest.approx(formed.objective(matrix), rel=1e-10)
        np.testing.assert_allclose(factored.gradient(matrix), formed.gradient(matrix), atol=1e-10)
    by_gradients = factored._solve_by_gradients()
    assert by_gradients.objective == pytest.approx(formed.solve().objective, rel=1e-6)


def test_nearly_as_many_clusters_as_points_take_little_memory():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.integers(120, size=150)
    known = sample_pairs(y, 30, random_state=0)
    tracemalloc.start()
    model = CCSR(120, safe=False, n_neighbors=10, random_state=0).fit(X, constraints=known)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.eigenvectors_.shape == (150, 125)
    # The matrix of the programme would have 7,875² entries, 496 MB.
    assert peak < 50e6


def test_the_squares_of_many_points_are_right_to_single_precision(monkeypatch):
    features = np.random.default_rng(0).standard_normal((500, 6))
    exact = point_squares(features)
    monkeypatch.setattr(ccsr, "MAX_EXACT_POINTS", 100)
    rough = point_squares(features)
    for matrix in (np.eye(6), np.diag(np.arange(6.0))):
        assert rough.objective(matrix) == pytest.approx(exact.objective(matrix), rel=1e-5)
        assert rough.objective(matrix) != exact.objective(matrix)
