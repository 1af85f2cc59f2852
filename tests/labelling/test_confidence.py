"""How sure a label is."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import StandardScaler

from sidecut import CSP, E2CP, NCSC
from sidecut.constraints import sample_labels
from sidecut.graphs import GaussianGraph, SparseGraph, as_graph
from sidecut.labelling import measure_confidence
from sidecut.labelling.confidence import walk_chances


def test_nearness_by_hand():
    rows = np.array([[0.0, 0.0], [0.0, 2.0], [6.0, 1.0], [6.0, 1.0]])
    labels = np.array([0, 0, 1, 1])
    # The centres are (0, 1) and (6, 1).
    near = np.sqrt(37) / (1 + np.sqrt(37))
    np.testing.assert_allclose(measure_confidence(labels, rows), [near, near, 1.0, 1.0])
    np.testing.assert_allclose(measure_confidence(labels, sp.csr_array(rows)), [near, near, 1.0, 1.0])


def test_a_row_nearer_to_another_centre_is_below_one_half():
    rows = np.array([[0.0], [0.0], [8.0], [8.0], [8.0], [0.0]])
    # The centres are 0 and 6.
    assert measure_confidence(np.array([0, 0, 1, 1, 1, 1]), rows)[-1] == pytest.approx(0.0, abs=1e-9)


def test_the_walk_is_a_power_of_the_transition_matrix():
    rng = np.random.default_rng(0)
    weights = rng.random((12, 12))
    weights = weights + weights.T
    labels = rng.integers(0, 3, size=12)
    steps = weights / weights.sum(axis=1, keepdims=True)
    expected = np.linalg.matrix_power(steps, 2) @ np.eye(3)[labels]
    np.testing.assert_allclose(walk_chances(as_graph(weights), labels), expected)


def test_confidence_on_a_graph_by_hand():
    graph = as_graph(np.array([[0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=float))
    # Two steps from 0 come back to 0; from 1 and 2 they lead to 1 (3/4) or 2 (1/4); nothing is linked to 3.
    np.testing.assert_allclose(
        measure_confidence(np.array([0, 0, 1, 1]), graph=graph), [1.0, 0.75, 0.25, 0.5]
    )


def test_negative_weights_speak_against_a_cluster():
    weights = np.ones((4, 4))
    weights[0, 3] = weights[3, 0] = -0.9
    graph = SparseGraph(sp.csr_array(weights))
    sure = measure_confidence(np.array([0, 0, 0, 1]), graph=graph)
    assert np.all((sure >= 0) & (sure <= 1))


def test_the_best_other_cluster_counts_alone():
    graph = as_graph(np.kron(np.eye(1), np.ones((6, 6))))
    # Half of the weight leads to cluster 0, a third to 1, a sixth to 2.
    labels = np.array([0, 0, 0, 1, 1, 2])
    expected = [0.6, 0.6, 0.6, 0.4, 0.4, 0.25]
    np.testing.assert_allclose(measure_confidence(labels, graph=graph), expected)


def test_a_lazy_graph_is_left_out():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(20, 2)), np.repeat([0, 1], 10)
    lazy = GaussianGraph(rows, 1.0)
    np.testing.assert_allclose(measure_confidence(labels, rows, lazy), measure_confidence(labels, rows))
    dense = as_graph(lazy.toarray())
    np.testing.assert_allclose(
        measure_confidence(labels, rows, dense), measure_confidence(labels, graph=dense)
    )


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_scale_of_the_rows_does_not_matter(scale):
    rows, labels = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    np.testing.assert_allclose(measure_confidence(labels, scale * rows), measure_confidence(labels, rows))


def test_one_cluster_is_sure():
    assert measure_confidence(np.zeros(3, dtype=int), np.ones((3, 1))).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("estimator", [CSP, E2CP, NCSC])
def test_the_least_sure_tenth_holds_three_times_its_share_of_the_errors(estimator):
    lifts = [_lift(estimator, load) for load in (load_iris, load_breast_cancer, load_digits)]
    assert np.mean(lifts) >= 3
    # Where a whole class is put into the wrong cluster, its points look sure: never much less than twice.
    assert min(lifts) >= 1.9


def _lift(estimator, load):
    """How many times its share of the errors the least sure tenth of the points holds."""
    X, y = load(return_X_y=True)
    X = X if load is load_digits else StandardScaler().fit_transform(X)
    known = sample_labels(y, max(20, len(y) // 30), random_state=0)
    model = estimator(len(set(y)), safe=False, random_state=0).fit(X, constraints=known)
    free = np.setdiff1d(np.arange(len(y)), known.constrained_points)
    wrong = _errors(y, model.labels_)[free]
    least = np.argsort(model.confidence_[free], kind="stable")[: len(free) // 10]
    return wrong[least].mean() / wrong.mean()


def _errors(y, labels):
    table = confusion_matrix(y, labels)
    classes, clusters = linear_sum_assignment(-table)
    named = np.full(table.shape[1], -1)
    named[clusters] = classes
    return named[labels] != y
