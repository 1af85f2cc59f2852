"""The page on classifiers, label propagation and HDBSCAN says what was measured."""

from pathlib import Path

import numpy as np

from benchmarks.quality.alternatives.__main__ import KNOWLEDGE, SETS, as_markdown, choose_labels, read_means
from benchmarks.quality.alternatives.rivals import classifiers, fit_without_labels

PAGE = Path(__file__).parents[2] / "docs" / "why-not.md"


def test_the_tables_of_the_page_are_those_of_the_stored_results():
    means, page = read_means(), PAGE.read_text()
    assert as_markdown(means, "known", KNOWLEDGE) in page
    assert as_markdown(means, "set", SETS) in page


def test_labels_are_told_as_the_name_says():
    y = np.arange(600) % 10
    assert np.bincount(y[choose_labels(y, "two per class", 0) >= 0]).tolist() == [2] * 10
    assert np.sum(choose_labels(y, "20 %", 0) >= 0) == 120
    never = choose_labels(y, "5 %, one class never named", 0)
    assert np.sum(never >= 0) == 30
    assert len(set(y) - set(y[never >= 0])) >= 1
    assert np.array_equal(never[never >= 0], y[never >= 0])


def test_a_classifier_sees_the_told_points_alone():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    answers = classifiers()["nearest neighbour, 1"](X, np.array([0, -1, 1, -1, -1]))
    assert answers.tolist() == [0, 0, 1, 1, 1]


def test_noise_goes_to_the_nearest_cluster():
    class Noisy:
        def fit_predict(self, X):
            return np.array([0, 0, 1, -1])

    assert fit_without_labels(Noisy(), np.array([[0.0], [1.0], [9.0], [8.0]])).tolist() == [0, 0, 1, 1]
