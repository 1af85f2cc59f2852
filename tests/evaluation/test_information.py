import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.evaluation import normalized_mutual_information

two_labellings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=25).map(
    lambda rows: tuple(np.array(rows).T)
)
MEANS = {
    "arithmetic": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: (a * b) ** 0.5,
    "min": min,
    "max": max,
}


def entropy(p):
    return -sum(x * np.log(x) for x in np.ravel(p) if x > 0)


@pytest.mark.parametrize("average", MEANS)
@given(both=two_labellings)
def test_definition(average, both):
    y, labels = both
    joint = np.array([[np.mean((y == i) & (labels == j)) for j in range(5)] for i in range(4)])
    of_class, of_cluster = entropy(joint.sum(axis=1)), entropy(joint.sum(axis=0))
    information = of_class + of_cluster - entropy(joint)
    score = normalized_mutual_information(y, labels, average=average)
    if min(of_class, of_cluster) > 1e-12:
        assert score == pytest.approx(information / MEANS[average](of_class, of_cluster), abs=1e-9)
    else:
        # Nothing is to be learnt from a single cluster, unless there is nothing to learn.
        assert score == (1.0 if max(of_class, of_cluster) < 1e-12 else 0.0)


@given(two_labellings, st.permutations(range(5)))
def test_names_do_not_matter(both, names):
    y, labels = both
    renamed = np.array(names)[labels]
    score = normalized_mutual_information(y, labels)
    assert normalized_mutual_information(y, renamed) == pytest.approx(score, abs=1e-12)


def test_unknown_average_is_refused():
    with pytest.raises(ValueError, match="average='harmonic'"):
        normalized_mutual_information([0, 1], [0, 1], average="harmonic")


def test_constrained_points_do_not_count():
    constraints = Constraints.from_pairs(6, must_link=[(0, 1)])
    y, labels = [0, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]
    score = normalized_mutual_information(y, labels, constraints=constraints)
    assert score == pytest.approx(normalized_mutual_information(y[2:], labels[2:]))
    assert score != pytest.approx(normalized_mutual_information(y, labels))
