from functools import partial
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import sidecut
from sidecut import Constraints, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.constraints import sample_pairs
from sidecut.exceptions import ConstraintWarning, GraphWarning, LabellingWarning
from sidecut.labelling.confidence import majority_of_neighbors
from sidecut.methods.poisson.descent import descend
from sidecut.methods.poisson.mbo import SIZE_NOISE, shrink

# The methods themselves are tested here; the guard has tests of its own.
PoissonMBO = partial(PoissonMBO, safe=False)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def graph(digits):
    from sidecut.graphs import Neighbors

    return Neighbors(20).build(digits[0])


def one_per_class(y, start=10):
    known = np.full(len(y), -1)
    known[start : start + 10] = y[start : start + 10]
    return Constraints.from_labels(known)


def fit(graph, known, **settings):
    settings = {"n_clusters": 10, "random_state": 0, **settings}
    return PoissonMBO(affinity="precomputed", **settings).fit(graph, constraints=known)


def test_sizes_that_are_given_are_met_and_help(digits, graph):
    _, y = digits
    known = one_per_class(y)
    unknown = fit(graph, known)
    given = fit(graph, known, sizes=np.bincount(y))
    np.testing.assert_array_equal(given.sizes_, np.bincount(y))
    np.testing.assert_array_equal(np.bincount(given.labels_), np.bincount(y))
    np.testing.assert_array_equal(given.size_range_, np.column_stack([np.bincount(y)] * 2))
    assert np.mean(given.labels_ == y) > np.mean(unknown.labels_ == y) > 0.93


def test_bounds_are_kept(digits, graph):
    _, y = digits
    bounds = np.bincount(y)[:, None] * [0.95, 1.05]
    model = fit(graph, one_per_class(y), sizes=bounds)
    assert (model.sizes_ >= bounds[:, 0] - 1e-9).all()
    assert (model.sizes_ <= bounds[:, 1] + 1e-9).all()
    assert np.mean(model.labels_ == y) > 0.92


def test_the_energy_never_rises(digits, graph):
    _, y = digits
    model = fit(graph, one_per_class(y))
    # Far and near, and both once more with the sizes found.
    assert len(model.energies_) == 4
    for energies in model.energies_:
        assert (np.diff(energies) <= 1e-8).all()
    assert model.n_iter_ == sum(map(len, model.energies_)) - 4


def test_sizes_found_are_expected_once_more(digits, graph, monkeypatch):
    """Far and near with few labels, near with more, not where sizes are given or only pairs are known."""
    _, y = digits
    seen = []

    def watched(diffusion, starts, rules, times, *limits):
        for labels, rule in zip(starts, rules, strict=True):
            seen.append((np.bincount(labels, minlength=10) / len(labels), rule.shares, times))
        return descend(diffusion, starts, rules, times, *limits)

    monkeypatch.setattr("sidecut.methods.poisson.mbo.descend", watched)
    many = Constraints.from_labels(np.where(np.arange(len(y)) < 100, y, -1))
    for known, times in ((one_per_class(y), (10.0, 3.0)), (many, (3.0,))):
        fit(graph, known, safe=False)
        start, shares, last_times = seen[-1]
        np.testing.assert_allclose(shares, start)
        assert last_times == times
    assert len(fit(graph, many, safe=False).energies_) == 3
    assert len(fit(graph, many, sizes=np.bincount(y)).energies_) == 2
    assert len(fit(graph, sample_pairs(y, 300, random_state=0), safe=False).energies_) == 2


def test_unknown_sizes_have_a_range(digits, graph):
    _, y = digits
    model = fit(graph, one_per_class(y))
    assert (model.size_range_[:, 0] <= model.sizes_).all()
    assert (model.sizes_ <= model.size_range_[:, 1]).all()
    assert (model.size_range_[:, 1] > model.size_range_[:, 0]).any()


def test_sizes_shrink_by_what_chance_explains():
    """trust = 1 - noise / Σ p log(p k), noise = SIZE_NOISE / √labels; below the noise sizes are even."""
    sizes = np.array([60, 30, 10])
    shares = sizes / 100
    unevenness = (shares * np.log(3 * shares)).sum()
    for per_cluster in (1.0, 4.0):
        trust = 1 - SIZE_NOISE / np.sqrt(per_cluster) / unevenness
        np.testing.assert_allclose(shrink(sizes, per_cluster), trust * shares + (1 - trust) / 3)
    np.testing.assert_allclose(shrink(np.array([34, 33, 33]), 1.0), 1 / 3)
    np.testing.assert_allclose(shrink(np.array([10, 0]), 1.0).sum(), 1.0)


