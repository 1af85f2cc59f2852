import numpy as np
import pytest

from sidecut import CSP, NormalizedCut, SpectralLearning
from sidecut.constraints import sample_labels
from sidecut.graphs import Neighbors

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(800, 20)), 4 + RNG.normal(size=(800, 20))])
Y = np.repeat([0, 1], 800)


@pytest.mark.parametrize("method", [SpectralLearning, CSP])
def test_a_model_tells_how_many_true_neighbours_its_graph_has(method):
    known = sample_labels(Y, 10, random_state=0)
    exact = method(2, safe=False, affinity=Neighbors(10, search="exact"), random_state=0).fit(
        X, constraints=known
    )
    quick = method(2, safe=False, affinity=Neighbors(10, search="approximate"), random_state=0).fit(
        X, constraints=known
    )
    assert exact.graph_recall_ == 1.0
    assert 0.98 <= quick.graph_recall_ < 1.0
    np.testing.assert_array_equal(exact.labels_, quick.labels_)


def test_a_graph_that_was_given_has_no_recall():
    graph = Neighbors(10).build(X).matrix
    assert NormalizedCut(2, affinity="precomputed", random_state=0).fit(graph).graph_recall_ is None
