import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.spectral import Certificate
from sidecut.spectral.laplacian import orient


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 4))
def test_orientation_flips_columns_only_and_only_once(seed, n, k):
    vectors = np.random.default_rng(seed).standard_normal((n, k))
    flipped = orient(vectors)
    np.testing.assert_array_equal(np.abs(flipped), np.abs(vectors))
    np.testing.assert_array_equal(orient(-vectors), flipped)
    np.testing.assert_array_equal(orient(flipped), flipped)
    assert np.all(flipped.max(axis=0) >= np.abs(flipped.min(axis=0)))


def test_zero_columns_stay_zero():
    np.testing.assert_array_equal(orient(np.zeros((3, 2))), np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("complete", "chance", "proof"), [(True, 0.0, True), (True, 1e-8, False), (False, 0.0, False)]
)
def test_a_proof_is_complete_and_does_not_rest_on_chance(complete, chance, proof):
    certificate = Certificate("inertia", 1.0, chance, complete, "words")
    assert certificate.is_proof is proof
    assert str(certificate) == "words"
