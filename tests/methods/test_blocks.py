"""Methods on a graph on the disk: the labels, confidence and certificate of the same graph in memory."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import CSP, E2CP, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.constraints import Constraints, sample_labels
from sidecut.graphs import Graph, Neighbors, SparseGraph, block_files

N_NODES, N_CLUSTERS = 2_600, 4


@pytest.fixture(scope="module")
def points():
    """Clusters that overlap, and one apart: a component of its own."""
    X, y = make_blobs(N_NODES, n_features=4, centers=N_CLUSTERS, cluster_std=2.4, random_state=2)
    return X + 100.0 * (y == 3)[:, None], y


@pytest.fixture(scope="module")
def graphs(points, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks") / "graph"
    memory = SparseGraph(Neighbors(8).build(points[0]).matrix.astype(np.float32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_files, "BLOCK_ENTRIES", 4_000)
        memory.save(folder)
    return memory, Graph.open(folder)


@pytest.fixture(scope="module")
def known(points):
    pairs = np.random.default_rng(0).integers(0, N_NODES, (200, 2))
    together = points[1][pairs[:, 0]] == points[1][pairs[:, 1]]
    return {
        "none": None,
        "labels": sample_labels(points[1], 40, random_state=0),
        "pairs": Constraints.from_pairs(N_NODES, must_link=pairs[together], cannot_link=pairs[~together]),
    }


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        (NormalizedCut, "none"),
        *(
            (method, kind)
            for method in (CSP, E2CP, PoissonLearning, PoissonMBO)
            for kind in ("labels", "pairs")
        ),
    ],
)
def test_labels_are_those_in_memory(graphs, known, method, kind):
    found = []
    for graph in graphs:
        model = method(N_CLUSTERS, affinity="precomputed", random_state=0)
        with warnings.catch_warnings():
            # Whether an eigenvector is certified by a proof or by a random start differs.
            warnings.simplefilter("ignore")
            found.append(model.fit(graph, constraints=known[kind]))
    memory, disk = found
    # Clusters without a label have numbers of no meaning.
    pairs = np.unique(np.stack([memory.labels_, disk.labels_]), axis=1)
    assert pairs.shape == (2, len(np.unique(memory.labels_)))
    np.testing.assert_allclose(disk.confidence_, memory.confidence_, atol=0.02)


def test_a_certificate_by_a_random_start(graphs):
    model = NormalizedCut(N_CLUSTERS, affinity="precomputed", random_state=0).fit(graphs[1])
    assert model.solution_.certificate.complete
    assert model.solution_.certificate.method == "random start"
    np.testing.assert_allclose(
        model.eigenvalues_,
        NormalizedCut(N_CLUSTERS, affinity="precomputed", random_state=0).fit(graphs[0]).eigenvalues_,
        atol=1e-7,
    )


def test_a_path_is_fitted(graphs):
    model = NormalizedCut(N_CLUSTERS, affinity="precomputed", random_state=0)
    labels = model.fit(graphs[1]).labels_
    np.testing.assert_array_equal(model.fit(str(graphs[1].folder)).labels_, labels)
    assert model.n_features_in_ == N_NODES
