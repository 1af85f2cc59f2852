"""The same knowledge gives the same clusters, however it is written down."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut import Constraints
from sidecut.graphs import Gaussian


def labels_of(case, X, constraints):
    return case.make(affinity=Gaussian(1.5)).fit(X, constraints=constraints).labels_


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_order_direction_and_repetition_of_pairs_do_not_matter(constrained, blobs, known, data):
    X, _ = blobs
    links = Constraints.from_pairs(60, known.must_link, known.cannot_link)

    def rewritten(pairs):
        repeated = data.draw(st.lists(st.integers(0, len(pairs) - 1), max_size=10))
        order = data.draw(st.permutations([*range(len(pairs)), *repeated]))
        flips = np.array(data.draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order))))
        chosen = pairs[order]
        return np.where(flips[:, None], chosen[:, ::-1], chosen)

    again = Constraints.from_pairs(60, rewritten(known.must_link), rewritten(known.cannot_link))
    assert again == links
    np.testing.assert_array_equal(labels_of(constrained, X, again), labels_of(constrained, X, links))


def test_saying_again_what_is_satisfied_changes_nothing(constrained, blobs, known):
    X, _ = blobs
    labels = labels_of(constrained, X, known)
    satisfied = known.satisfied_by(labels)
    together = known.strengths > 0
    repeated = Constraints.from_pairs(
        60, known.pairs[satisfied & together], known.pairs[satisfied & ~together]
    )
    again = labels_of(constrained, X, known | repeated)
    assert len(known.violations(again)) <= len(known.violations(labels))
    np.testing.assert_array_equal(again, labels)


def test_the_names_of_labels_do_not_matter(constrained, blobs):
    X, y = blobs
    some = np.arange(60) % 3 == 0
    numbers = Constraints.from_labels(np.where(some, y, -1))
    words = Constraints.from_labels(
        [("red", "green", "blue")[c] if s else None for c, s in zip(y, some, strict=True)]
    )
    np.testing.assert_array_equal(labels_of(constrained, X, words), labels_of(constrained, X, numbers))


def test_labels_are_the_matrix_of_their_pairs(constrained, blobs):
    X, y = blobs
    labels = Constraints.from_labels(np.where(np.arange(60) % 3 == 0, y, -1))
    matrix = Constraints.from_matrix(labels.as_matrix())
    np.testing.assert_array_equal(labels_of(constrained, X, matrix), labels_of(constrained, X, labels))


def test_labels_are_embedded_as_the_matrix_of_their_pairs(embedding, blobs):
    X, y = blobs
    labels = Constraints.from_labels(np.where(np.arange(60) % 3 == 0, y, -1))
    matrix = Constraints.from_matrix(labels.as_matrix())
    one = embedding.make(affinity=Gaussian(1.5)).fit(X, constraints=labels)
    other = embedding.make(affinity=Gaussian(1.5)).fit(X, constraints=matrix)
    np.testing.assert_allclose(one.embedding_, other.embedding_, atol=1e-6)


@pytest.mark.parametrize(
    "merge", [lambda c: c | c, lambda c: c | Constraints.none(60)], ids=["twice", "nothing"]
)
def test_merging_with_what_is_known_changes_nothing(constrained, blobs, known, merge):
    X, _ = blobs
    np.testing.assert_array_equal(labels_of(constrained, X, merge(known)), labels_of(constrained, X, known))


def test_true_constraints_are_satisfied_where_clusters_are_unmistakable(constrained, blobs, known):
    labels = labels_of(constrained, blobs[0], known)
    assert known.satisfaction(labels) == 1.0


@pytest.mark.parametrize("apart", [True, False])
def test_rows_with_a_source_in_common_are_the_matrix_of_their_pairs(constrained, blobs, apart):
    X, y = blobs
    # Three rows of one source are one of each class, or all of one class.
    order = np.argsort(y, kind="stable")
    source = np.full(60, -1)
    source[order] = np.arange(60) % 20 if apart else np.arange(60) // 4
    source[15:40] = -1
    groups = Constraints.from_groups(source, apart=apart)
    links = Constraints.from_matrix(groups.as_matrix())
    np.testing.assert_array_equal(labels_of(constrained, X, groups), labels_of(constrained, X, links))


def test_an_earlier_clustering_is_the_matrix_of_its_pairs(constrained, blobs):
    X, y = blobs
    before = np.where(np.arange(60) % 2 == 0, y, -1)
    belief = Constraints.from_partition(before, strength=0.5)
    links = Constraints.from_matrix(belief.as_matrix())
    np.testing.assert_array_equal(labels_of(constrained, X, belief), labels_of(constrained, X, links))
