"""The normalised affinity Ā is as large as the graph, and is not kept after a fit."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import E2CP, NormalizedCut, SpectralLearning
from sidecut.constraints import sample_labels
from sidecut.graphs import Neighbors

X, y = make_blobs(120, centers=3, random_state=0)
KNOWN = sample_labels(y, 30, random_state=0)


@pytest.mark.parametrize("method", [E2CP, SpectralLearning])
def test_no_graph_of_a_fit_keeps_its_normalised_affinity(method):
    model = method(3, random_state=0).fit(X, constraints=KNOWN)
    for graph in (model.affinity_matrix_, model._task.graph):
        assert "normalized" not in vars(graph)
    assert model.confidence_.shape == (120,)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_graph_that_was_given_keeps_it_for_the_next_fit():
    graph = Neighbors(10).build(X)
    NormalizedCut(3, affinity="precomputed", random_state=0).fit(graph)
    assert "normalized" in vars(graph)
