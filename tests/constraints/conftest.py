"""Small constraints of every kind, drawn by st.from_type(Constraints)."""

import numpy as np
from hypothesis import strategies as st

from sidecut.constraints import Constraints

WEIGHTS = st.sampled_from([0.5, 1.0, 2.0, 3.0])


@st.composite
def true_pairs(draw, y):
    """Pairs whose relation is that of the labels y, with weights."""
    n = len(y)
    all_pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = draw(st.lists(st.sampled_from(all_pairs), max_size=10))
    must = [(i, j) for i, j in chosen if y[i] == y[j]]
    cannot = [(j, i) for i, j in chosen if y[i] != y[j]]
    weigh = [draw(st.lists(WEIGHTS, min_size=len(p), max_size=len(p))) for p in (must, cannot)]
    return Constraints.from_pairs(n, must, cannot, *weigh)


@st.composite
def any_pairs(draw, n):
    """Pairs that may contradict each other, kept as beliefs."""
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    must, cannot = draw(st.lists(pair, max_size=8)), draw(st.lists(pair, max_size=8))
    return Constraints.from_pairs(n, must, cannot, draw(WEIGHTS), draw(WEIGHTS), on_conflict="weigh")


@st.composite
def some_labels(draw, y):
    """The labels y, some of them forgotten."""
    known = draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y)))
    told = [label if k else -1 for label, k in zip(y, known, strict=True)]
    return Constraints.from_labels(told, weight=draw(WEIGHTS))


@st.composite
def some_groups(draw, n):
    """Rows with a source in common, together or apart, or an earlier clustering."""
    source = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    if draw(st.booleans()):
        return Constraints.from_partition(source, strength=draw(WEIGHTS))
    return Constraints.from_groups(source, apart=draw(st.booleans()), weight=draw(WEIGHTS))


@st.composite
def belief_matrices(draw, n):
    """Symmetric matrices of small numbers, with a diagonal."""
    values = draw(st.lists(st.sampled_from([0, 0, 0, 1, -1, 0.25]), min_size=n * n, max_size=n * n))
    upper = np.triu(np.reshape(values, (n, n)))
    return Constraints.from_matrix(upper + np.triu(upper, 1).T)


@st.composite
def constraints(draw):
    """Constraints of every kind."""
    n = draw(st.integers(2, 9))
    y = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    kind = draw(st.integers(0, 8))
    if kind == 0:
        result = draw(any_pairs(n))
    elif kind == 1:
        result = draw(some_labels(y))
    elif kind == 2:
        result = draw(belief_matrices(n))
    elif kind == 3:
        result = draw(true_pairs(y)).closed()
    elif kind == 4:
        result = draw(some_labels(y)).merged_with(draw(true_pairs(y)))
    elif kind == 5:
        result = draw(some_labels(y)).merged_with(draw(true_pairs(y))).closed()
    elif kind == 6:
        result = draw(some_labels(y)).merged_with(draw(any_pairs(n)), on_conflict="weigh")
    else:
        result = draw(some_groups(n))
        for other in draw(st.lists(st.one_of(some_groups(n), some_labels(y), any_pairs(n)), max_size=3)):
            if other._groups is None or result._groups is None:
                result = result.merged_with(other, on_conflict="weigh")
    return result.with_diagonal(draw(st.sampled_from([0.0, 0.5]))) if draw(st.booleans()) else result


st.register_type_strategy(Constraints, constraints())
