"""Wrong labels and links are found, named and dropped."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.diagnostics import Suspects, drop_suspects, find_suspects
from sidecut.diagnostics.suspects import _explain_label
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Neighbors


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def flip_labels(y, n_known, n_wrong):
    labels = sample_labels(y, n_known, random_state=0).labels.copy()
    known = np.flatnonzero(labels >= 0)
    wrong = known[:: len(known) // n_wrong][:n_wrong]
    # Class numbers of `labels` are by first appearance; any other class is wrong.
    labels[wrong] = (labels[wrong] + 1) % (labels.max() + 1)
    return labels, wrong


def test_wrong_labels_are_the_most_suspicious(wine):
    X, y = wine
    labels, wrong = flip_labels(y, 60, 6)
    suspects = find_suspects(X, Constraints.from_labels(labels))
    # Wine 83 is told right and looks wrong, to everybody.
    assert np.isin(suspects.points[:5], wrong).all()
    assert roc_auc_score(np.isin(suspects.points, wrong), suspects.scores) > 0.95
    assert np.all(np.diff(suspects.scores) <= 0)


def test_a_reason_counts_neighbours_by_their_names(wine):
    X, y = wine
    labels, wrong = flip_labels(y, 60, 1)
    named = np.array(["barolo", "grignolino", "barbera", None], dtype=object)[labels]
    suspects = find_suspects(X, Constraints.from_labels(named))
    assert suspects.said[0] == named[wrong[0]]
    right = named[np.flatnonzero((y == y[wrong[0]]) & (labels >= 0) & (np.arange(len(y)) != wrong[0]))[0]]
    assert suspects.reasons[0].endswith(f"labelled points nearest to it are {right!r}")
    assert f"{wrong[0]}, said {named[wrong[0]]!r}" in str(suspects)


def test_a_reason_never_speaks_for_what_it_calls_wrong():
    between = np.array(
        [[1.0, 0.5, 0.4, 0.1], [0.5, 1.0, 0.1, 0.1], [0.4, 0.1, 1.0, 0.1], [0.1, 0.1, 0.1, 1.0]]
    )
    classes, names = np.array([0, 0, 0, 1]), ["cat", "dog"]
    assert _explain_label(0, between, classes, names) == "2 of the 3 labelled points nearest to it are 'cat'"
    said = _explain_label(0, between, classes, names, "dog")
    assert said.startswith("all other labels together predict 'dog', although 2 of the 3")
    said = _explain_label(3, between, classes, names, "cat")
    assert said == "all 3 labelled points nearest to it are 'cat'"


def test_what_is_likely_instead_is_named(wine):
    X, y = wine
    labels, wrong = flip_labels(y, 60, 6)
    right = sample_labels(y, 60, random_state=0).labels
    suspects = find_suspects(X, Constraints.from_labels(labels))
    found = np.flatnonzero(np.isin(suspects.points, wrong) & (suspects.scores > 0.5))
    assert len(found) >= 4
    assert all(suspects.instead[place] == right[suspects.points[place]] for place in found)
    links = find_suspects(X, Constraints.from_pairs(len(y), must_link=[(0, 1)], cannot_link=[(0, 170)]))
    assert {(said, other) for said, other in zip(links.said, links.instead, strict=True)} == {
        ("together", "apart"),
        ("apart", "together"),
    }


def test_wrong_links_have_high_scores():
    X, y = load_digits(return_X_y=True)
    known = sample_pairs(y, 300, random_state=0)
    rng = np.random.default_rng(0)
    wrong = rng.random(len(known.pairs)) < 0.1
    strengths = np.where(wrong, -known.strengths, known.strengths)
    told = Constraints.from_pairs(
        len(y), must_link=known.pairs[strengths > 0], cannot_link=known.pairs[strengths < 0]
    )
    suspects = find_suspects(X, told, n_clusters=10)
    bad = {tuple(pair) for pair in known.pairs[wrong].tolist()}
    is_wrong = [tuple(pair) in bad for pair in suspects.points.tolist()]
    assert roc_auc_score(is_wrong, suspects.scores) > 0.95
    left = drop_suspects(told, suspects, threshold=0.9)
    gone = {tuple(pair) for pair in told.pairs.tolist()} - {tuple(pair) for pair in left.pairs.tolist()}
    assert gone
    assert len(gone & bad) / len(gone) > 0.5


def test_dropping_keeps_the_strengths_of_the_rest(wine):
    X, y = wine
    known = Constraints.from_pairs(
        len(y), must_link=[(0, 1), (2, 3)], cannot_link=[(0, 100)], must_weight=0.7
    )
    suspects = find_suspects(X, known)
    assert drop_suspects(known, suspects, threshold=1.0) == known
    none_left = drop_suspects(known, suspects, threshold=-1.0)
    assert none_left.is_empty


def test_labels_go_sooner_than_links():
    chances = np.array([0.6, 0.3, 0.1])
    known = Constraints.from_labels([0, 0, 1, -1])
    doubts = Suspects("label", np.array([1, 0, 2]), (0, 0, 1), chances, ("", "", ""))
    assert drop_suspects(known, doubts).constrained_points.tolist() == [2]
    assert drop_suspects(known, doubts, threshold=0.5).constrained_points.tolist() == [0, 2]
    links = Constraints.from_pairs(4, must_link=[(0, 1), (1, 2), (2, 3)])
    doubts = Suspects("link", links.pairs, ("together",) * 3, chances, ("", "", ""))
    assert drop_suspects(links, doubts).pairs.tolist() == links.pairs[1:].tolist()


@pytest.mark.parametrize("n_wrong", [0, 3])
def test_a_graph_is_judged_as_the_data_it_was_built_from(wine, n_wrong):
    X, y = wine
    labels = flip_labels(y, 24, 3)[0] if n_wrong else sample_labels(y, 24, random_state=0).labels
    known = Constraints.from_labels(labels)
    by_graph = find_suspects(Neighbors(20).build(X), known, affinity="precomputed")
    by_data = find_suspects(X, known)
    np.testing.assert_allclose(by_graph.scores, by_data.scores)
    np.testing.assert_array_equal(by_graph.points, by_data.points)
    assert n_wrong or not by_graph.doubtful.size


def test_refusals(wine):
    X, y = wine
    with pytest.raises(ConstraintError, match="no constraints"):
        find_suspects(X, Constraints.none(len(y)))
    with pytest.raises(ConstraintError, match="samples"):
        find_suspects(X, Constraints.from_labels([0, 1]))
