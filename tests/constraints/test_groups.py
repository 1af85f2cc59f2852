"""Groups of rows that are all apart or all together, and earlier clusterings."""

import tracemalloc

import numpy as np
import pytest

from sidecut.constraints import ConstraintFolds, Constraints
from sidecut.exceptions import ConflictError, ConstraintWarning
from sidecut.labelling import satisfy_links


def test_rows_of_one_source_are_apart_and_missing_values_say_nothing():
    source = ["a", "b", "a", None, "b", "", "a", None]
    c = Constraints.from_groups(source, apart=True)
    assert c.pairs.tolist() == [[0, 2], [0, 6], [1, 4], [2, 6]]
    assert (c.strengths == -1).all()
    together = Constraints.from_groups(source, apart=False, weight=2.0)
    assert together.pairs.tolist() == c.pairs.tolist()
    assert (together.strengths == 2).all()
    assert not c.diagonal().any()
    assert c.labels is None
    assert c.known_classes is None


def test_sources_that_occur_once_say_nothing():
    assert Constraints.from_groups([1, 2, 3], apart=True).is_empty
    assert Constraints.from_groups([None, None], apart=False).is_empty


def test_a_clustering_from_before_is_a_belief_about_all_pairs():
    c = Constraints.from_partition([3, 3, 7, -1], strength=0.25)
    expected = np.array([[0, 1, -1, 0], [1, 0, -1, 0], [-1, -1, 0, 0], [0, 0, 0, 0]]) / 4
    np.testing.assert_array_equal(c.as_matrix().toarray(), expected)
    assert c.labels is None


def test_labels_that_a_source_contradicts_are_refused_with_the_proof():
    labels = Constraints.from_labels(["Ann", "Ann", None, "Bob"])
    photo = Constraints.from_groups([1, 1, 2, 2], apart=True)
    with pytest.raises(ConflictError, match=r"cannot_link \(0, 1\) contradicts the must-links 0 - 1"):
        labels | photo
    weighed = labels.merged_with(photo, on_conflict="weigh")
    assert weighed.n_conflicts == 1
    assert weighed.entries(np.array([0, 2]), np.array([1, 3])).tolist() == [0.0, -1.0]


def test_what_a_stronger_statement_contradicts_is_left_out():
    before = Constraints.from_partition([0, 0, 0, 1, 1, 1], strength=0.3)
    link = Constraints.from_pairs(6, must_link=[(2, 3)])
    both = before.merged_with(link, on_conflict="weigh")
    assert both.n_conflicts == 1
    with pytest.warns(ConstraintWarning, match="left 2 points out of groups"):
        kept = both.without_conflicts()
    assert kept.n_conflicts == 0
    assert kept.pairs.tolist() == [[0, 1], [0, 4], [0, 5], [1, 4], [1, 5], [2, 3], [4, 5]]
    # A weaker link gives way.
    weak = before.merged_with(Constraints.from_pairs(6, [(2, 3)], must_weight=0.1), on_conflict="weigh")
    with pytest.warns(ConstraintWarning, match="dropped 1 of 1 links"):
        assert weak.without_conflicts() == before


def test_two_groupings_add_and_are_counted_once():
    photo = Constraints.from_groups([0, 0, 0, 1, 1, -1], apart=True)
    album = Constraints.from_groups([0, 0, 1, 1, 1, 1], apart=True, weight=0.5)
    both = photo | album
    assert both.n_cannot_link == len(both.pairs) == 9
    np.testing.assert_allclose(
        both.as_matrix().toarray(), photo.as_matrix().toarray() + album.as_matrix().toarray()
    )
    labels = [0, 0, 1, 1, 2, 2]
    assert both.satisfaction(labels) == pytest.approx(both.satisfied_by(labels).mean())
    strengths = np.abs(both.strengths)
    assert both.satisfaction(labels, weighted=True) == pytest.approx(
        strengths[both.satisfied_by(labels)].sum() / strengths.sum()
    )
    assert (both | photo) == both


def test_the_closure_of_labels_and_photographs_knows_who_is_apart():
    people = Constraints.from_labels(["Ann", None, None, "Ann", None, "Bob"])
    photo = Constraints.from_groups([1, 1, 1, 2, 2, 3], apart=True)
    closed = (people | photo).closed().with_diagonal(0.0)
    apart = {tuple(pair) for pair in closed.cannot_link.tolist()}
    # Ann is in both photographs: all others there are not Ann, in whichever of her rows.
    assert apart == {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (0, 4), (0, 5), (3, 5)}


def photographs(n, largest=50, seed=0):
    """Sources of 2 to 50 rows each, in any order."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, largest + 1, size=n)
    return rng.permutation(np.repeat(np.arange(n), sizes)[:n])


def peak_of(n):
    source = photographs(n)
    X = np.random.default_rng(1).normal(size=(n, 4))
    labels = np.random.default_rng(2).integers(60, size=n)
    tracemalloc.start()
    c = Constraints.from_groups(source, apart=True)
    c.apply(X)
    assert 0 < c.satisfaction(labels) < 1
    list(ConstraintFolds(2, random_state=0).split(c))
    repaired, repair = satisfy_links(labels, X, c, 60)
    assert (repair.violated, c.satisfaction(repaired)) == (0, 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_seventy_thousand_rows_take_memory_in_proportion_to_the_rows():
    assert peak_of(70_000) < 5 * peak_of(17_500)
    assert Constraints.from_groups(photographs(70_000), apart=True).n_pairs > 1_000_000


def test_the_repair_of_a_photograph_is_the_cheapest_assignment():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(12, 2)), np.zeros(12, dtype=int)
    labels[:4] = range(4)
    source = np.r_[np.full(8, -1), 1, 1, 1, 1]
    links = Constraints.from_groups(source, apart=True)
    found, repair = satisfy_links(labels, rows, links, 4)
    listed, same = satisfy_links(labels, rows, Constraints.from_matrix(links.as_matrix()), 4)
    np.testing.assert_array_equal(found, listed)
    assert repair.cost == pytest.approx(same.cost)
    assert repair.is_least


def test_more_rows_than_clusters_are_spread_evenly():
    rows = np.arange(7.0)[:, None]
    links = Constraints.from_groups(np.zeros(7), apart=True)
    with pytest.warns(ConstraintWarning, match="cannot satisfy the cannot-links"):
        found, repair = satisfy_links(np.zeros(7, dtype=int), rows, links, 3)
    assert sorted(np.bincount(found)) == [2, 2, 3]
    assert repair.violated == 5
    assert len(repair.core) == 6


def test_folds_hold_whole_photographs_out():
    c = Constraints.from_groups(photographs(400, largest=6), apart=True)
    for fold in ConstraintFolds(4, random_state=0).split(c):
        held_out = np.isin(c.pairs, fold.held_out)
        assert (held_out[:, 0] == held_out[:, 1]).all()
        labels = np.random.default_rng(0).integers(3, size=400)
        counts = fold.count(labels)
        pairs = c.pairs[held_out[:, 0]]
        assert counts.apart == len(pairs)
        assert counts.parted == (labels[pairs[:, 0]] != labels[pairs[:, 1]]).sum()
