"""No estimator reads y, and none ignores knowledge there: labels are given as constraints."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import sidecut
from sidecut import Constraints
from sidecut.exceptions import ConstraintError

X, TRUTH = make_blobs(40, centers=3, random_state=0)
ESTIMATORS = [name for name in sidecut.__all__ if hasattr(getattr(sidecut, name), "fit")]
PARTIAL = np.where(np.arange(40) < 5, TRUTH, -1)


def make(name):
    return getattr(sidecut, name)(n_clusters=3, random_state=0)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("call", ["fit", "fit_predict"])
def test_constraints_by_position_are_refused(name, call):
    with pytest.raises(ConstraintError, match=r"by position.*constraints="):
        getattr(make(name), call)(X, Constraints.from_labels(PARTIAL))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("call", ["fit", "fit_predict"])
def test_partial_labels_in_y_are_refused_with_the_right_line(name, call):
    with pytest.raises(ConstraintError, match=rf"write {name}\(\.\.\.\)\.fit\(X, constraints=y\)"):
        getattr(make(name), call)(X, PARTIAL)


@pytest.mark.parametrize(
    ("y", "partial"),
    [
        (PARTIAL, True),
        (PARTIAL.astype(float), True),
        (np.where(PARTIAL < 0, np.nan, PARTIAL), True),
        (["a", None, "b"] + ["a"] * 37, True),
        (TRUTH, False),
        (np.where(TRUTH == 0, -1, 1), False),
        (np.linspace(-1, 1, 40), False),
        ([["a"]] * 40, False),
        (None, False),
    ],
)
def test_what_counts_as_partial_labels(y, partial):
    from sidecut.methods.task import check_y

    if partial:
        with pytest.raises(ConstraintError):
            check_y(y, make("CSP"))
    else:
        check_y(y, make("CSP"))
