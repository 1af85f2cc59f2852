"""New points: who joins, what is new, what has to change."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

import sidecut
from sidecut import AutoCut, Constraints, NormalizedCut, PoissonMBO
from sidecut.exceptions import ConflictError, ConstraintError
from sidecut.graphs import Neighbors
from sidecut.lasting import Before, place

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
ALL = ["CCSR", "CSAP", "CSP", "E2CP", "LCSC", "LSC", "NCSC", "SCACS", "SSKK", "AutoCut", "COPKMeans"]
ALL += [
    "ConstrainedGMM",
    "MetricKMeans",
    "NormalizedCut",
    "PoissonLearning",
    "PoissonMBO",
    "SpectralLearning",
]


def blobs(sizes, seed=0):
    X, y = make_blobs(sizes, centers=CENTRES[: len(sizes)], cluster_std=1.0, random_state=seed)
    return X, y


OLD, Y_OLD = blobs([60, 60, 60])


def fitted(estimator=NormalizedCut, **settings):
    return estimator(3, random_state=0, **settings).fit(OLD)


@pytest.mark.parametrize("name", ALL)
def test_every_estimator_takes_new_points_in_and_finds_a_new_class(name):
    new, y_new = blobs([5, 5, 5, 20], seed=1)
    model = getattr(sidecut, name)(3, random_state=0)
    if "n_landmarks" in model.get_params():
        model.set_params(n_landmarks=40)
    before = model.fit(OLD).labels_.copy()
    model.update(new)
    np.testing.assert_array_equal(model.labels_[:180], before)
    of_class = {c: before[c == Y_OLD][0] for c in range(3)}
    joined = y_new < 3
    assert [of_class[c] for c in y_new[joined]] == model.labels_[180:][joined].tolist()
    assert model.confidence_.shape == model.labels_.shape == (215,)
    if "n_landmarks" not in model.get_params():
        assert set(model.labels_[180:][~joined]) == {3}
        assert model.changes_.n_points("new") == 20
    np.testing.assert_array_equal(model.predict(new), model.labels_[180:])
    sure = model.predict_confidence(np.vstack([new[:3], [[5.0, 0.0]]]))
    np.testing.assert_allclose(sure[:3], model.confidence_[180:183])
    assert 0 <= sure[3] <= 1


@pytest.mark.parametrize("name", ALL)
def test_the_same_point_gets_the_same_answer(name):
    known = Constraints.from_labels(np.where(np.arange(180) % 9 == 0, Y_OLD, -1))
    if name == "COPKMeans":
        known = known | Constraints.from_pairs(180, must_link=[(1, np.flatnonzero(Y_OLD[1] != Y_OLD)[1])])
    if name == "LCSC":
        known = known.must_part()
    knows = {} if name in ("NormalizedCut", "LSC") else {"constraints": known}
    model = getattr(sidecut, name)(3, random_state=0)
    if "n_landmarks" in model.get_params():
        model.set_params(n_landmarks=40)
    if "safe" in model.get_params():
        model.set_params(safe=False)
    model.fit(OLD, **knows)
    np.testing.assert_array_equal(model.predict(OLD), model.labels_)
    np.testing.assert_allclose(model.predict_confidence(OLD), model.confidence_)


def test_other_graphs_predict_too_and_a_given_one_says_why_not():
    model = fitted(affinity="gaussian")
    new, y_new = blobs([5, 5, 5], seed=1)
    same = model.predict(new)
    assert len({(a, b) for a, b in zip(same, y_new, strict=True)}) == 3
    given = NormalizedCut(3, affinity="precomputed", random_state=0).fit(Neighbors(10).build(OLD))
    with pytest.raises(AttributeError) as refused:
        given.predict(new)
    assert "new points have no place" in str(refused.value.__cause__)


def test_an_update_step_by_step_is_what_was_said():
    model = fitted()
    new, _ = blobs([5, 5, 5, 20], seed=1)
    model.update(new)
    assert str(model.changes_) == (
        "All 180 old points stayed where they were.\n"
        "15 of 35 new points joined old clusters; the others are in new ones.\n"
        "Of the clusters, 1 was founded."
    )
    frame = model.changes_.to_frame()
    assert frame["points"].sum() == 35
    assert set(frame["change"]) == {"joined", "new"}
    # Once more: the cluster that was founded is an old one now.
    again, _ = blobs([0, 0, 0, 10], seed=2)
    model.update(again)
    assert set(model.labels_[-10:]) == {3}
    assert not model.changes_.of("new")


def test_points_between_clusters_are_doubtful():
    model = fitted()
    model.update(np.array([[5.0, 0.0], [0.0, 0.1]]))
    assert model.changes_.n_points("joined", "doubtful") == 2
    assert model.confidence_[-1] > 0.99


@pytest.mark.parametrize("seed", range(5))
def test_twice_as_many_points_of_one_cluster_are_nothing_new(seed):
    model = fitted()
    new = np.random.default_rng(seed).normal(size=(120, 2))
    model.update(new)
    assert not model.changes_.of("new")
    assert len(set(model.labels_[180:])) == 1


def test_a_new_class_that_overlaps_an_old_one_is_found_and_gathers_its_points():
    rng = np.random.default_rng(0)
    old = np.vstack([rng.normal(size=(300, 2)), rng.normal([12.0, 0.0], size=(100, 2))])
    new = np.vstack([rng.normal(size=(10, 2)), rng.normal([3.5, 0.0], size=(30, 2))])
    model = NormalizedCut(2, random_state=0).fit(old)
    model.update(new)
    founded = model.labels_[400:] == 2
    assert founded[10:].sum() >= 25
    assert founded[:10].sum() <= 1


def test_few_strangers_found_no_cluster():
    model = fitted()
    model.update(np.array([[10.0, 10.0], [10.1, 10.0], [10.0, 10.1]]))
    assert model.labels_.max() == 2


def graph_of(n, edges):
    matrix = np.zeros((n, n))
    for i, j, weight in edges:
        matrix[i, j] = matrix[j, i] = weight
    return sp.csr_array(matrix)


def test_an_old_point_moves_when_most_of_its_weight_leads_elsewhere_since_new_points_came():
    # Points 0 and 1 are cluster 0, 2 and 3 cluster 1; the new points 4 and 5 lie between 1 and cluster 1.
    old = [(0, 1, 0.1), (2, 3, 1.0)]
    before = Before(np.array([0, 0, 1, 1]), np.ones(4), {}, 2)
    nothing = Constraints.none(6)
    new = [(4, 2, 1.0), (5, 3, 1.0), (4, 5, 1.0)]
    close = graph_of(6, [*old, *new, (1, 4, 0.3), (1, 5, 0.3)])
    labels, sure, changes = place(before, close, nothing, nothing)
    assert labels.tolist() == [0, 1, 1, 1, 1, 1]
    [row] = changes.of("moved")
    assert (row.points.tolist(), row.before, row.cluster) == ([1], 0, 1)
    assert "neighbours" in row.why
    assert sure[1] == pytest.approx(0.6 / 0.7)
    assert str(changes).startswith("1 of 4 old points changed their cluster (most of their neighbours")
    # With a weaker pull it stays.
    far = graph_of(6, [*old, *new, (1, 4, 0.1), (1, 5, 0.1)])
    assert place(before, far, nothing, nothing)[0].tolist() == [0, 0, 1, 1, 1, 1]
    # So it does where it leaned to the other side before.
    leaning = graph_of(6, [*old, *new, (1, 2, 1.0), (1, 4, 0.3)])
    assert place(before, leaning, nothing, nothing)[0].tolist() == [0, 0, 1, 1, 1, 1]


def test_a_cluster_merges_into_another_one_that_holds_it_now_and_its_number_is_not_given_again():
    before = Before(np.array([0, 0, 1, 1]), np.ones(4), {1: "b"}, 2)
    edges = [(0, 1, 0.15), (2, 3, 1.0), (4, 2, 1.0), (4, 3, 1.0), (0, 4, 0.2), (1, 4, 0.2)]
    labels, _, changes = place(before, graph_of(5, edges), Constraints.none(5), Constraints.none(5))
    assert labels.tolist() == [0, 0, 1, 1, 1]
    assert not changes.of("merged")
    edges[-2:] = [(0, 4, 0.2), (1, 4, 0.2), (0, 2, 0.15)]
    named = Before(before.labels, before.confidence, {}, 2)
    labels, _, changes = place(named, graph_of(5, edges), Constraints.none(5), Constraints.none(5))
    assert labels.tolist() == [1, 1, 1, 1, 1]
    [row] = changes.of("merged")
    assert (row.before, row.cluster, row.points.tolist()) == (0, 1, [0, 1])
    assert "Of the clusters, 1 was merged." in str(changes)


def test_a_new_label_founds_a_cluster_and_splits_the_one_it_is_in():
    X, y = blobs([60, 60, 60])
    X[y == 1] -= [6.0, 0.0]
    some = (np.arange(180) % 9 == 0) & (y != 1)
    known = Constraints.from_labels(np.where(some, np.where(y == 2, "b", "a"), None))
    model = PoissonMBO(2, random_state=0).fit(X, constraints=known)
    assert len(set(model.labels_[y < 2])) == 1
    new, y_new = blobs([3, 3, 3], seed=1)
    new[y_new == 1] -= [6.0, 0.0]
    labels = [None] * 180 + [{0: "a", 1: "c", 2: "b"}[c] for c in y_new]
    model.update(new, constraints=Constraints.from_labels(labels))
    assert np.mean(model.labels_[:180][y == 1] == 2) > 0.8
    assert np.mean(model.labels_[:180][y == 0] == 2) < 0.1
    assert model.cluster_classes_[2] == "c"
    assert [row.kind for row in model.changes_.rows if row.before is not None] == ["split"]


def test_rows_of_one_photograph_are_apart_when_they_come():
    model = fitted()
    new = np.array([[0.0, 0.0], [0.3, 0.0], [10.0, 0.0]])
    photo = Constraints.from_groups([None] * 180 + ["p"] * 3, apart=True)
    model.update(new, constraints=photo)
    assert len(set(model.labels_[-3:])) == 3


def test_what_contradicts_an_earlier_label_is_said():
    labels = np.where(np.arange(180) % 20 == 0, Y_OLD, -1)
    model = PoissonMBO(3, random_state=0).fit(OLD, constraints=Constraints.from_labels(labels))
    again = np.append(labels, -1)
    again[0] = (labels[0] + 1) % 3
    with pytest.raises(ConflictError, match="contradicts the must-links"):
        model.update([[0.0, 0.0]], constraints=Constraints.from_labels(again))


def test_an_update_wants_constraints_about_all_points_and_the_same_features():
    model = fitted()
    with pytest.raises(ConstraintError, match="there are 181 now, 180 old ones"):
        model.update([[0.0, 0.0]], constraints=Constraints.none(1))
    with pytest.raises(ValueError, match="features"):
        model.update([[0.0]])


def test_the_grown_graph_of_binary_weights_is_the_graph_of_all_points_where_old_ones_lose_nothing():
    # New points so far away that no old point gains a neighbour.
    X, new = OLD, OLD[:40] + 1000.0
    recipe = Neighbors(5, weights="binary")
    graph = recipe.build(X)
    grown, same, alone, _ = graph.extension.grow(graph, X, new)
    whole = recipe.build(np.vstack([X, new]))
    assert (same == -1).all()
    np.testing.assert_allclose(grown.toarray(), whole.toarray())
    np.testing.assert_allclose(alone, graph.extension.edges(X, new)[0].sum(axis=1))


def with_strangers(n_usual=(12, 12), mutual=0.3, weight_to_old=2.0):
    """Two clusters in lattices, usual new points of both, and twelve strangers beside the first."""
    lattice = [(i, (i + step) % 100, 1.0) for i in range(100) for step in range(1, 7)]
    edges = lattice + [(100 + i, 100 + j, weight) for i, j, weight in lattice]
    usual = np.repeat([0, 1], n_usual)
    for new, cluster in enumerate(usual.tolist(), 200):
        edges += [(new, 100 * cluster + (8 * new + step) % 100, 1.0) for step in range(12)]
    first = 200 + len(usual)
    for number in range(12):
        edges += [(first + number, 8 * number + step, 0.5) for step in range(4)]
        edges += [(first + number, first + other, mutual) for other in range(number) if number - other < 4]
    to_old = np.append(np.full(len(usual), 12.0), np.full(12, weight_to_old))
    before = Before(np.repeat([0, 1], 100), np.ones(200), {}, 2)
    n, nothing = first + 12, Constraints.none(first + 12)
    labels, _, changes = place(before, graph_of(n, edges), nothing, nothing, None, to_old)
    np.testing.assert_array_equal(labels[:200], before.labels)
    np.testing.assert_array_equal(labels[200:first], usual)
    return set(labels[first:].tolist()), changes


def test_strangers_that_hold_together_are_new_though_most_of_their_weight_leads_to_old_points():
    founded, changes = with_strangers()
    assert founded == {2}
    assert "hold together" in changes.of("new")[0].why


@pytest.mark.parametrize(
    ("usual", "said"),
    [
        ({"n_usual": (0, 12)}, "the cluster has drifted"),
        ({"mutual": 0.0}, "they do not hold together"),
        ({"weight_to_old": 12.0}, None),  # they are no farther from old points than these are
    ],
    ids=str,
)
def test_strangers_found_nothing_where_one_of_three_conditions_fails(usual, said):
    founded, changes = with_strangers(**usual)
    assert founded == {0}
    rows = [(row.n_points, row.why.endswith(said or "")) for row in changes.of("strange")]
    assert rows == ([(12, True)] if said else [])
    assert ("12 are unlike the old points." in str(changes)) == bool(said)


def test_the_weight_of_new_points_that_came_alone_is_that_of_old_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    graph = Neighbors().build(X[:1500])
    alone = graph.extension.grow(graph, X[:1500], X[1500:])[2]
    # Old points that would ask for a new one without being its neighbours are not looked for.
    assert 0.9 < alone.mean() / graph.degrees.mean() < 1
    assert np.mean(alone < np.quantile(graph.degrees, 0.05)) == pytest.approx(0.05, abs=0.03)


def test_sparse_rows_and_scaled_features_are_updated():
    words = sp.csr_array(np.abs(OLD) @ np.eye(2, 6))
    model = NormalizedCut(3, random_state=0).fit(words)
    model.update(words[:4])
    np.testing.assert_array_equal(model.labels_[-4:], model.labels_[:4])
    scaled = OLD * [1.0, 1000.0]
    known = Constraints.from_labels(np.where(np.arange(180) % 5 == 0, Y_OLD, -1))
    auto = AutoCut(3, random_state=0).fit(scaled, constraints=known)
    before = auto.labels_.copy()
    new, y_new = blobs([5, 5, 5], seed=1)
    auto.update(new * [1.0, 1000.0])
    np.testing.assert_array_equal(auto.labels_[:180], before)
    assert [auto.cluster_classes_[c] for c in auto.labels_[180:]] == y_new.tolist()
    assert auto.explanation_
