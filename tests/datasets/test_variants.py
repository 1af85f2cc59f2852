import numpy as np
import pytest

from sidecut.datasets import Dataset, load
from sidecut.datasets.dataset import first_of_each, variant


def toy(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    y = np.random.default_rng(0).permutation(y)
    return Dataset("toy", np.arange(len(y), dtype=float)[:, None], y, "Toy.")


def test_the_papers_subsets_have_the_papers_sizes():
    iris, wine = load("iris/without-setosa"), load("wine/without-class-3")
    assert (iris.n_samples, iris.n_classes) == (100, 2)
    assert (wine.n_samples, wine.n_classes) == (130, 2)
    np.testing.assert_array_equal(iris.X, load("iris").X[50:])
    np.testing.assert_array_equal(wine.y, load("wine").y[:130])


def test_first_of_each_takes_the_first_in_the_order_of_the_file():
    data = toy([5, 9, 7])
    chosen = first_of_each(data.y, 6)
    for c, count in enumerate([5, 6, 6]):
        members = np.flatnonzero(data.y == c)
        np.testing.assert_array_equal(np.flatnonzero(chosen & (data.y == c)), members[:count])


@pytest.mark.parametrize(("number", "counts"), [(12, [4, 4, 4]), (13, [5, 4, 4]), (14, [5, 5, 4])])
def test_even_shares(number, counts):
    part = variant(toy([9, 9, 9]), f"even-{number}")
    assert sorted(np.bincount(part.y).tolist(), reverse=True) == counts


def test_pairs_and_first_classes():
    data = toy([4, 5, 6])
    pair = variant(data, "0-2")
    np.testing.assert_array_equal(pair.X.ravel(), np.flatnonzero(data.y != 1))
    np.testing.assert_array_equal(pair.y, (data.y[data.y != 1] == 2).astype(int))
    assert variant(data, "classes-2").n_samples == 9
    with pytest.raises(ValueError, match=r"names classes \[0, 5\], but there are the classes 0 to 2"):
        variant(data, "0-5")
