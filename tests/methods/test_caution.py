"""What `safe=True` keeps and what it follows."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import E2CP, NCSC, Constraints
from sidecut.exceptions import ConstraintWarning

X, Y = make_blobs(90, n_features=3, centers=3, cluster_std=4.0, random_state=4)


@pytest.mark.parametrize("method", [E2CP, NCSC])
def test_what_is_satisfied_anyway_changes_nothing(method):
    alone = method(3, random_state=0).fit(X)
    i, j = np.flatnonzero(alone.labels_ == alone.labels_[0])[:2]
    known = Constraints.from_pairs(90, must_link=[(i, j)])
    model = method(3, random_state=0).fit(X, constraints=known)
    assert model.judgement_.choice == "graph"
    np.testing.assert_array_equal(model.labels_, alone.labels_)
    np.testing.assert_array_equal(model.confidence_, alone.confidence_)


def test_one_link_decides_nothing_unless_it_is_hard():
    alone = E2CP(3, random_state=0).fit(X).labels_
    i, j = 0, np.flatnonzero(alone != alone[0])[0]
    known = Constraints.from_pairs(90, must_link=[(i, j)])
    with pytest.warns(ConstraintWarning, match="about 2 points is too little"):
        kept = E2CP(3, random_state=0).fit(X, constraints=known)
    np.testing.assert_array_equal(kept.labels_, alone)
    hard = E2CP(3, hard=True, random_state=0).fit(X, constraints=known)
    assert hard.labels_[i] == hard.labels_[j]
