import numpy as np
import pytest

from sidecut.datasets import make_example, two_moons


@pytest.mark.parametrize(
    ("name", "shape", "class_sizes"),
    [
        ("moons", (400, 2), [200, 200]),
        ("digits", (1797, 64), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
        ("iris", (150, 4), [50, 50, 50]),
        ("wine", (178, 13), [59, 71, 48]),
    ],
)
def test_examples_are_what_their_sources_say(name, shape, class_sizes):
    data = make_example(name)
    assert data.X.shape == shape
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(np.bincount(data.y), class_sizes)
    assert data.name == name


def test_standardised_features_have_mean_zero_and_variance_one():
    X = make_example("wine", standardize=True).X
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1, atol=1e-12)


def test_unknown_example_lists_the_known():
    with pytest.raises(ValueError, match="'moons', 'digits', 'iris', 'wine'"):
        make_example("mnist")


def test_noiseless_moons_lie_on_their_half_circles():
    data = two_moons(50, noise=0.0, random_state=3)
    centres = np.array([[0.0, 0.0], [1.0, 0.5]])
    np.testing.assert_allclose(np.linalg.norm(data.X - centres[data.y], axis=1), 1)
    side = np.where(data.y == 0, 1, -1)
    assert np.all(side * (data.X - centres[data.y])[:, 1] >= -1e-15)


def test_noise_has_the_standard_deviation_asked_for():
    clean = two_moons(4000, noise=0.0, random_state=0)
    noisy = two_moons(4000, noise=0.3, random_state=0)
    np.testing.assert_array_equal(clean.y, noisy.y)
    np.testing.assert_allclose((noisy.X - clean.X).std(axis=0), 0.3, rtol=0.05)


def test_seed_decides():
    np.testing.assert_array_equal(two_moons(random_state=1).X, two_moons(random_state=1).X)
    assert not np.array_equal(two_moons(random_state=1).X, two_moons(random_state=2).X)


@pytest.mark.parametrize(
    ("arguments", "word"), [({"n_samples": 1}, "n_samples=1"), ({"noise": -0.1}, "noise=-0.1")]
)
def test_bad_arguments_are_named(arguments, word):
    with pytest.raises(ValueError, match=word):
        two_moons(**arguments)
