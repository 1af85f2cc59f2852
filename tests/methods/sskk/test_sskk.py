"""SSKK: what links do to the objective, where it starts, what it refuses."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import adjusted_rand_score

from sidecut import SSKK, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConflictError, ConvergenceWarning, SidecutWarning
from sidecut.graphs import DenseGraph, Gaussian, Graph, Neighbors, SelfTuning
from sidecut.methods.sskk import kernel_kmeans, link_penalty, link_similarities

# The methods themselves are tested here; the guard has tests of its own.
SSKK = partial(SSKK, safe=False)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def objective_of(kernel, labels, n_clusters):
    """The objective of given labels."""
    return kernel_kmeans(kernel, labels, n_clusters, shift=kernel.bound, max_iter=1).objective_trace[0]


@given(seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_links_are_penalties_on_the_sum_of_squares(seed):
    """The sum of squares, less the must-links kept, plus the cannot-links broken, over the cluster's size.

    Each pair counts twice, as (i, j) and as (j, i): the objective of a hidden Markov random field with
    penalties scaled by the size of the cluster (Kulis et al. 2009, section 4).
    """
    rng = np.random.default_rng(seed)
    X, labels = rng.random((12, 3)), rng.permutation(np.arange(12) % 3)
    links = sample_pairs(rng.integers(0, 3, 12), 20, random_state=seed)
    kernel = link_similarities(DenseGraph(X @ X.T), links, 0.7, np.ones(12))
    sizes = np.bincount(labels)
    scatter = sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in range(3))
    together = labels[links.pairs[:, 0]] == labels[links.pairs[:, 1]]
    price = 2 * 0.7 * links.strengths / sizes[labels[links.pairs[:, 0]]]
    expected = scatter - price[together & (links.strengths > 0)].sum()
    expected += np.abs(price[together & (links.strengths < 0)]).sum()
    assert objective_of(kernel, labels, 3) + (X**2).sum() == pytest.approx(expected)


def test_weights_by_degree_are_the_normalized_cut(iris):
    X, y = iris
    graph = Neighbors(10).build(X)
    kernel = link_similarities(graph, Constraints.none(150), 0.0, graph.degrees)
    weights = graph.toarray()
    cut = sum(weights[y == c][:, y != c].sum() / weights[y == c].sum() for c in range(3))
    assert objective_of(kernel, y, 3) + 3 == pytest.approx(cut)


def test_the_kernel_is_the_shifted_one_of_the_papers(iris):
    X, y = iris
    links = sample_pairs(y, 50, random_state=0)
    graph = Neighbors(10).build(X)
    kernel = link_similarities(graph, links, 2.0, np.ones(150))
    expected = graph.toarray() + 2.0 * links.as_matrix().toarray()
    np.testing.assert_allclose(kernel.apply(np.eye(150)), expected)
    assert (kernel.magnitudes >= np.abs(expected).sum(axis=1) - 1e-9).all()


@pytest.mark.parametrize("weighting", ["none", "degree"])
def test_the_model_descends_in_the_objective_it_tells(iris, weighting):
    X, y = iris
    known = sample_pairs(y, 60, random_state=0)
    start = np.arange(150) % 3
    model = SSKK(3, weighting=weighting, init=start, random_state=0).fit(X, constraints=known)
    weights = np.ones(150) if weighting == "none" else model.affinity_matrix_.degrees
    kernel = link_similarities(model.affinity_matrix_, known, 150 / (3 * 60), weights)
    assert model.objective_trace_[0] == pytest.approx(objective_of(kernel, start, 3))
    assert model.objective_trace_[-1] == pytest.approx(objective_of(kernel, model.labels_, 3))
    assert (np.diff(model.objective_trace_) < 0).all()
    assert 2 < len(model.objective_trace_) <= model.n_iter_


def test_iterations_are_the_steps_tried(iris):
    X, y = iris
    known = sample_pairs(y, 60, random_state=0)
    settings = {"init": np.arange(150) % 3, "random_state": 0}
    model = SSKK(3, **settings).fit(X, constraints=known)
    # So many steps are enough, the last ones to see that no label changes; one less is not.
    again = SSKK(3, **settings, max_iter=model.n_iter_).fit(X, constraints=known)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert again.n_iter_ == model.n_iter_
    with pytest.warns(ConvergenceWarning, match="still moved"):
        short = SSKK(3, **settings, max_iter=model.n_iter_ - 1).fit(X, constraints=known)
    assert short.n_iter_ == model.n_iter_ - 1


def test_the_penalty_is_n_over_k_times_the_number_of_links(iris):
    X, y = iris
    known = sample_pairs(y, 40, random_state=0)
    assert link_penalty(known, 3) == pytest.approx(150 / (3 * 40))
    assert SSKK(3, safe=False, random_state=0).fit(X, constraints=known).penalty_ == link_penalty(known, 3)
    assert SSKK(3, safe=False, penalty=0.25, random_state=0).fit(X, constraints=known).penalty_ == 0.25
    labels = sample_labels(y, 20, random_state=0)
    assert link_penalty(labels, 3) == pytest.approx(150 / (3 * 190))
    assert link_penalty(Constraints.none(150), 3) == 0.0


def test_the_strength_of_all_links_together_does_not_matter(iris):
    X, y = iris
    known = sample_pairs(y, 40, random_state=0)
    model, strong = (
        SSKK(3, safe=False, random_state=0).fit(X, constraints=c) for c in (known, known.scaled(7.0))
    )
    np.testing.assert_array_equal(model.labels_, strong.labels_)
    assert strong.penalty_ == pytest.approx(model.penalty_ / 7)


def test_the_shift_is_the_smallest_eigenvalue(iris):
    X, y = iris
    known = sample_pairs(y, 40, random_state=0)
    model = SSKK(3, safe=False, weighting="none", random_state=0).fit(X, constraints=known)
    kernel = model.affinity_matrix_.toarray() + model.penalty_ * known.as_matrix().toarray()
    assert -np.linalg.eigvalsh(kernel)[0] <= model.shift_ <= -1.03 * np.linalg.eigvalsh(kernel)[0]


def test_a_large_penalty_satisfies_links_that_can_be(iris):
    X, y = iris
    known = sample_labels(y, 40, random_state=0)
    assert known.satisfaction(NormalizedCut(3, random_state=0).fit_predict(X)) < 1
    model = SSKK(3, safe=False, penalty=100.0, random_state=0).fit(X, constraints=known)
    assert known.satisfaction(model.labels_) == 1.0


def test_hard_links_are_satisfied(iris):
    X, y = iris
    known = sample_pairs(y, 100, random_state=1)
    soft = SSKK(3, safe=False, random_state=0).fit(X, constraints=known)
    hard = SSKK(3, hard=True, random_state=0).fit(X, constraints=known)
    assert known.satisfaction(soft.labels_) < known.satisfaction(hard.labels_) == 1.0
    assert hard.repair_.violated == 0
    contradiction = Constraints.from_pairs(150, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    with pytest.raises(ConflictError, match="hard=True"):
        SSKK(3, hard=True).fit(X, constraints=contradiction)
    assert SSKK(3, safe=False, random_state=0).fit(X, constraints=contradiction).labels_.shape == (150,)


def test_labels_of_all_clusters_are_where_it_starts():
    X, y = load_digits(return_X_y=True)
    known = sample_labels(y, 80, random_state=0)
    others = known.labels < 0
    told = SSKK(10, safe=False, random_state=0).fit(X, constraints=known).labels_
    from_cut = SSKK(10, safe=False, init="spectral", random_state=0).fit(X, constraints=known).labels_
    gained = adjusted_rand_score(y[others], told[others]) - adjusted_rand_score(y[others], from_cut[others])
    assert gained > 0.05


def test_a_given_start_is_where_it_starts(iris):
    X, y = iris
    truth = SSKK(3, init=y, shift="full", max_iter=50).fit(X)
    assert adjusted_rand_score(y, truth.labels_) > 0.85
    other = SSKK(3, init=(y + 1) % 3, shift="full", max_iter=50).fit(X)
    np.testing.assert_array_equal(other.labels_, truth.labels_)


def test_starts_left_to_chance_are_compared(iris):
    X, _ = iris
    one, many = (
        [
            SSKK(3, init="farthest_first", n_init=n, random_state=s).fit(X).objective_trace_[-1]
            for s in range(4)
        ]
        for n in (1, 8)
    )
    assert np.mean(many) <= np.mean(one)
    assert max(many) < max(one)


class Counted(Graph):
    """A graph that is only applied, and remembers how wide the blocks were."""

    def __init__(self, graph):
        self._graph, self.n_nodes, self.widths = graph, graph.n_nodes, set()

    def apply(self, block):
        self.widths.add(1 if block.ndim == 1 else block.shape[1])
        return self._graph.apply(block)


def test_nothing_is_wider_than_the_number_of_clusters(iris):
    X, y = iris
    graph = Counted(Neighbors(10).build(X))
    known = sample_labels(y, 30, random_state=0)
    model = SSKK(3, affinity="precomputed", safe=False, random_state=0).fit(graph, constraints=known)
    assert graph.widths == {1, 3}
    plain = SSKK(3, safe=False, affinity="precomputed", random_state=0)
    np.testing.assert_array_equal(model.labels_, plain.fit(Neighbors(10).build(X), constraints=known).labels_)


@pytest.mark.parametrize("form", [lambda graph: graph.toarray(), lambda graph: graph.matrix])
def test_the_form_of_the_graph_does_not_matter(iris, form):
    X, y = iris
    known = sample_pairs(y, 50, random_state=0)
    model = SSKK(3, safe=False, affinity="precomputed", random_state=0)
    expected = SSKK(3, safe=False, random_state=0).fit(X, constraints=known)
    graph = expected.affinity_matrix_
    np.testing.assert_array_equal(model.fit(form(graph), constraints=known).labels_, expected.labels_)
    assert model.objective_trace_[-1] == pytest.approx(expected.objective_trace_[-1])


#: Duplicates, components, constant features and points far away, as in tests/contracts.
ugly_points = hnp.arrays(
    np.float64,
    st.tuples(st.integers(6, 16), st.integers(1, 3)),
    elements=st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 5.0, -3.0, 1e6]),
)
AFFINITIES = [Neighbors(3), Neighbors(2, weights="binary", symmetrize="mutual"), Gaussian(1e-2), SelfTuning()]


@given(
    X=ugly_points,
    affinity=st.sampled_from(AFFINITIES),
    n_clusters=st.integers(1, 4),
    weighting=st.sampled_from(["degree", "none"]),
    init=st.sampled_from(["auto", "farthest_first", "spectral"]),
    data=st.data(),
)
@settings(max_examples=80, deadline=None)
def test_ugly_data_give_clusters_or_a_clear_error(X, affinity, n_clusters, weighting, init, data):
    told = data.draw(st.lists(st.sampled_from([-1, -1, 0, 1, 2]), min_size=len(X), max_size=len(X)))
    model = SSKK(n_clusters, affinity=affinity, weighting=weighting, init=init, n_init=2, random_state=0)
    with warnings.catch_warnings():
        # Any warning that is not ours would be numbers going wrong unnoticed.
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SidecutWarning)
        try:
            model.fit(X, constraints=Constraints.from_labels(told))
        except ValueError as error:
            if not str(error).startswith(("None of the", "all ")):
                raise
            return
    assert set(model.labels_) == set(range(n_clusters))
    assert np.isfinite(model.embedding_).all()
    assert (np.diff(model.objective_trace_) < 0).all()


def test_similarities_to_clusters_are_told(iris):
    X, y = iris
    known = sample_labels(y, 30, random_state=0)
    model = SSKK(3, safe=False, weighting="none", random_state=0).fit(X, constraints=known)
    kernel = model.affinity_matrix_.toarray() + model.penalty_ * known.with_diagonal(0).as_matrix().toarray()
    for c in range(3):
        np.testing.assert_allclose(model.embedding_[:, c], kernel[:, model.labels_ == c].mean(axis=1))


def test_too_few_steps_are_told(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps"):
        SSKK(3, init=np.arange(150) % 3, max_iter=1).fit(iris[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weighting": "guess"}, "weighting='guess': choose"),
        ({"shift": 3.0}, "shift=3.0: choose"),
        ({"init": "guess"}, "init='guess': choose"),
        ({"init": np.zeros(10, dtype=int)}, r"init has shape \(10,\)"),
        ({"init": np.zeros(150)}, "dtype float64"),
        ({"init": np.zeros(150, dtype=int)}, r"init has the labels \[0\]; .* 0 to 2"),
        ({"init": np.arange(150) % 4}, r"init has the labels \[0, 1, 2, 3\]"),
        ({"penalty": -1.0}, "penalty=-1.0"),
        ({"penalty": "large"}, "penalty='large'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"n_init": 2.5}, "n_init=2.5"),
        ({"hard": "yes"}, "hard='yes'"),
    ],
)
def test_settings_that_make_no_sense(iris, settings, message):
    with pytest.raises(ValueError, match=message):
        SSKK(3, **settings).fit(iris[0])
