"""Two clusters are the sides of a single cut: where it is divided, and how sure the labels are."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import roc_auc_score

from sidecut import SCACS, Constraints
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Landmarks
from sidecut.methods.scacs.cuts import find_division


@pytest.fixture(scope="module")
def moons():
    return make_moons(600, noise=0.15, random_state=0)


@pytest.fixture(scope="module")
def of_one_class(moons):
    """Labels of a third of the points of one class, and nothing about the other."""
    y = moons[1]
    return Constraints.from_labels(np.where((y == 0) & (np.arange(600) % 3 == 0), 0, -1))


def test_confidence_is_lower_where_labels_are_wrong(moons):
    X, y = moons
    known = sample_labels(y, 60, random_state=0)
    model = SCACS(2, random_state=0).fit(X, constraints=known)
    assert model.decision_.kept == "constrained"
    right = model.labels_ == (y if (model.labels_ == y).mean() > 0.5 else 1 - y)
    free = np.setdiff1d(np.arange(600), known.constrained_points)
    assert np.unique(model.confidence_).size > 100
    assert np.delete(model.confidence_, model.contradicted_).min() >= 0.5
    assert roc_auc_score(right[free], model.confidence_[free]) > 0.7


def test_a_label_that_was_repaired_is_as_unsure_as_it_was_sure(moons):
    X, y = moons
    known = sample_labels(y, 120, noise=0.05, random_state=0)
    settings = {"safe": False, "n_landmarks": 100, "random_state": 0}
    soft = SCACS(2, **settings).fit(X, constraints=known)
    hard = SCACS(2, hard=True, **settings).fit(X, constraints=known)
    changed = soft.labels_ != hard.labels_
    assert 0 < changed.sum() < 60
    np.testing.assert_allclose(hard.confidence_[changed], 1.0 - soft.confidence_[changed])
    np.testing.assert_array_equal(hard.confidence_[~changed], soft.confidence_[~changed])


def test_labels_of_one_class_give_two_clusters(moons, of_one_class):
    X, y = moons
    model = SCACS(2, safe=False, random_state=0).fit(X, constraints=of_one_class)
    cut = model.affinity_matrix_.factor @ model.eigenvectors_[:, 0]
    assert (cut > 0).all() or (cut < 0).all()
    assert np.bincount(model.labels_).min() > 100
    assert adjusted_rand_index(y, model.labels_) > 0.5
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_rows_in_chunks_are_divided_at_the_same_place(moons, of_one_class):
    whole, chunks = (SCACS(2, safe=False, n_landmarks=100, random_state=0) for _ in range(2))
    whole.fit(moons[0], constraints=of_one_class)
    chunks.fit_chunks(np.array_split(moons[0], 5), constraints=of_one_class)
    np.testing.assert_array_equal(chunks.labels_, whole.labels_)
    np.testing.assert_array_equal(chunks.cluster_centers_, whole.cluster_centers_)


@pytest.fixture(scope="module")
def graph():
    X = np.random.default_rng(0).normal(size=(120, 2)) + np.repeat([[0.0], [4.0]], [80, 40], axis=0)
    return Landmarks(30, n_nearest=4, random_state=0).build(X)


def test_a_cut_of_both_signs_is_divided_at_zero(graph):
    projection = np.linspace(-1.0, 3.0, graph.n_landmarks)
    assert find_division(graph.sums, projection) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_cut_of_one_sign_is_divided_where_that_costs_least(graph, sign):
    """Against the normalised cut of every division of Z Zᵀ, one by one."""
    projection = sign * np.random.default_rng(1).random(graph.n_landmarks)
    S, D = graph.sums.gram, graph.sums.degrees
    near = S @ projection / D

    def cost(split):
        sides = [near > split, near <= split]
        return sum(S[np.ix_(side, ~side)].sum() / D[side].sum() for side in sides)

    values = np.sort(near)
    splits = (values[1:] + values[:-1]) / 2
    found = find_division(graph.sums, projection)
    assert cost(found) == pytest.approx(min(map(cost, splits)), rel=1e-9)
    points = graph.codes @ projection
    assert points.min() < found < points.max()


def test_of_divisions_without_a_cost_the_most_even_is_taken():
    """Four components of 10, 20, 30 and 40 points, each with another value of the cut."""
    X = np.repeat([[0.0], [100.0], [200.0], [300.0]], [10, 20, 30, 40], axis=0) + np.arange(100)[:, None] % 5
    graph = Landmarks(landmarks=np.arange(0, 100), n_nearest=3).build(X)
    component = np.unique(graph.components, return_inverse=True)[1]
    assert component.max() == 3
    value = np.array([4.0, 3.0, 2.0, 1e-13])
    landmark = np.empty(graph.n_landmarks, dtype=int)
    landmark[graph.codes.indices] = np.repeat(component, np.diff(graph.codes.indptr))
    split = find_division(graph.sums, value[landmark])
    assert np.count_nonzero(value[component] > split) == 60
