from pathlib import Path

import numpy as np
import pytest

from sidecut import NormalizedCut, SpectralLearning
from sidecut.cli import result
from sidecut.cli.console import UsageError
from sidecut.cli.fitting import fit
from sidecut.cli.preparation import Points
from sidecut.cli.result import ClusterRun, graph_spectrum
from sidecut.constraints import Constraints


@pytest.fixture
def points(two_clouds):
    return Points(two_clouds[0], Path("clouds.csv"))


CHOSEN = {"n_clusters": 2, "affinity": None, "n_neighbors": 5, "random_state": 0}


def test_the_spectrum_is_that_of_the_graph_that_was_cut(two_clouds):
    known = Constraints.from_pairs(20, must_link=[(0, 1)])
    model = SpectralLearning(2, n_neighbors=5, safe=False, random_state=0)
    model.fit(two_clouds[0], constraints=known)
    W = model.affinity_matrix_.toarray()
    scale = 1 / np.sqrt(W.sum(axis=1))
    expected = np.linalg.eigvalsh(np.eye(20) - scale[:, None] * W * scale)
    np.testing.assert_allclose(graph_spectrum(model, 0), expected[:7], atol=1e-10)


def test_large_graphs_are_not_looked_at_twice(two_clouds, monkeypatch):
    model = NormalizedCut(2, n_neighbors=5, random_state=0).fit(two_clouds[0])
    monkeypatch.setattr(result, "MAX_POINTS", 19)
    assert graph_spectrum(model) == ()


def test_methods_for_points_say_which_methods_cut_a_graph():
    graph = Points(np.ones((4, 4)), Path("g.edges"), is_graph=True)
    with pytest.raises(UsageError, match=r"g\.edges is a graph, and scacs.*normalized-cut, csap"):
        fit(graph, Constraints.none(4), "scacs", CHOSEN, [])


def test_options_about_a_graph_are_refused_by_methods_without_one(points):
    with pytest.raises(UsageError, match="--neighbors is about a graph of neighbours, and cop-kmeans"):
        fit(points, Constraints.none(20), "cop-kmeans", CHOSEN, [])


def test_graphs_are_taken_as_they_are(two_clouds):
    X, _ = two_clouds
    W = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 8)
    graph = Points(W, Path("w.npy"), is_graph=True)
    model = fit(graph, Constraints.none(20), "normalized-cut", CHOSEN, [])
    assert model.affinity == "precomputed"
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), W)
    with pytest.raises(UsageError, match="is a graph already"):
        fit(graph, Constraints.none(20), "normalized-cut", {**CHOSEN, "affinity": "knn"}, [])


@pytest.mark.parametrize("limit", [10**6, 0])
def test_hard_violations_are_counted_listed_or_not(points, monkeypatch, limit):
    monkeypatch.setattr(result, "MAX_LISTED", limit)
    model = NormalizedCut(2, n_neighbors=5, random_state=0).fit(points.X)
    everything_together = Constraints.from_labels(np.zeros(20, dtype=int))
    run = ClusterRun(points, everything_together, "normalized-cut", model)
    assert run.sizes == [10, 10]
    assert run.n_hard_violations == 100
