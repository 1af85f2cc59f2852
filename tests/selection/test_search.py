"""A search with the face of scikit-learn's."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.datasets import make_moons
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidecut import E2CP, Constraints, NormalizedCut, SpectralLearning
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConstraintError, GraphWarning
from sidecut.selection import ConstraintFolds, ConstraintScorer, ConstraintSearch, score_pairs

X, Y = make_moons(80, noise=0.05, random_state=0)
KNOWN = sample_labels(Y, 20, random_state=0)
GRID = {"n_clusters": [2, 3], "n_neighbors": [5, 30]}


@pytest.fixture(scope="module")
def search():
    return ConstraintSearch(SpectralLearning(random_state=0), GRID, cv=3, random_state=0).fit(
        X, constraints=KNOWN
    )


def test_every_score_is_that_of_a_fit_by_hand(search):
    results = search.cv_results_
    assert results["params"][1] == {"n_clusters": 2, "n_neighbors": 30}
    for split, fold in enumerate(ConstraintFolds(3, random_state=0).split(KNOWN)):
        labels = SpectralLearning(2, n_neighbors=30, random_state=0).fit(X, constraints=fold.train).labels_
        assert results[f"split{split}_test_score"][1] == fold.count(labels).f_measure


def test_results_have_the_names_of_scikit_learn(search):
    everyone = np.arange(80)
    theirs = GridSearchCV(
        SpectralLearning(random_state=0),
        GRID,
        scoring=ConstraintScorer(KNOWN),
        cv=[(everyone, everyone)] * 3,
    ).fit(X)
    missing = set(theirs.cv_results_) - set(search.cv_results_)
    assert missing == {"mean_score_time", "std_score_time"}
    for name in ("best_params_", "best_score_", "best_index_", "best_estimator_", "refit_time_", "n_splits_"):
        assert hasattr(theirs, name)
        assert hasattr(search, name)


def test_the_best_is_fitted_with_everything(search):
    assert search.best_params_["n_clusters"] == 2
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    expected = SpectralLearning(random_state=0, **search.best_params_).fit(X, constraints=KNOWN)
    np.testing.assert_array_equal(search.labels_, expected.labels_)


def test_a_pipeline_is_told_through_its_last_step():
    model = make_pipeline(StandardScaler(), E2CP(2, random_state=0))
    search = ConstraintSearch(model, {"e2cp__n_neighbors": [8]}, cv=2, random_state=0)
    labels = search.fit_predict(X, constraints=KNOWN)
    by_hand = E2CP(2, n_neighbors=8, random_state=0).fit(StandardScaler().fit_transform(X), constraints=KNOWN)
    np.testing.assert_array_equal(labels, by_hand.labels_)


def test_fits_that_fail_are_told_and_scored_as_asked():
    grid = {"n_neighbors": [8, -3]}
    with pytest.warns(
        FitFailedWarning, match="2 of 4 fits failed, the first with ValueError: n_neighbors=-3"
    ):
        search = ConstraintSearch(E2CP(2, random_state=0), grid, cv=2, random_state=0).fit(
            X, constraints=KNOWN
        )
    assert search.best_params_ == {"n_neighbors": 8}
    with pytest.raises(ValueError, match="n_neighbors=-3"):
        ConstraintSearch(E2CP(2), grid, cv=2, error_score="raise").fit(X, constraints=KNOWN)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_when_all_fail():
    with pytest.raises(ValueError, match="every fit failed"):
        ConstraintSearch(E2CP(2), {"n_neighbors": [-3]}, cv=2).fit(X, constraints=KNOWN)


@pytest.mark.parametrize("nothing", [None, Constraints.none(80)])
def test_nothing_known_cannot_choose(nothing):
    with pytest.raises(ConstraintError, match="cannot tell one setting from another"):
        ConstraintSearch(E2CP(2), GRID).fit(X, constraints=nothing)


def test_one_known_point_makes_no_folds():
    with pytest.raises(ConstraintError, match="makes no folds"):
        ConstraintSearch(E2CP(2), GRID).fit(X, constraints=Constraints.from_labels([0] + [-1] * 79))


def test_it_is_a_scikit_learn_estimator():
    search = ConstraintSearch(E2CP(2), GRID, scoring="balanced_accuracy")
    copy = clone(search)
    assert copy.get_params()["estimator__n_clusters"] == 2
    assert copy.scoring == "balanced_accuracy"
    assert hasattr(search, "predict")
    assert not hasattr(ConstraintSearch(NormalizedCut(2), GRID), "labels_")


def test_a_scorer_for_their_searches():
    told, withheld = sample_pairs(Y, 20, random_state=0), sample_pairs(Y, 40, random_state=1)
    everyone = np.arange(80)
    search = GridSearchCV(
        E2CP(2, random_state=0),
        {"n_neighbors": [6, 40]},
        scoring=ConstraintScorer(withheld),
        cv=[(everyone, everyone)],
    ).fit(X, constraints=told)
    by_hand = [
        score_pairs(withheld, E2CP(2, n_neighbors=k, random_state=0).fit(X, constraints=told).labels_)
        for k in (6, 40)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand)


class Warner(ClusterMixin, BaseEstimator):
    """Warns of the graph and of something else whenever it is fitted."""

    def __init__(self, start=0):
        self.start = start

    def fit(self, X, y=None, *, constraints=None):
        warnings.warn("a poor graph", GraphWarning, stacklevel=2)
        warnings.warn("something else", UserWarning, stacklevel=2)
        self.labels_ = np.arange(self.start, self.start + len(X)) % 2
        return self


@pytest.mark.parametrize(
    ("refit", "expected"),
    [(False, {"a poor graph": 1, "something else": 1}), (True, {"a poor graph": 1, "something else": 2})],
)
def test_folds_do_not_repeat_a_warning(refit, expected):
    X, y = make_moons(60, noise=0.05, random_state=0)
    known = sample_labels(y, 20, random_state=0)
    search = ConstraintSearch(Warner(), {"start": [0, 1]}, cv=3, refit=refit)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, constraints=known)
    messages = [str(warning.message) for warning in caught]
    assert {message: messages.count(message) for message in set(messages)} == expected
