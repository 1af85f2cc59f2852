import numpy as np
import pytest

from benchmarks.choices import other_sets
from benchmarks.speed import few_labels, knowledge, large_graphs, pairs, search_once
from sidecut.graphs import nearest_neighbors


@pytest.mark.parametrize("name", knowledge.MADE)
def test_sets_made_here_have_the_size_asked_for(name):
    X, y = knowledge.sample(name, 300, None)
    assert X.shape[0] == y.size == 300
    assert np.unique(y).size == y.max() + 1


def test_unbalanced_classes_halve():
    sizes = np.bincount(knowledge.unbalanced(3_000)[1])
    np.testing.assert_allclose(sizes[:-1] / sizes[1:], 2.0, rtol=0.1)


def test_every_third_point_is_a_copy():
    X = knowledge.duplicates(300)[0]
    assert np.unique(X, axis=0).shape[0] == 200


def test_a_set_without_its_folder_is_left_out():
    assert knowledge.sample("mnist", 300, None) is None


def test_a_row_tells_times_and_scores():
    drawn = knowledge.sample("blobs", 200, None)
    rows = knowledge.compare("blobs", drawn, {"n/5 pairs": pairs.few}, ["CSP", "E2CP"], 1, 9.0)
    assert [row["method"] for row in rows] == ["CSP", "E2CP"]
    assert all(row["sidecut"] > 0 and row["NormalizedCut"] > 0 for row in rows)


def test_a_row_beside_exact_methods_tells_errors_and_what_was_lost():
    drawn = knowledge.sample("blobs", 200, None)
    known = {"n/5 pairs": pairs.few}
    csp, e2cp, csap = knowledge.beside_exact("blobs", drawn, known, ["CSP", "E2CP", "CSAP"], 2)
    assert "true error" not in csp
    for row in (e2cp, csap):
        # So few points are exact.
        assert row["draws"] == 2
        assert row["stated error"] == row["true error"] == row["most lost"] == 0.0
        assert row["exact ARI"] == row["ARI"]


def test_labels_per_class_are_counted():
    y = np.repeat([0, 1, 2], [10, 5, 1])
    labels = few_labels.per_class(y, 2, seed=0).labels
    assert np.bincount(labels[labels >= 0]).tolist() == [2, 2, 1]
    np.testing.assert_array_equal(labels[labels >= 0], y[labels >= 0])


def test_recall_counts_true_neighbours():
    X = np.random.default_rng(0).normal(size=(400, 5))
    found = nearest_neighbors(X, search_once.K).indices
    assert search_once.recall(X, found) == 1.0
    found[:, :5] = (np.arange(400)[:, None] + np.arange(200, 205)) % 400
    assert search_once.recall(X, found) == pytest.approx(0.75, abs=0.05)


def test_half_of_the_edges_stay_in_their_block():
    graph, y = large_graphs.block_graph(2_000)
    row, column = graph.matrix.nonzero()
    assert np.mean(y[row] == y[column]) == pytest.approx(0.5 + 0.5 / 10, abs=0.02)
    assert graph.n_edges == pytest.approx(20_000, rel=0.03)


@pytest.mark.parametrize("name", other_sets.MADE)
def test_sets_for_constants_are_not_those_of_the_page(name):
    X, y = other_sets.sample(name, 400, None)
    assert name not in (*knowledge.MADE, *knowledge.STORED)
    assert X.shape[0] == y.size == 400
    assert np.isfinite(X).all()
    assert np.bincount(y).min() > 0


def test_stored_sets_for_constants_need_their_folder():
    assert other_sets.sample("segment", 400, None) is None
    assert not set(other_sets.STORED) & set(knowledge.STORED)
