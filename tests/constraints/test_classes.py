import copy
import pickle
import warnings

import numpy as np
import pytest

import sidecut
from sidecut import Constraints
from sidecut.exceptions import ConstraintWarning

KNOWN = Constraints.from_labels(["cat", None, "dog", "cat", None])


def classes(constraints):
    return None if constraints.known_classes is None else constraints.known_classes.tolist()


def test_names_are_kept_wherever_the_knowledge_is():
    expected = ["cat", None, "dog", "cat", None]
    same = (KNOWN, KNOWN.closed(), KNOWN.scaled(2.0), KNOWN.with_diagonal(0), KNOWN.must_part())
    for constraints in (
        *same,
        KNOWN.without_conflicts(),
        copy.deepcopy(KNOWN),
        pickle.loads(pickle.dumps(KNOWN)),
    ):
        assert classes(constraints) == expected


def test_names_follow_their_rows():
    assert classes(KNOWN.restricted_to([3, 1, 2])) == ["cat", None, "dog"]
    assert classes(KNOWN.restricted_to([1, 4])) is None
    assert classes(KNOWN.permuted([4, 3, 2, 1, 0])) == [None, "cat", "dog", None, "cat"]


def test_names_of_two_are_united_and_links_have_none():
    more = Constraints.from_labels([None, "cow", "dog", None, None])
    assert classes(KNOWN | more) == ["cat", "cow", "dog", "cat", None]
    links = Constraints.from_pairs(5, must_link=[(1, 2)])
    assert classes(links) is None
    assert classes(links | KNOWN) == classes(KNOWN | links) == ["cat", None, "dog", "cat", None]


def test_names_are_no_part_of_what_is_equal():
    assert Constraints.from_labels(["a", "b", None]) == Constraints.from_labels([0, 1, -1])


def test_a_cluster_is_called_after_most_of_its_known_points():
    known = Constraints.from_labels(["a", "a", "b", "b", "b", "c", None])
    with warnings.catch_warnings(action="error"):
        named = known.name_clusters([0, 0, 0, 1, 1, 2, 3])
    assert named == {0: "a", 1: "b", 2: "c"}


def test_two_classes_in_one_cluster_are_said():
    known = Constraints.from_labels(["a", "a", "b", None])
    with pytest.warns(ConstraintWarning, match=r"'b' shares cluster 0 with 'a' \(1 of its 1 known points"):
        assert known.name_clusters([0, 0, 0, 1]) == {0: "a"}
    with warnings.catch_warnings(action="error"):
        # Where there are fewer clusters than classes that is no news.
        known.name_clusters([0, 0, 0, 0], n_clusters=1)


@pytest.mark.parametrize(
    "name", ["CSP", "E2CP", "SCACS", "SSKK", "COPKMeans", "ConstrainedGMM", "MetricKMeans"]
)
def test_every_fitted_model_tells_which_cluster_is_which_class(name):
    rng = np.random.default_rng(0)
    truth = np.repeat(["cat", "dog", "cow"], 30)
    X = rng.normal(size=(90, 2)) + 6 * np.repeat(np.arange(3), 30)[:, None]
    y = truth.astype(object)
    y[rng.random(90) < 0.8] = None
    model = getattr(sidecut, name)(3, random_state=0).fit(X, constraints=Constraints.from_labels(y))
    told = np.array([model.cluster_classes_[label] for label in model.labels_])
    assert (told == truth).mean() > 0.95
    assert getattr(sidecut, name)(3, random_state=0).fit(X).cluster_classes_ == {}