@pytest.mark.parametrize("per_class", [5, 10])
def test_very_uneven_digits_do_not_collapse(digits, per_class):
    X, y = digits
    rng = np.random.RandomState(0)
    shares = (1.0, 0.1, 0.3, 1.0, 0.1, 0.3, 0.6, 1.0, 0.1, 0.6)
    kept = np.concatenate(
        [rng.permutation(np.flatnonzero(y == c))[: int(178 * share)] for c, share in enumerate(shares)]
    )
    X, y = X[kept], y[kept]
    known = np.full(len(y), -1)
    for c in range(10):
        known[np.flatnonzero(y == c)[:per_class]] = c
    model = PoissonMBO(10).fit(X, constraints=Constraints.from_labels(known))
    assert np.mean(model.labels_ == y) > 0.94
    assert (np.abs(model.sizes_ - np.bincount(y)) < 0.6 * np.bincount(y) + 5).all()


def test_uneven_classes_do_not_collapse():
    X, y = make_blobs([300, 60, 30], centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=0)
    known = np.full(len(y), -1)
    first = [int(np.flatnonzero(y == c)[0]) for c in range(3)]
    known[first] = y[first]
    order = y[np.sort(first)]
    model = PoissonMBO(3, n_neighbors=10).fit(X, constraints=Constraints.from_labels(known))
    assert np.mean(order[model.labels_] == y) > 0.98
    assert model.sizes_.min() > 10


def test_pairs_alone_improve_on_the_cut(digits, graph):
    _, y = digits
    known = sample_pairs(y, 500, random_state=0)
    cut = NormalizedCut(10, affinity="precomputed", random_state=0).fit(graph)
    model = fit(graph, known)
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, cut.labels_) + 0.08
    assert known.satisfaction(model.labels_) > 0.97


def watched_ends(model):
    """Return a list that fills with the ends of all descents of a fit."""
    ends = []
    descend = model._descend

    def watch(*args):
        ends.extend(descend(*args))
        return ends

    model._descend = watch
    return ends


def test_of_several_ends_the_one_that_agrees_best_is_kept(digits, graph):
    """Agreement is that of what neighbours say, since links hold their own ends wherever they lead."""
    _, y = digits
    numbers = []
    for draw in range(4):
        known = sample_pairs(y, 60, random_state=draw)
        model = PoissonMBO(10, affinity="precomputed", random_state=0, safe=False)
        ends = watched_ends(model)
        model.fit(graph, constraints=known)
        agreements = [known.agreement(majority_of_neighbors(graph, end.labels, 10)) for end in ends]
        # Of equals the one that cuts less.
        best = max(range(len(ends)), key=lambda i: (agreements[i], -ends[i].energy_without_sizes))
        kept = ends[best]
        np.testing.assert_array_equal(model.labels_, kept.labels)
        numbers.append(len(ends))
    assert max(numbers) == 3


def test_links_join_what_the_graph_does_not():
    """A graph in pieces also starts from the signed cut, in which links are edges."""
    X, y = make_blobs([40] * 8, centers=20.0 * np.eye(8), cluster_std=0.5, shuffle=False, random_state=0)
    pairs = [(40 * a + i, 40 * a + 40 + i) for a in (0, 2, 4, 6) for i in range(10)]
    known = Constraints.from_pairs(len(y), must_link=pairs, cannot_link=[(0, 100), (100, 180), (180, 260)])
    model = PoissonMBO(4, n_neighbors=10, random_state=0, safe=False)
    ends = watched_ends(model)
    with pytest.warns(GraphWarning, match="8 connected components"):
        model.fit(X, constraints=known)
    assert len(ends) >= 2
    assert adjusted_rand_score(y // 2, model.labels_) == 1.0


def test_labels_at_random_and_what_they_reach_tell_the_shares(digits, graph):
    """q = (labels of the class + 300 q of the reach) / (all labels + 300)."""
    _, y = digits
    known = np.full(len(y), -1)
    known[:60] = y[:60]
    known[60:300] = np.where(y[60:300] == 3, 3, -1)
    counts = np.bincount(known[known >= 0])
    labels = Constraints.from_labels(known)
    shares = []
    for sizes in (None, "labels"):
        model = PoissonMBO(10, affinity="precomputed", sizes=sizes)
        ends = watched_ends(model)
        model.fit(graph, constraints=labels)
        shares.append(ends[0].estimates[1] / len(y))
    expected = (counts + 300 * shares[0]) / (counts.sum() + 300)
    np.testing.assert_allclose(shares[1], expected, atol=1 / len(y))


# With fewer labels it depends on the start in one case of four.
@pytest.mark.parametrize("first", [0, 200, 300])
def test_a_class_without_a_label_is_found(digits, graph, first):
    _, y = digits
    known = np.full(len(y), -1)
    told = slice(first, first + 100)
    known[told] = np.where(y[told] == 4, -1, y[told])
    model = fit(graph, Constraints.from_labels(known))
    fours = model.labels_[y == 4]
    assert np.mean(fours == 9) > 0.8
    assert np.mean(model.labels_[y != 4] == 9) < 0.05


def test_clusters_without_labels_take_sizes_from_large_to_small():
    X, y = make_blobs([90, 30, 60], centers=[[0, 0], [5, 0], [0, 5]], cluster_std=0.6, random_state=0)
    model = PoissonMBO(3, sizes=[30, 90, 60], n_neighbors=10, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.98
    np.testing.assert_array_equal(model.sizes_, [30, 90, 60])


def test_wrong_weak_links_cost_less_than_wrong_strong_ones(digits, graph):
    _, y = digits
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(y), (300, 2))
    pairs = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]
    right = []
    for weight in (0.01, 5.0):
        known = one_per_class(y).merged_with(
            Constraints.from_pairs(len(y), must_link=pairs, must_weight=weight), on_conflict="drop"
        )
        right.append(np.mean(fit(graph, known).labels_ == y))
    assert right[0] > right[1]


