"""Features made comparable, and the metric that must-links teach."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from sidecut import Constraints
from sidecut.constraints import sample_labels
from sidecut.selection.views import MustLinkMetric, NumericColumns, ScaledColumns, find_categories, list_views

RNG = np.random.default_rng(0)
COLOUR = np.eye(3)[RNG.integers(0, 3, 60)]
NUMBERS = RNG.normal(size=(60, 2)) * [1.0, 50.0]
TABLE = np.column_stack([NUMBERS, COLOUR, RNG.integers(0, 2, 60)])


def test_columns_of_one_category_are_found_and_others_are_not():
    assert [columns.tolist() for columns in find_categories(TABLE)] == [[2, 3, 4]]
    both = np.column_stack([COLOUR, np.eye(4)[RNG.integers(0, 4, 60)]])
    assert [columns.tolist() for columns in find_categories(both)] == [[0, 1, 2], [3, 4, 5, 6]]
    assert find_categories(NUMBERS) == []
    assert find_categories(RNG.integers(0, 2, (60, 4)).astype(float)) == []


def test_a_category_weighs_as_one_feature():
    variances = ScaledColumns().fit_transform(TABLE).var(axis=0)
    np.testing.assert_allclose(variances[[0, 1, 5]], 1.0)
    assert variances[2:5].sum() == pytest.approx(1.0)
    assert NumericColumns().fit_transform(TABLE).shape == (60, 3)


def test_the_metric_is_the_inverse_root_of_what_linked_points_differ_by():
    """Against the formula with matrices."""
    y = RNG.integers(0, 3, 60)
    X = RNG.normal(size=(60, 4)) * [1, 2, 3, 4]
    known = sample_labels(y, 24, random_state=0)
    labels = np.asarray(known.labels)
    within = np.zeros((4, 4))
    for name in range(3):
        rows = X[labels == name]
        within += (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0))
    usual = 4 * X.var(axis=0).mean()
    values, vectors = np.linalg.eigh(within + usual * np.eye(4))
    expected = X @ (vectors * np.sqrt(usual / values)) @ vectors.T
    np.testing.assert_allclose(MustLinkMetric(known).fit_transform(X), expected, atol=1e-10)


def test_without_must_links_nothing_changes():
    known = Constraints.from_pairs(60, cannot_link=[(0, 1)])
    np.testing.assert_array_equal(MustLinkMetric(known).fit_transform(TABLE), TABLE)
    assert clone(MustLinkMetric(known)).constraints == known


def test_the_graphs_are_those_of_the_forms_there_are():
    assert [view.form for view in list_views(TABLE)] == ["raw", "columns", "numeric", "scaled"]
    assert [view.form for view in list_views(COLOUR)] == ["raw", "columns", "scaled"]
    assert [view.form for view in list_views(NUMBERS / NUMBERS.std(axis=0))] == ["raw"]
    assert [view.form for view in list_views(sp.csr_array(TABLE))] == ["words", "angles"]


def test_columns_that_are_nearly_all_zero_encode_no_category():
    # Pixels at the border of pictures: each is not 0 in one picture.
    border = np.zeros((60, 3))
    border[[1, 2, 3], [0, 1, 2]] = 1.0
    assert find_categories(np.column_stack([NUMBERS[:60], border])) == []
