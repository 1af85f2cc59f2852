"""What was given stands: labelled points are in a cluster of their class."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import E2CP, NCSC, AutoCut, Constraints, NormalizedCut
from sidecut.labelling import keep_given_classes


def test_a_point_moves_to_the_cluster_of_its_class_and_no_other_does():
    known = Constraints.from_labels(["a", "a", "b", "b", None, None, "b"])
    labels, moved = keep_given_classes(np.array([0, 0, 1, 1, 0, 1, 0]), known, 2)
    assert labels.tolist() == [0, 0, 1, 1, 0, 1, 1]
    assert moved.tolist() == [6]


def test_a_class_without_a_cluster_gets_one_of_its_own():
    """Two classes share cluster 0; cluster 2 holds no label."""
    known = Constraints.from_labels(["a", "a", "b", "c", None])
    labels, moved = keep_given_classes(np.array([0, 0, 0, 1, 2]), known, 3)
    assert labels.tolist() == [0, 0, 2, 1, 2]
    assert moved.tolist() == [2]


def test_a_class_may_have_several_clusters():
    known = Constraints.from_labels(["a", "a", "a", "b"])
    labels, moved = keep_given_classes(np.array([0, 0, 2, 1]), known, 3)
    assert labels.tolist() == [0, 0, 2, 1]
    assert moved.size == 0


@pytest.mark.parametrize(
    "known",
    [Constraints.none(3), Constraints.from_pairs(3, must_link=[(0, 1)]), Constraints.from_labels([0, 1, 2])],
)
def test_without_labels_or_with_too_few_clusters_nothing_changes(known):
    found = np.array([0, 1, 1])
    labels, moved = keep_given_classes(found, known, 2)
    assert labels is found
    assert moved.size == 0


X, Y = make_blobs(90, centers=[[0, 0], [5, 0], [0, 5]], cluster_std=1.2, random_state=0)


def with_a_wrong_label():
    """Labels of 31 points, and one in the middle of its class that is said to be of another."""
    labels = np.where(np.arange(90) < 30, Y, -1)
    wrong = int(np.argmin(np.linalg.norm(X - X[Y == 0].mean(axis=0), axis=1)))
    labels[wrong] = 1
    return Constraints.from_labels(labels), wrong


#: With these, labels are as the method found them.
OVERRULES = {AutoCut: {"overrule": True}, E2CP: {"safe": False}, NCSC: {"safe": False}}


@pytest.mark.parametrize("method", OVERRULES)
def test_every_safe_method_keeps_what_was_given(method):
    known, _ = with_a_wrong_label()
    model = method(3, random_state=0).fit(X, constraints=known)
    assert known.satisfaction(model.labels_) == 1.0
    found = method(3, random_state=0, **OVERRULES[method]).fit(X, constraints=known)
    assert np.flatnonzero(model.labels_ != found.labels_).tolist() == model.contradicted_.tolist()


def test_autocut_overrules_where_it_is_asked_to_and_says_so():
    known, wrong = with_a_wrong_label()
    kept = AutoCut(3, random_state=0).fit(X, constraints=known)
    overruled = AutoCut(3, random_state=0, overrule=True).fit(X, constraints=known)
    assert overruled.contradicted_.tolist() == kept.contradicted_.tolist()
    assert wrong in kept.contradicted_
    n_labels = len(known.constrained_points)
    assert f"{len(kept.contradicted_)} of your {n_labels} labels contradict" in kept.explanation_
    assert "as you gave" in kept.explanation_
    assert "overruled" in overruled.explanation_
    assert np.flatnonzero(kept.labels_ != overruled.labels_).tolist() == kept.contradicted_.tolist()


def test_a_method_without_safe_leaves_labels_as_found():
    known, _ = with_a_wrong_label()
    model = E2CP(3, safe=False, random_state=0).fit(X, constraints=known)
    assert not hasattr(model, "contradicted_")


def test_every_method_says_whether_it_used_what_was_given():
    known, _ = with_a_wrong_label()
    assert E2CP(3, random_state=0).fit(X, constraints=known).used_constraints_
    assert not E2CP(3, random_state=0).fit(X).used_constraints_
    assert not NormalizedCut(3, random_state=0).fit(X).used_constraints_
    two = Constraints.from_pairs(90, must_link=[(0, 1)])
    with pytest.warns(UserWarning, match="not used because"):
        assert (
            not NCSC(3, random_state=0)
            .fit(make_blobs(90, random_state=3)[0], constraints=two)
            .used_constraints_
        )


def test_other_labels_of_the_same_points_may_name_the_clusters():
    """The vote has two of three of class a in cluster 0; the judges put two of them into cluster 1."""
    known = Constraints.from_labels(["a", "a", "a", "b"])
    judged, voted = np.array([0, 1, 1, 1]), np.array([0, 0, 0, 1])
    labels, moved = keep_given_classes(judged, known, 2, voted)
    assert labels.tolist() == [0, 0, 0, 1]
    assert moved.tolist() == [1, 2]