def test_links_of_no_weight_are_no_links(digits, graph):
    _, y = digits
    known = one_per_class(y)
    more = known | sample_pairs(y, 200, random_state=1)
    one, other = fit(graph, known), fit(graph, more, link_weight=0.0)
    # Must-links to labels make labels, with any weight.
    assert np.mean(one.labels_ == other.labels_) > 0.97
    alone = fit(graph, sample_pairs(y, 200, random_state=1), link_weight=0.0)
    np.testing.assert_array_equal(alone.labels_, fit(graph, None).labels_)


def test_confidence_tells_right_from_wrong(digits, graph):
    from sklearn.metrics import roc_auc_score

    _, y = digits
    for model in (fit(graph, one_per_class(y), sizes=np.bincount(y)),):
        assert model.confidence_.min() >= 0
        assert model.confidence_.max() <= 1
        assert roc_auc_score(model.labels_ == y, model.confidence_) > 0.8


def test_new_points(digits):
    X, y = digits
    model = PoissonMBO(10).fit(X[:1200], constraints=one_per_class(y[:1200]))
    np.testing.assert_array_equal(model.predict(X[:1200][:50]), model.labels_[:50])
    inside, outside = np.mean(model.labels_ == y[:1200]), np.mean(model.predict(X[1200:]) == y[1200:])
    assert outside > inside - 0.06


def test_hard_links_hold_after_all(digits, graph):
    _, y = digits
    known = one_per_class(y) | Constraints.from_pairs(len(y), cannot_link=[(100, 101), (102, 103)])
    known = known | Constraints.from_pairs(len(y), must_link=[(200, 201)])
    model = fit(graph, known, hard=True)
    assert known.satisfaction(model.labels_) == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size_penalty": -1}, "size_penalty=-1 must be"),
        ({"link_weight": np.inf}, "link_weight=inf must be"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number"),
        ({"sizes": [1, 2]}, r"sizes has shape \(2,\) for n_clusters=3"),
    ],
)
def test_parameters_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        PoissonMBO(3, **settings).fit(np.eye(5))


def test_poisson_learning_too_uses_pairs_alone(digits, graph):
    _, y = digits
    known = sample_pairs(y, 500, random_state=0)
    cut = NormalizedCut(10, affinity="precomputed", random_state=0).fit(graph)
    model = PoissonLearning(10, safe=False, affinity="precomputed", random_state=0).fit(
        graph, constraints=known
    )
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, cut.labels_)


def test_a_cluster_without_points_is_spoken_of():
    rows = [[0, 0, 1, 0], [255, 0, 1, 1], [4, 4, 4, 5], [8, 10, 9, 9], [4, 5, 5, 6], [10, 11, 9, 10]]
    rows += [
        [1, 0, 255, 255],
        [0, 0, 255, 0],
        [10, 11, 10, 10],
        [9, 10, 11, 11],
        [255, 2, 1, 1],
        [0, 0, 1, 2],
    ]
    known = Constraints.from_pairs(12, must_link=[(0, 9), (2, 5)], cannot_link=[(7, 9)], must_weight=1e9)
    model = PoissonMBO(5, safe=False, n_neighbors=3, random_state=0)
    with pytest.warns(LabellingWarning, match="'PoissonMBO' found 4 clusters where n_clusters=5"):
        model.fit(np.array(rows, dtype=np.uint8), constraints=known)
    assert len(np.unique(model.labels_)) == 4


@pytest.mark.parametrize("method", [sidecut.PoissonLearning, sidecut.PoissonMBO])
def test_one_pair_in_two_clusters_is_no_label_of_each(method):
    """It names both clusters, but says too little to move all other points."""
    X, y = make_moons(200, noise=0.1, random_state=0)
    model = method(2, random_state=0)
    plain = model.fit(X).labels_
    violated = next((i, j) for i, j in combinations(range(200), 2) if plain[i] == plain[j] and y[i] != y[j])
    with pytest.warns(ConstraintWarning, match="too few to show"):
        model.fit(X, constraints=Constraints.from_pairs(200, cannot_link=[violated]))
    assert adjusted_rand_score(model.labels_, plain) == 1.0


@pytest.mark.parametrize("method", [sidecut.PoissonLearning, sidecut.PoissonMBO])
def test_labels_of_all_clusters_are_followed_however_few(method):
    """These methods are made for them."""
    X, y = make_blobs(90, centers=3, random_state=2)
    known = np.full(90, -1)
    known[[np.flatnonzero(y == c)[0] for c in range(3)]] = range(3)
    model = method(3, random_state=0).fit(X, constraints=known)
    assert not hasattr(model, "decision_")
