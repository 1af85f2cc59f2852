import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidecut.constraints.spectrum as spectrum_module
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError

quick = settings(deadline=None, max_examples=50)
ANY = st.from_type(Constraints)


def scaled_matrix(c, scale):
    return scale[:, None] * c.as_matrix().toarray() * scale


@quick
@given(ANY, st.integers(0, 1000), st.booleans())
def test_the_spectrum_rebuilds_the_matrix_with_orthonormal_vectors(c, seed, flat):
    scale = np.ones(c.n_samples) if flat else np.random.default_rng(seed).uniform(0.2, 2, c.n_samples)
    spectrum = c.spectrum(None if flat else scale)
    V = spectrum.embedded().toarray()
    np.testing.assert_allclose((V * spectrum.values) @ V.T, scaled_matrix(c, scale), atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
    assert np.all(np.diff(spectrum.values) <= 0)
    np.testing.assert_array_equal(V[spectrum.points], spectrum.toarray())


@quick
@given(ANY, st.integers(0, 1000), st.sampled_from([0.0, 0.3, 1.05]))
def test_the_positive_spectrum_is_the_part_beyond_the_threshold(c, seed, threshold):
    scale = np.random.default_rng(seed).uniform(0.2, 2, c.n_samples)
    expected = np.linalg.eigvalsh(scaled_matrix(c, scale))[::-1]
    found = c.positive_spectrum(scale, threshold).values
    np.testing.assert_allclose(found, expected[expected > max(threshold, 1e-12)], atol=1e-12)


@quick
@given(ANY)
def test_the_factors_rebuild_the_matrix(c):
    F, G = c.factored(max_rank=c.n_samples)
    np.testing.assert_allclose(F @ G @ F.T, c.as_matrix().toarray(), atol=1e-12)
    np.testing.assert_allclose((F.T @ F).toarray(), np.eye(len(G)), atol=1e-12)
    np.testing.assert_allclose(G, G.T, atol=1e-12)
    assert len(G) == 0 or c.factored(max_rank=len(G) - 1) is None


def test_labels_have_as_many_factors_as_classes():
    y = np.random.default_rng(1).integers(0, 4, 300)
    F, G = Constraints.from_labels(y).factored(max_rank=4)
    assert F.shape == (300, 4)
    np.testing.assert_allclose(np.sign(F @ G @ F.T), 2.0 * (y[:, None] == y) - 1)


def test_labels_become_a_problem_as_large_as_the_number_of_classes():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 300)
    scale = rng.uniform(0.5, 1.5, 300)
    c = Constraints.from_labels(y)
    Q = 2.0 * (y[:, None] == y) - 1
    expected = np.linalg.eigvalsh(scale[:, None] * Q * scale)[::-1]
    spectrum = c.positive_spectrum(scale)
    np.testing.assert_allclose(spectrum.values, expected[: len(spectrum.values)], rtol=1e-10)
    assert len(spectrum.values) == np.sum(expected > 1e-9)
    np.testing.assert_allclose(
        scale[:, None] * (Q @ (scale[:, None] * spectrum.toarray())),
        spectrum.toarray() * spectrum.values,
        atol=1e-10,
    )


def test_many_small_blocks_have_sparse_vectors():
    pairs = np.arange(20_000).reshape(-1, 2)
    spectrum = Constraints.from_pairs(30_000, must_link=pairs).positive_spectrum()
    np.testing.assert_allclose(spectrum.values, 1.0)
    assert spectrum.vectors.nnz == 20_000
    assert spectrum.embedded().shape == (30_000, 10_000)


