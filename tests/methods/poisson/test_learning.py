from functools import partial

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import Constraints, NormalizedCut, PoissonLearning
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import GraphWarning, LabellingWarning
from sidecut.graphs import GaussianGraph, Neighbors

# The methods themselves are tested here; the guard has tests of its own.
PoissonLearning = partial(PoissonLearning, safe=False)


def test_one_label_of_each_moon():
    X, y = make_moons(300, noise=0.08, random_state=0)
    known = np.full(300, -1)
    known[[0, 2]] = y[[0, 2]]
    assert y[0] != y[2]
    model = PoissonLearning(2, safe=False, n_neighbors=10).fit(X, constraints=Constraints.from_labels(known))
    truth = y if y[0] == 0 else 1 - y
    assert np.mean(model.labels_ == truth) > 0.95
    assert model.residual_ < 1e-8
    assert model.confidence_.min() >= 0
    assert model.confidence_.max() <= 1


@pytest.mark.parametrize("seed", range(20))
def test_labels_of_one_moon_only(seed):
    """Whatever k-means does with the start, the other moon is found (seeds 13 and 17 once swapped them)."""
    X, y = make_moons(300, noise=0.08, random_state=0)
    known = np.full(300, -1)
    known[[0, 1]] = y[[0, 1]]
    assert y[0] == y[1]
    model = PoissonLearning(2, safe=False, n_neighbors=10, random_state=seed)
    model.fit(X, constraints=Constraints.from_labels(known))
    assert np.mean(model.labels_ == (y != y[0])) > 0.95


def test_by_hand_on_digits():
    """argmax of the pseudo-inverse Laplacian applied to charges (Calder et al., 2020), without this code."""
    X, y = load_digits(return_X_y=True)
    graph = Neighbors(20).build(X)
    known = np.full(len(y), -1)
    known[10:30] = y[10:30]
    weights = graph.toarray()
    charges = np.zeros((len(y), 10))
    charges[np.arange(10, 30), y[10:30]] = 1.0
    charges[10:30] -= charges[10:30].mean(axis=0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    expected = (np.linalg.pinv(laplacian) @ charges).argmax(axis=1)
    model = PoissonLearning(10, safe=False, affinity="precomputed").fit(
        graph, constraints=Constraints.from_labels(known)
    )
    assert np.bincount(y[10:30], minlength=10).tolist() == [2] * 10
    np.testing.assert_array_equal(y[10:20], np.arange(10))
    assert np.mean(model.labels_ == expected) > 0.995


FORMS = {
    "array": lambda lazy: lazy.toarray(),
    "csr": lambda lazy: sp.csr_array(lazy.toarray()),
    "tiled": lambda lazy: lazy,
    "networkx": lambda lazy: nx.from_numpy_array(lazy.toarray()),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_a_graph_does_not_matter(form):
    X, y = make_moons(80, noise=0.08, random_state=0)
    lazy = GaussianGraph(X, 0.2)
    known = Constraints.from_labels(np.where(np.arange(80) % 20 == 0, y, -1)) | Constraints.from_pairs(
        80, [(1, 2)] if y[1] == y[2] else None, None if y[1] == y[2] else [(1, 2)]
    )
    expected = PoissonLearning(2, safe=False, affinity="precomputed").fit(lazy.toarray(), constraints=known)
    model = PoissonLearning(2, safe=False, affinity="precomputed").fit(FORMS[form](lazy), constraints=known)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-6)
    np.testing.assert_array_equal(model.labels_, expected.labels_)


#: Not about labels: every component that has one is decided.
many_components = pytest.mark.filterwarnings("ignore:The graph has 3 connected components")


@many_components
def test_components_without_a_label_are_told_and_kept_whole():
    ones = np.ones((10, 10)) - np.eye(10)
    weights = np.kron(np.eye(3), ones)
    known = np.full(30, -1)
    known[[0, 1]] = [0, 1]
    with pytest.warns(
        GraphWarning, match=r"2 connected components of the graph \(of 10, 10 points\) hold no label"
    ):
        model = PoissonLearning(2, safe=False, split_parts=False, affinity="precomputed").fit(
            weights, constraints=Constraints.from_labels(known)
        )
    assert len(set(model.labels_[10:20])) == 1
    assert len(set(model.labels_[20:])) == 1


@many_components
def test_a_component_with_labels_of_one_class_has_that_class():
    ones = np.ones((10, 10)) - np.eye(10)
    weights = np.kron(np.eye(3), ones)
    known = np.full(30, -1)
    known[[0, 10, 20, 21]] = [0, 1, 0, 0]
    model = PoissonLearning(2, safe=False, affinity="precomputed").fit(
        weights, constraints=Constraints.from_labels(known)
    )
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 0], 10))


def test_an_isolated_point_keeps_its_label():
    weights = np.zeros((7, 7))
    weights[:3, :3] = weights[3:6, 3:6] = 1.0
    weights[2, 3] = weights[3, 2] = 0.1
    known = Constraints.from_labels([0, -1, -1, -1, -1, 1, 1])
    model = PoissonLearning(2, safe=False, affinity="precomputed").fit(weights, constraints=known)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1, 1])
    assert model.confidence_[6] == 0.5


def test_an_isolated_point_follows_its_must_link():
    weights = np.zeros((7, 7))
    weights[:3, :3] = weights[3:6, 3:6] = 1.0
    weights[2, 3] = weights[3, 2] = 0.1
    labels = Constraints.from_labels([0, -1, -1, -1, -1, 1, -1])
    for friend, cluster in ((1, 0), (4, 1)):
        known = labels | Constraints.from_pairs(7, must_link=[(friend, 6)])
        # Its link says where it belongs, so nothing is warned of.
        model = PoissonLearning(2, safe=False, affinity="precomputed").fit(weights, constraints=known)
        assert model.labels_[6] == cluster


