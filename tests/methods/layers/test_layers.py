"""What Layers promises: how many clusters, layers, noise, knowledge, new points, hostile data."""

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

from sidecut import Constraints, Layers, PoissonMBO
from sidecut.constraints import sample_labels
from sidecut.exceptions import ConstraintError, GraphWarning, SidecutWarning
from sidecut.graphs import Neighbors
from sidecut.selection.n_clusters import CLEAR_PERSISTENCE


@pytest.fixture(scope="module")
def groups():
    """Four groups of three clusters of 60 points."""
    rng = np.random.default_rng(0)
    centres = np.repeat(30 * np.eye(4), 3, axis=0) + np.tile(6 * np.eye(4)[:3], (4, 1))
    X, y = make_blobs(720, centers=centres, cluster_std=0.8, random_state=0)
    order = rng.permutation(720)
    return X[order], y[order]


def test_the_number_of_clusters_is_found(groups):
    X, y = groups
    model = Layers(random_state=0).fit(X)
    assert model.n_clusters_ == 12
    assert adjusted_rand_score(model.labels_, y) == 1.0


def test_layers_go_from_coarse_to_fine_and_are_nested():
    centres = np.repeat(30 * np.eye(4), 3, axis=0) + np.tile(2.6 * np.eye(4)[:3], (4, 1))
    X, y = make_blobs(720, centers=centres, cluster_std=0.8, random_state=0)
    model = Layers(random_state=0).fit(X)
    counts = [len(np.unique(layer)) for layer in model.layers_]
    assert counts == sorted(counts)
    assert len(model.persistence_) == len(counts)
    assert counts[:2] == [4, 12]
    assert np.argmax(model.persistence_) == 1
    assert adjusted_rand_score(model.layers_[0], y // 3) == 1.0
    for coarse, fine in zip(model.layers_, model.layers_[1:], strict=False):
        assert len(np.unique(np.column_stack([coarse, fine]), axis=0)) == fine.max() + 1
    assert adjusted_rand_score(Layers(4, random_state=0).fit(X).labels_, y // 3) == 1.0


def test_digits_are_found_without_being_told_anything():
    X, y = load_digits(return_X_y=True)
    model = Layers(random_state=0).fit(X)
    assert 9 <= model.n_clusters_ <= 12
    assert adjusted_rand_score(model.labels_, y) > 0.85


def test_the_same_for_any_number_of_threads_and_any_call(groups):
    X, _ = groups
    first = Layers(random_state=3, n_jobs=1).fit(X)
    for other in (Layers(random_state=3, n_jobs=2).fit(X), first.fit(X)):
        np.testing.assert_array_equal(first.labels_, other.labels_)
        np.testing.assert_array_equal(first.embedding_, other.embedding_)


@pytest.mark.parametrize("n_features", [2, 10])
def test_layers_of_points_without_groups_do_not_stand_out(n_features):
    rng = np.random.default_rng(0)
    for X in (rng.uniform(size=(200, n_features)), rng.normal(size=(200, n_features))):
        assert Layers(random_state=0).fit(X).persistence_.max(initial=0.0) < CLEAR_PERSISTENCE


def test_labels_choose_the_layer(groups):
    X, y = groups
    coarse = Layers(random_state=0).fit(X, constraints=sample_labels(y // 3, 60, random_state=0))
    assert adjusted_rand_score(coarse.labels_, y // 3) == 1.0
    fine = Layers(random_state=0).fit(X, constraints=sample_labels(y, 60, random_state=0))
    assert adjusted_rand_score(fine.labels_, y) == 1.0


def test_labels_at_two_levels_choose_two_layers(groups):
    X, y = groups
    fine, coarse = sample_labels(y, 60, random_state=0), sample_labels(y // 3, 60, random_state=0)
    model = Layers(random_state=0).fit(X, constraints=fine)
    kept = model.labels_.copy()
    assert adjusted_rand_score(model.choose(coarse), y // 3) == 1.0
    assert adjusted_rand_score(model.choose(coarse, 4), y // 3) == 1.0
    np.testing.assert_array_equal(model.choose(fine), kept)
    np.testing.assert_array_equal(model.labels_, kept)
    with pytest.raises(ValueError, match="n_clusters='few'"):
        model.choose(fine, "few")
    with pytest.raises(ConstraintError, match="719"):
        model.choose(sample_labels(y[:719], 60, random_state=0))


def test_must_links_join_branches(groups):
    X, y = groups
    rng = np.random.default_rng(0)
    # Clusters 0 and 3, of different groups, are one.
    joined = np.where(y == 3, 0, y)
    first, second = rng.choice(np.flatnonzero(y == 0), 30), rng.choice(np.flatnonzero(y == 3), 30)
    known = Constraints.from_pairs(720, must_link=np.column_stack([first, second]))
    model = Layers(random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(model.labels_, joined) == 1.0


def test_links_hold_where_they_are_hard(groups):
    X, y = groups
    wrong = Constraints.from_pairs(
        720,
        must_link=[(int(np.flatnonzero(y == 0)[0]), int(np.flatnonzero(y == 5)[0]))],
        cannot_link=[tuple(np.flatnonzero(y == 1)[:2].tolist())],
    )
    for n_clusters in ("auto", 12):
        model = Layers(n_clusters, random_state=0, hard=True).fit(X, constraints=wrong)
        assert wrong.satisfaction(model.labels_) == 1.0


def test_one_label_names_a_cluster_that_holds_it(groups):
    X, y = groups
    known = np.full(720, -1)
    for cluster in range(12):
        known[np.flatnonzero(y == cluster)[4]] = cluster
    met = known[known >= 0]
    model = Layers(12, random_state=0).fit(X, constraints=Constraints.from_labels(known))
    # Clusters are numbered as labels come.
    np.testing.assert_array_equal(met[model.labels_], y)
    assert {model.cluster_classes_[c] for c in range(12)} == set(range(12))
    assert all(model.cluster_classes_[c] == k for c, k in zip(model.labels_, y, strict=True))


def test_labels_of_overlapping_classes_are_spread():
    X, y = make_blobs(400, centers=[[0, 0], [2.5, 0], [0, 2.5]], cluster_std=1.0, random_state=0)
    known = np.full(400, -1)
    for cluster in range(3):
        known[np.flatnonzero(y == cluster)[:3]] = cluster
    model, other = (
        method(3, safe=False, random_state=0).fit(X, constraints=Constraints.from_labels(known))
        for method in (Layers, PoissonMBO)
    )
    np.testing.assert_array_equal(model.labels_, other.labels_)
    met = known[known >= 0]
    first = met[np.sort(np.unique(met, return_index=True)[1])]
    assert np.mean(first[model.labels_] == y) > 0.8


@pytest.mark.parametrize("seed", range(4))
def test_there_are_never_fewer_clusters_than_classes_with_a_label(seed):
    # Classes overlap: in the tree labels of all three are in one cluster.
    rng, y = np.random.default_rng(0), np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 4)) + 2 * np.eye(4)[y]
    known = Constraints.from_labels(np.where(np.arange(180) % 60 < 2, y, -1))
    model = Layers(random_state=seed).fit(X, constraints=known)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.5
    asked = Layers(3, random_state=seed).fit(X, constraints=known)
    np.testing.assert_array_equal(model.labels_, asked.labels_)


def test_a_class_without_a_label_keeps_its_cluster_where_classes_overlap():
    rng, y = np.random.default_rng(0), np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 4)) + np.array([[0, 0], [2.5, 0], [20, 0]])[y] @ np.eye(2, 4)
    known = Constraints.from_labels(np.where((np.arange(180) % 60 < 10) & (y < 2), y, -1))
    model = Layers(random_state=0).fit(X, constraints=known)
    assert model.n_clusters_ == 3
    assert set(model.labels_[y == 2]).isdisjoint(model.labels_[y < 2])


def test_noise_is_marked_only_where_asked_for_and_is_often_wrong_elsewhere():
    X, y = load_digits(return_X_y=True)
    whole = Layers(10, random_state=0).fit(X)
    model = Layers(10, noise=True, random_state=0).fit(X)
    noisy = model.labels_ == -1
    assert whole.labels_.min() == 0
    np.testing.assert_array_equal(model.labels_[~noisy], whole.labels_[~noisy])
    assert 0.01 < noisy.mean() < 0.2
    majority = np.array([np.bincount(y[whole.labels_ == c]).argmax() for c in range(10)])
    is_right = majority[whole.labels_] == y
    assert is_right[~noisy].mean() > is_right.mean()
    assert (model.confidence_[noisy] == 0).all()
    outside = np.flatnonzero(noisy)
    known = Constraints.from_pairs(len(y), must_link=[(int(outside[0]), int(outside[1]))])
    kept = Layers(10, noise=True, safe=False, random_state=0).fit(X, constraints=known)
    assert (kept.labels_[outside[:2]] >= 0).all()


def test_new_points_join_their_neighbours(groups):
    X, y = groups
    model = Layers(random_state=0).fit(X[:600])
    assert adjusted_rand_score(model.predict(X[600:]), y[600:]) == 1.0
    np.testing.assert_array_equal(model.predict(X[:600]), model.labels_)


def test_the_tree_is_a_table(groups):
    import pandas as pd

    table = pd.DataFrame(Layers(random_state=0).fit(groups[0]).tree_)
    assert table.loc[0, ["parent", "size", "death"]].tolist() == [-1, 720, 720]
    children = table[1:].groupby("parent")["size"].sum()
    assert (children == table.loc[children.index, "size"]).all()
    assert (table["birth"] <= table["death"]).all()


@pytest.mark.parametrize("form", ["sparse", "dense", "networkx"])
def test_a_graph_in_many_parts(form):
    graph = nx.disjoint_union_all([nx.complete_graph(20)] * 5 + [nx.empty_graph(2)])
    given = {"sparse": nx.to_scipy_sparse_array, "dense": nx.to_numpy_array, "networkx": lambda g: g}[form](
        graph
    )
    with pytest.warns(GraphWarning, match="2 of 102 points have no neighbours"):
        model = Layers(affinity="precomputed", random_state=0).fit(given)
    truth = np.repeat(np.arange(5), 20)
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(model.labels_[:100], truth) == 1.0


HOSTILE = {
    "two points": np.array([[0.0, 1.0], [5.0, 1.0]]),
    "two equal points": np.ones((2, 3)),
    "equal points": np.ones((40, 3)),
    "constant columns": np.column_stack([np.arange(50.0) // 25, np.zeros(50), np.ones(50)]),
    "duplicates": np.repeat(np.random.default_rng(0).normal(size=(8, 3)), 12, axis=0),
    "huge": 1e300 * np.random.default_rng(0).normal(size=(40, 2)),
    "tiny": 1e-300 * np.random.default_rng(0).normal(size=(40, 2)),
    "a line": np.arange(100.0)[:, None],
    "sparse": sp.csr_array(np.random.default_rng(0).poisson(0.3, size=(80, 30)).astype(float)),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("n_clusters", ["auto", 2])
def test_hostile_data_have_an_answer(name, n_clusters):
    X = HOSTILE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidecutWarning)
        model = Layers(n_clusters, random_state=0).fit(X)
    assert model.labels_.shape == (X.shape[0],)
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_array_equal(np.unique(model.labels_), np.arange(model.n_clusters_))
    assert n_clusters == "auto" or model.n_clusters_ == 2


@pytest.mark.parametrize("n_clusters", [0, "many", 2.5, None])
def test_numbers_of_clusters_that_are_none_are_refused(n_clusters):
    with pytest.raises((ValueError, TypeError), match="n_clusters"):
        Layers(n_clusters).fit(np.eye(4))


def test_more_clusters_than_branches(groups):
    known = sample_labels(groups[1], 40, random_state=0)
    for constraints in (None, known):
        model = Layers(300, random_state=0, safe=False).fit(groups[0], constraints=constraints)
        assert len(np.unique(model.labels_)) == 300


def test_a_seed_is_a_stream_of_its_own_and_graphs_are_not_changed(groups):
    graph = Neighbors(10).build(groups[0])
    before = graph.matrix.copy()
    one, other = (Layers(affinity="precomputed", random_state=seed).fit(graph) for seed in (0, 1))
    assert not np.allclose(one.embedding_, other.embedding_)
    assert (before != graph.matrix).nnz == 0


@pytest.mark.parametrize(
    ("bounds", "counts"), [((2, 5), {4}), ((5, 9), {5, 6, 7, 8, 9}), ((2, 3), {3}), ((1, 1), {1})]
)
def test_the_number_of_clusters_stays_within_bounds(bounds, counts):
    X, y = make_blobs([80, 80, 80, 80], centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    found = Layers(bounds, random_state=0).fit(X)
    assert found.n_clusters_ == len(set(found.labels_))
    assert found.n_clusters_ in counts
    known = Constraints.from_labels(np.where(np.arange(320) % 40 == 0, y, -1))
    if bounds[1] >= 4:
        labels = Layers(bounds, random_state=0).fit(X, constraints=known).labels_
        assert bounds[0] <= len(set(labels)) <= bounds[1]


def test_within_bounds_the_layer_that_lasts_longest_is_taken():
    centres = np.repeat(30 * np.eye(4), 3, axis=0) + np.tile(2.6 * np.eye(4)[:3], (4, 1))
    X = make_blobs(720, centers=centres, cluster_std=0.8, random_state=0)[0]
    free = Layers(random_state=0).fit(X)
    counts = np.array([layer.max() + 1 for layer in free.layers_])
    assert free.n_clusters_ == 12
    inside = (counts >= 2) & (counts <= 11)
    longest = counts[inside][free.persistence_[inside].argmax()]
    assert Layers((2, 11), random_state=0).fit(X).n_clusters_ == longest
