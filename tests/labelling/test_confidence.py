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
from sidecut.graphs import GaussianGraph, as_graph
from sidecut.labelling import measure_confidence
from sidecut.labelling.labels import measure_agreement, measure_margins


def test_margins_by_hand():
    rows = np.array([[0.0, 0.0], [0.0, 2.0], [6.0, 1.0], [6.0, 1.0]])
    labels = np.array([0, 0, 1, 1])
    # The centres are (0, 1) and (6, 1).
    expected = [1 - 1 / np.sqrt(37), 1 - 1 / np.sqrt(37), 1.0, 1.0]
    np.testing.assert_allclose(measure_margins(rows, labels), expected)
    np.testing.assert_allclose(measure_margins(sp.csr_array(rows), labels), expected)


def test_a_row_nearer_to_another_centre_is_not_sure_at_all():
    rows = np.array([[0.0], [0.0], [9.0], [9.0], [9.0], [0.0]])
    assert measure_margins(rows, np.array([0, 0, 1, 1, 1, 1]))[-1] == 0.0


def test_agreement_by_hand():
    graph = as_graph(np.array([[0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=float))
    np.testing.assert_allclose(measure_agreement(graph, np.array([0, 0, 1, 1])), [0.75, 1.0, 0.0, 0.0])


def test_the_two_views_are_averaged_and_a_lazy_graph_is_left_out():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(20, 2)), np.repeat([0, 1], 10)
    lazy = GaussianGraph(rows, 1.0)
    dense = as_graph(lazy.toarray())
    mean = (measure_margins(rows, labels) + measure_agreement(dense, labels)) / 2
    np.testing.assert_allclose(measure_confidence(labels, rows, dense), mean)
    np.testing.assert_allclose(measure_confidence(labels, rows, lazy), measure_margins(rows, labels))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_scale_of_the_rows_does_not_matter(scale):
    rows, labels = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    np.testing.assert_allclose(measure_margins(scale * rows, labels), measure_margins(rows, labels))


def test_one_cluster_is_sure():
    assert measure_confidence(np.zeros(3, dtype=int), np.ones((3, 1))).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("estimator", [CSP, E2CP, NCSC])
def test_the_least_sure_tenth_holds_three_times_its_share_of_the_errors(estimator):
    lifts = [_lift(estimator, load) for load in (load_iris, load_breast_cancer, load_digits)]
    assert np.mean(lifts) >= 3
    # Where a whole class is put into the wrong cluster, its points look sure: never less than twice, though.
    assert min(lifts) >= 2


def _lift(estimator, load):
    """How many times its share of the errors the least sure tenth of the points holds."""
    X, y = load(return_X_y=True)
    X = X if load is load_digits else StandardScaler().fit_transform(X)
    known = sample_labels(y, max(20, len(y) // 30), random_state=0)
    model = estimator(len(set(y)), random_state=0).fit(X, constraints=known)
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