def test_a_class_without_a_label_is_found():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 0.4, (40, 2)) for centre in ([0, 0], [4, 0], [0, 4])])
    y = np.repeat([0, 1, 2], 40)
    known = np.full(120, -1)
    known[[0, 40]] = [0, 1]
    model = PoissonLearning(3, safe=False, n_neighbors=10, random_state=0).fit(
        X, constraints=Constraints.from_labels(known)
    )
    np.testing.assert_array_equal(model.labels_, y)


def test_a_weak_link_gives_way_and_a_strong_one_does_not():
    """Two blobs; a must-link from one to the middle of the other."""
    path = np.diag(np.ones(19), 1)
    weights = path + path.T
    labels = Constraints.from_labels([0] + 18 * [-1] + [1])
    for strength, cluster in ((0.01, 0), (5.0, 1)):
        known = labels | Constraints.from_pairs(20, must_link=[(7, 15)], must_weight=strength)
        model = PoissonLearning(2, safe=False, affinity="precomputed").fit(weights, constraints=known)
        assert model.labels_[7] == cluster


def test_a_cannot_link_repels():
    weights = np.zeros((6, 6))
    for i, j, w in ((0, 1, 1.0), (1, 2, 0.6), (2, 3, 0.5), (3, 4, 1.0), (2, 5, 1.0)):
        weights[i, j] = weights[j, i] = w
    labels = Constraints.from_labels([0, -1, -1, -1, 1, -1])
    without = PoissonLearning(2, safe=False, affinity="precomputed").fit(weights, constraints=labels)
    known = labels | Constraints.from_pairs(6, cannot_link=[(1, 5)])
    model = PoissonLearning(2, safe=False, affinity="precomputed").fit(weights, constraints=known)
    assert without.labels_[5] == without.labels_[1] == 0
    assert model.labels_[5] == 1


def test_predict_is_the_harmonic_extension():
    X, y = make_moons(400, noise=0.08, random_state=1)
    known = np.where(np.arange(300) % 30 == 0, y[:300], -1)
    model = PoissonLearning(2, safe=False, n_neighbors=10).fit(
        X[:300], constraints=Constraints.from_labels(known)
    )
    first = y[:300][known >= 0][0]
    assert np.mean(model.predict(X[300:]) == (y[300:] != first)) > 0.95
    np.testing.assert_array_equal(model.predict(X[:300]), model.labels_)


def test_nothing_known_predicts_as_the_normalized_cut():
    X, _ = make_moons(200, noise=0.05, random_state=1)
    model = PoissonLearning(2, n_neighbors=10, random_state=0).fit(X[:150])
    cut = NormalizedCut(2, n_neighbors=10, random_state=0).fit(X[:150])
    np.testing.assert_array_equal(model.predict(X[150:]), cut.predict(X[150:]))


def test_a_cluster_that_no_point_belongs_to_is_spoken_of():
    X = np.array([[7.0, 2.4], [5.4, 4.4], [-0.5, -0.2]])
    with pytest.warns(LabellingWarning, match="found 2 clusters where n_clusters=3"):
        PoissonLearning(3, safe=False, n_neighbors=1, random_state=0).fit(
            X, constraints=Constraints.from_labels([0, 0, None])
        )


def test_one_label_per_class_corrects_a_cut_that_joins_classes():
    X, y = load_digits(return_X_y=True)
    known = np.full(len(y), -1)
    known[10:20] = y[10:20]
    labels = Constraints.from_labels(known)
    model = PoissonLearning(10, safe=False, random_state=0).fit(X, constraints=labels)
    cut = NormalizedCut(10, random_state=0).fit(X)
    assert labels.satisfaction(cut.labels_) < 1.0
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, cut.labels_) + 0.05


@pytest.fixture(scope="module")
def ten_blobs():
    return make_blobs(600, n_features=10, centers=10, cluster_std=3.5, random_state=0)


@pytest.mark.parametrize("n_pairs", [300, 600, 1200])
def test_many_right_pairs_do_no_harm(ten_blobs, n_pairs):
    """Potentials of single charges fade with every cannot-link on the way: 1,200 pairs once led to .6."""
    X, y = ten_blobs
    cut = NormalizedCut(10, random_state=0).fit(X)
    model = PoissonLearning(10, random_state=0).fit(X, constraints=sample_pairs(y, n_pairs, random_state=0))
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, cut.labels_) - 0.05


def test_pairs_add_to_labels(ten_blobs):
    X, y = ten_blobs
    labels = sample_labels(y, 60, random_state=0)
    both = labels | sample_pairs(y, 1200, random_state=0)
    alone, with_pairs = (PoissonLearning(10, random_state=0).fit(X, constraints=c) for c in (labels, both))
    assert adjusted_rand_score(y, with_pairs.labels_) > adjusted_rand_score(y, alone.labels_) - 0.02
    assert both.satisfaction(with_pairs.labels_) > both.satisfaction(alone.labels_)


def test_pairs_correct_two_clusters():
    X, y = make_moons(300, noise=0.25, random_state=0)
    scores = []
    for n_pairs in (150, 600):
        known = sample_pairs(y, n_pairs, random_state=0)
        scores.append(
            adjusted_rand_score(y, PoissonLearning(2, random_state=0).fit(X, constraints=known).labels_)
        )
    cut = adjusted_rand_score(y, NormalizedCut(2, random_state=0).fit(X).labels_)
    assert cut < scores[0] < scores[1]
