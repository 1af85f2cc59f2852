import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError

quick = settings(deadline=None, max_examples=50)
ANY = st.from_type(Constraints)


def closure_by_definition(Q):
    """Close the signs of Q: Warshall for "together", then "apart" carried along on both sides."""
    together = (Q > 0) | np.eye(len(Q), dtype=bool)
    for k in range(len(Q)):
        together |= together[:, [k]] & together[[k], :]
    apart = (together.astype(int) @ (Q < 0).astype(int) @ together.astype(int)) > 0
    return together, apart


def stated(c):
    """Signs of everything stated: a belief outweighed by another one counts as its own statement."""
    Q = c._links.toarray()
    np.fill_diagonal(Q, 0)
    together, apart = Q > 0, Q < 0
    for groups in c._all_groups:
        G = groups.matrix(c.n_samples).toarray()
        together, apart = together | (G > 0), apart | (G < 0)
    return together, apart


@quick
@given(ANY)
def test_closure_is_what_the_definition_says(c):
    said_together, said_apart = stated(c)
    together, _ = closure_by_definition(said_together.astype(int))
    if (together & said_apart).any():
        with pytest.raises(ConflictError, match="without_conflicts"):
            c.closed()
        return
    together, apart = closure_by_definition(said_together.astype(int) - said_apart.astype(int))
    expected = together.astype(int) - apart.astype(int)
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(c.closed().with_diagonal(0).as_matrix().toarray(), expected)


@quick
@given(ANY)
def test_components_are_those_of_the_closure(c):
    together, _ = closure_by_definition(stated(c)[0].astype(int))
    component = c.must_link_components()
    np.testing.assert_array_equal(component[:, None] == component, together)
    first = np.unique(component, return_index=True)[1]
    assert np.all(np.diff(first) > 0), "numbered by first appearance"


@quick
@given(ANY)
def test_closing_twice_changes_nothing(c):
    if c.n_conflicts == 0:
        assert c.closed().closed() == c.closed()


def test_closed_facts_have_strength_one_and_unit_diagonal():
    c = Constraints.from_pairs(5, [(0, 1), (1, 2)], [(2, 3)], must_weight=7.0, cannot_weight=0.1).closed()
    assert set(np.abs(c.strengths)) == {1.0}
    np.testing.assert_array_equal(c.diagonal(), [1, 1, 1, 1, 0])
    np.testing.assert_array_equal(c.labels, [0, 0, 0, 1, -1])


def test_pairs_that_say_all_that_labels_say_close_to_the_labels():
    c = Constraints.from_pairs(5, [(0, 1), (2, 3)], [(1, 2), (3, 4), (4, 0)])
    assert c.closed() == Constraints.from_labels([0, 0, 1, 1, 2])


def test_a_chain_of_a_million_must_links_closes():
    i = np.arange(999_999)
    chain = Constraints.from_pairs(
        1_000_001, must_link=np.column_stack([i, i + 1]), cannot_link=[(5, 1_000_000)]
    )
    closed = chain.closed()
    assert closed.n_must_link == 10**6 * (10**6 - 1) // 2
    assert closed.n_cannot_link == 10**6
    assert closed.total() == pytest.approx((10**6 - 1.0) ** 2)


def test_nothing_closes_to_nothing():
    assert Constraints.none(4).closed() == Constraints.none(4)
    np.testing.assert_array_equal(Constraints.none(3).must_link_components(), [0, 1, 2])
