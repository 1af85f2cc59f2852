"""What cannot be right is refused, with the value, the rule and the way out."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import GraphRecipe


def test_constraints_for_other_data(case, blobs):
    with pytest.raises(ConstraintError, match="constraints are for 59 samples, X has 60"):
        case.make(affinity="gaussian").fit(blobs[0], constraints=Constraints.none(59))


def test_constraints_for_another_graph(graph_case):
    with pytest.raises(ConstraintError, match="constraints are for 5 samples, X has 4"):
        graph_case.make(2, affinity="precomputed").fit(np.ones((4, 4)), constraints=Constraints.none(5))


@pytest.mark.parametrize(
    "pairs", [[(0, 1)], {"must_link": [(0, 1)]}, np.array([[0, 1]]), sp.eye_array(60), ([(0, 1)], [(2, 3)])]
)
def test_raw_pairs_are_told_how_to_become_constraints(constrained, blobs, pairs):
    with pytest.raises(ConstraintError, match=r"Constraints\.from_pairs\(n_samples"):
        constrained.make(affinity="gaussian").fit(blobs[0], constraints=pairs)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(case, blobs, bad):
    X = blobs[0].copy()
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        case.make(affinity="gaussian").fit(X)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((4, 3)), r"square matrix.*\(4, 3\)"),
        (np.triu(np.ones((4, 4))), "differ by 1"),
        (np.ones((4, 4)) - 2 * np.eye(4), r"affinity\[0, 0\] = -1\.0: weights must be nonnegative"),
        (np.zeros((4, 4)), "None of the 4 points has a neighbour"),
        (sp.csr_array((4, 4)), "None of the 4 points has a neighbour"),
        (np.full((4, 4), np.nan), "NaN"),
    ],
)
def test_weights_that_are_no_graph(graph_case, weights, message):
    with pytest.raises(ValueError, match=message):
        graph_case.make(2, affinity="precomputed").fit(weights)


@pytest.mark.parametrize("name", ["affinity", "labelling", "eigen_solver", "normalization", "weighting"])
def test_unknown_choices_name_the_known_ones(case, blobs, name):
    model = case.make(affinity="gaussian")
    if name not in model.get_params():
        with pytest.raises(ValueError, match=f"Invalid parameter '{name}'"):
            model.set_params(**{name: "guess"})
        return
    with pytest.raises(ValueError, match=rf"{name}='guess': choose .*'\w+', '\w+'"):
        model.set_params(**{name: "guess"}).fit(blobs[0])


class Costly(GraphRecipe):
    """A recipe nobody should have to wait for."""

    def build(self, X):
        raise AssertionError("the graph was built for nothing")


def test_what_is_refused_is_refused_before_the_graph_is_built(building, blobs, known):
    X, _ = blobs
    for model, knowledge in [
        (building.make(affinity=Costly()), Constraints.none(59)),
        (building.make(61, affinity=Costly()), known),
        (building.make(affinity=Costly(), eigen_solver="guess"), known),
    ]:
        with pytest.raises(ValueError, match=r"samples|eigen_solver"):
            model.fit(X, constraints=knowledge)