def test_labels_with_a_few_links_stay_small():
    rng = np.random.default_rng(2)
    y = np.append(rng.integers(0, 3, 20_000), np.full(100, -1))
    links = np.column_stack([rng.choice(20_000, 100, replace=False), 20_000 + np.arange(100)])
    c = Constraints.from_labels(y) | Constraints.from_pairs(20_100, must_link=links)
    spectrum = c.positive_spectrum()
    V = spectrum.embedded().toarray()
    # Two directions of the classes, and one for each linked pair.
    assert V.shape[1] == 102
    np.testing.assert_allclose(c.apply(V), V * spectrum.values, atol=1e-8)
    np.testing.assert_allclose(V.T @ V, np.eye(102), atol=1e-12)


def test_constant_scale_of_zero_leaves_nothing():
    c = Constraints.from_labels([0, 0, 1, 1])
    assert len(c.spectrum(np.zeros(4)).values) == 0
    np.testing.assert_allclose(c.spectrum([1, 1, 0, 0]).values, [2.0])


def test_no_constraints_have_no_spectrum():
    spectrum = Constraints.none(5).positive_spectrum()
    assert spectrum.values.shape == (0,)
    assert spectrum.embedded().shape == (5, 0)


def test_largest_values_only():
    c = Constraints.from_labels([0, 0, 0, 1, 1, 2, 3, 3])
    np.testing.assert_array_equal(c.positive_spectrum(n_largest=2).values, c.positive_spectrum().values[:2])


def test_beyond_the_dense_limit_the_leading_vectors_are_iterated(monkeypatch):
    rng = np.random.default_rng(3)
    A = np.triu(rng.random((60, 60)) < 0.1, 1) * rng.uniform(0.5, 2, (60, 60))
    c = Constraints.from_labels(np.append(rng.integers(0, 3, 40), np.full(20, -1)))
    c = c.merged_with(Constraints.from_matrix(A + A.T), on_conflict="weigh")
    exact = c.positive_spectrum(n_largest=4)
    monkeypatch.setattr(spectrum_module, "MAX_DENSE", 20)
    with pytest.raises(ConstraintError, match="pass n_largest"):
        c.positive_spectrum()
    iterated = c.positive_spectrum(n_largest=4)
    np.testing.assert_allclose(iterated.values, exact.values, rtol=1e-10)
    overlap = np.abs(np.sum(iterated.toarray() * exact.toarray(), axis=0))
    np.testing.assert_allclose(overlap, 1.0, rtol=1e-8)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\)"),
        ([1.0, -1.0, 1.0], r"scale\[1\] = -1\.0"),
        ([1, 1, np.nan], r"scale\[2\] = nan"),
    ],
)
def test_wrong_scales_are_named(scale, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_labels([0, 1, 1]).spectrum(scale)


@pytest.mark.parametrize(("name", "value"), [("threshold", -1), ("threshold", np.nan), ("n_largest", 0)])
def test_wrong_limits_are_refused(name, value):
    with pytest.raises(ConstraintError, match=f"{name} = {value}"):
        Constraints.none(3).positive_spectrum(**{name: value})


def test_leading_vectors_that_are_wanted_roughly_are_found_in_single_precision(monkeypatch):
    monkeypatch.setattr(spectrum_module, "MAX_DENSE_FOR_FEW", 10)
    rng = np.random.default_rng(0)
    pairs = rng.choice(400, size=(300, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    known = Constraints.from_pairs(400, cannot_link=np.unique(np.sort(pairs, axis=1), axis=0))
    scale = rng.uniform(0.5, 1.5, 400)
    exact = np.linalg.eigvalsh(scaled_matrix(known, scale))[::-1][:5]
    rough = known.positive_spectrum(scale, n_largest=5, tolerance=0.01)
    # Never too large but for rounding, and not by more than a hundredth too small.
    assert np.all(rough.values <= exact + 1e-5)
    np.testing.assert_allclose(rough.values, exact, rtol=0.011)
    vectors = rough.embedded().toarray()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-5)
    fine = known.positive_spectrum(scale, n_largest=5, tolerance=1e-9)
    np.testing.assert_allclose(fine.values, exact, rtol=1e-8)
