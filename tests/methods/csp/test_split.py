"""Where the cut of two clusters is split: at zero, or at the least normalised cut."""

import numpy as np
import pytest

from sidecut import CSP, Constraints
from sidecut.graphs import as_graph
from sidecut.methods.csp.estimator import find_split


def two_cliques(bridge=0.05):
    """Six nodes and five, joined by one weak edge."""
    weights = np.zeros((11, 11))
    weights[:6, :6] = weights[6:, 6:] = 1.0
    np.fill_diagonal(weights, 0.0)
    weights[5, 6] = weights[6, 5] = bridge
    return weights


def test_must_links_alone_do_not_put_all_points_into_one_cluster():
    """u* is positive everywhere, so its sign says nothing; it is small in the clique without links."""
    known = Constraints.from_pairs(11, must_link=[(0, 1), (1, 2), (0, 2)])
    model = CSP(2, beta=("fraction", 0.5), affinity="precomputed", random_state=0)
    model.fit(two_cliques(), constraints=known)
    assert (model.indicator_ > 0).all() or (model.indicator_ < 0).all()
    assert len(set(model.labels_[:6])) == len(set(model.labels_[6:])) == 1
    assert model.labels_[0] != model.labels_[10]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_split_is_the_least_normalised_cut_of_all(sign):
    rng = np.random.default_rng(3)
    weights = rng.random((9, 9)) * (rng.random((9, 9)) < 0.6)
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    values = sign * np.exp(rng.normal(size=9))
    above = values > find_split(as_graph(weights), values)

    def cost(inside):
        leaving = weights[inside][:, ~inside].sum()
        return leaving / weights[inside].sum() + leaving / weights[~inside].sum()

    sweeps = [cost(values > split) for split in np.sort(values)[:-1]]
    assert cost(above) == pytest.approx(min(sweeps))


def test_both_signs_are_split_at_zero():
    assert find_split(as_graph(two_cliques()), np.linspace(-1, 2, 11)) == 0


def test_equal_values_are_not_split():
    assert find_split(as_graph(two_cliques()), np.ones(11)) == 0
