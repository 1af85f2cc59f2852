"""A graph that learns from labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from sidecut import AutoCut, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors
from sidecut.selection import learned, views
from sidecut.selection.views import LEARNED, MIN_EDGE_FACTOR, ClassifierWeighted, can_train

WINE, CLASSES = load_wine(return_X_y=True)
LABELS = np.asarray(sample_labels(CLASSES, 40, random_state=0).labels)


def beliefs_by_hand():
    """The mean of the two classifiers, each fitted by itself; a label is certain."""
    known = LABELS >= 0
    forest = RandomForestClassifier(100, random_state=0).fit(WINE[known], LABELS[known])
    scaler = StandardScaler().fit(WINE[known])
    linear = LogisticRegression(max_iter=500).fit(scaler.transform(WINE[known]), LABELS[known])
    chances = (forest.predict_proba(WINE) + linear.predict_proba(scaler.transform(WINE))) / 2
    chances[known] = np.eye(3)[LABELS[known]]
    return chances


def test_an_edge_weighs_as_much_as_both_ends_are_believed_to_be_of_one_class():
    plain = Neighbors(8).build(WINE).toarray()
    found = ClassifierWeighted(Neighbors(8), LABELS, random_state=0).build(WINE).toarray()
    chances = beliefs_by_hand()
    np.testing.assert_allclose(found, plain * (chances @ chances.T), atol=2 * MIN_EDGE_FACTOR)
    apart = (LABELS[:, None] >= 0) & (LABELS >= 0) & (LABELS[:, None] != LABELS) & (plain > 0)
    assert apart.any()
    assert 0 < found[apart].min() <= found[apart].max() <= MIN_EDGE_FACTOR


def test_new_points_are_linked_by_what_the_classifier_believes_of_them():
    """The weights of the plain graph, times the chance of one class; old labels are certain."""
    recipe = ClassifierWeighted(Neighbors(8), LABELS, random_state=0)
    graph = recipe.build(WINE)
    new = WINE[:5] + 1e-3
    edges, exact_matches = graph.extension.edges(WINE, new)
    plain, _ = Neighbors(8).build(WINE).extension.edges(WINE, new)
    classifier = graph.extension.classifier
    agreement = classifier.predict_proba(new) @ beliefs_by_hand().T
    np.testing.assert_allclose(edges.toarray(), plain.toarray() * agreement, atol=2 * MIN_EDGE_FACTOR)
    assert (exact_matches == -1).all()


def test_words_are_not_scaled():
    words = sp.csr_array(np.random.default_rng(0).poisson(0.5, size=(60, 30)).astype(float))
    labels = np.repeat([0, 1, -1], 20)
    graph = ClassifierWeighted(Neighbors(5, weights="cosine"), labels, random_state=0).build(words)
    assert isinstance(graph.extension.classifier.named_estimators_["linear"], LogisticRegression)


def test_every_graph_learns_from_what_its_fold_is_given(monkeypatch):
    seen = []

    class Spy(ClassifierWeighted):
        def build(self, X):
            seen.append(np.flatnonzero(self.labels >= 0))
            return super().build(X)

    monkeypatch.setattr(views, "ClassifierWeighted", Spy)
    monkeypatch.setitem(learned.GAINS["labels"], "classifier", (1.0, 0.0, 0.0))
    AutoCut(3, random_state=0).fit(WINE, constraints=Constraints.from_labels(LABELS))
    told = [len(labelled) for labelled in seen]
    # Two thirds of the labels in every fold, then everything for those that vote.
    assert set(told) == {26, 27, 40}
    assert told.index(40) == len([count for count in told if count < 40])


@pytest.mark.parametrize(
    ("labels", "n_clusters", "enough"),
    [
        (np.repeat([0, 1], 1), 2, True),
        (np.repeat([0, 1], 20), 3, False),  # a class without a label
        (np.repeat([0, 1, 2], 20), 2, False),  # fewer clusters than classes
        (np.repeat([0], 20), 1, False),
    ],
)
def test_labels_must_be_of_every_cluster(labels, n_clusters, enough):
    known = Constraints.from_labels(np.append(labels, [-1, -1]))
    assert can_train(known, n_clusters) is enough


def test_pairs_do_not_train_a_classifier():
    assert not can_train(sample_pairs(CLASSES, 60, random_state=0), 3)


@pytest.fixture(scope="module")
def weighted():
    """Two features tell four classes apart; the others show four clusters of another kind."""
    rng = np.random.default_rng(0)
    y, other = rng.integers(0, 4, (2, 300))
    X = rng.normal(size=(300, 6))
    X[:, :2] += 3.0 * np.column_stack([y % 2, y // 2])
    X[:, 2:] += 4.0 * np.repeat(np.column_stack([other % 2, other // 2]), 2, axis=1)
    known = sample_labels(y[:240], 80, random_state=0)
    return X, y, known, AutoCut(4, random_state=0).fit(X[:240], constraints=known)


def test_features_get_weights_where_labels_are_many(weighted):
    X, y, known, model = weighted
    assert "learned metric" in model.explanation_ or "classifier" in model.explanation_
    found = adjusted_rand_index(y[:240], model.labels_, constraints=known)
    plain = adjusted_rand_index(
        y[:240], NormalizedCut(4, random_state=0).fit(X[:240]).labels_, constraints=known
    )
    assert found > 0.4 > 0.1 > plain


def test_new_points_use_the_weights_too(weighted):
    X, y, _, model = weighted
    assert adjusted_rand_score(y[240:], model.predict(X[240:])) > 0.5
    np.testing.assert_array_equal(model.predict(X[:240]), model.labels_)


def test_what_was_chosen_can_be_fitted_again(weighted):
    X, _, known, model = weighted
    again = clone(model.best_estimator_).fit(X[:240], constraints=known)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_a_class_that_nobody_named_is_not_given_away(weighted):
    """A classifier would put its points into the classes it knows."""
    X, _, known, _ = weighted
    labels = np.asarray(known.labels).copy()
    labels[labels == 3] = -1
    model = AutoCut(4, random_state=0).fit(X[:240], constraints=Constraints.from_labels(labels))
    assert not any(graph.endswith(LEARNED) for graph in model.candidates_["graph"])
