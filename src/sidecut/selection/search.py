"""A search over parameters with the face of scikit-learn's, by folds over constraints."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if

from sidecut.constraints import Constraints
from sidecut.constraints.folds import ConstraintFolds, Fold, consistent
from sidecut.constraints.groups import PairCounts
from sidecut.exceptions import ConstraintError, SidecutWarning, warn

#: Names of scores of pairs, each fair to must-links and cannot-links however many there are of either.
SCORES: dict[str, Callable[[PairCounts], float]] = {
    "f_measure": lambda counts: counts.f_measure,
    "balanced_accuracy": lambda counts: counts.balanced_accuracy,
    "rand_beyond_chance": lambda counts: counts.rand_beyond_chance,
}


def as_score(scoring: str | Callable[[PairCounts], float]) -> Callable[[PairCounts], float]:
    """Return the score of pairs a name stands for; a function is returned unchanged."""
    if callable(scoring):
        return scoring
    if scoring not in SCORES:
        names = ", ".join(map(repr, SCORES))
        raise ValueError(f"scoring={scoring!r}: choose {names}, or a function of PairCounts.")
    return SCORES[scoring]


def score_pairs(
    constraints: Constraints,
    labels: npt.ArrayLike,
    scoring: str | Callable[[PairCounts], float] = "f_measure",
) -> float:
    """Score a clustering by known pairs and all that follows from them.

    The share of pairs satisfied is no score: of ten classes, nine pairs in ten are apart, and nearly every
    clustering keeps them so. These scores are balanced.

    Parameters
    ----------
    constraints : Constraints
        Constraints that were not given to the method.
    labels : array-like of shape (n_samples,)
        The cluster of each sample.
    scoring : {"f_measure", "balanced_accuracy", "rand_beyond_chance"} or callable
        The mean of the F-measures of must-links and of cannot-links; the mean of the shares satisfied; the
        Rand index corrected for chance, which is the adjusted Rand index where labels are known; or a
        function of `PairCounts`.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.selection import score_pairs
    >>> known = Constraints.from_labels([0, 0, 1, 1, -1])
    >>> score_pairs(known, [0, 0, 0, 1, 1], "balanced_accuracy")
    0.5
    """
    return as_score(scoring)(consistent(constraints).components.count_pairs(labels))


class ConstraintScorer:
    """A scorer for scikit-learn's own searches: pairs that were withheld judge the labels.

    scikit-learn slices X into folds, and constraints speak of all rows; with one "fold" of all rows its
    searches still work, given some constraints and judged by others. `ConstraintSearch` makes real folds.

    Parameters
    ----------
    withheld : Constraints
        Constraints that are not given to the method.
    scoring : str or callable, default="f_measure"
        See `score_pairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sidecut import E2CP
    >>> from sidecut.constraints import sample_pairs
    >>> from sidecut.selection import ConstraintScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> given, withheld = sample_pairs(y, 60, random_state=0), sample_pairs(y, 60, random_state=1)
    >>> everyone = np.arange(150)
    >>> search = GridSearchCV(
    ...     E2CP(3, random_state=0),
    ...     {"n_neighbors": [5, 20]},
    ...     scoring=ConstraintScorer(withheld),
    ...     cv=[(everyone, everyone)],
    ... )
    >>> search.fit(X, constraints=given).best_params_
    {'n_neighbors': 5}
    """

    def __init__(
        self, withheld: Constraints, scoring: str | Callable[[PairCounts], float] = "f_measure"
    ) -> None:
        self.withheld = withheld
        self.scoring = scoring

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the score of a fitted estimator's labels."""
        return score_pairs(self.withheld, labels_of(estimator), self.scoring)


def labels_of(estimator: Any) -> npt.NDArray[np.intp]:
    """Return the labels of a fitted clusterer, or of the last step of a pipeline."""
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    return last.labels_


@dataclass(frozen=True)
class _Trial:
    """One fit on one fold, and what it warned of."""

    score: float
    seconds: float
    error: str = ""
    warnings: tuple[tuple[type[Warning], str], ...] = ()


class ConstraintSearch(MetaEstimatorMixin, ClusterMixin, BaseEstimator):
    """Search over parameters by cross-validation on constraints.

    It looks like scikit-learn's GridSearchCV, which cannot be used: it slices the rows of X, and constraints
    speak of all rows. Here every fit sees all points and gets some of the constraints; the others judge it.

    Warnings of sidecut in a fold are not shown, since the last fit gets all constraints and warns for itself.
    Other warnings, and all of them without `refit`, are shown once.

    Parameters
    ----------
    estimator : clusterer or Pipeline
        Its `fit`, or that of the last step, takes `constraints`.
    param_grid : dict or list of dicts
        Names of parameters and the values to try, as in GridSearchCV.
    cv : int or ConstraintFolds, default=5
        How many folds, or the folds themselves.
    scoring : {"f_measure", "balanced_accuracy", "rand_beyond_chance"} or callable, default="f_measure"
        See `score_pairs`.
    refit : bool, default=True
        Fit the best again with all constraints.
    n_jobs : int or None, default=None
        How many fits to run at a time.
    error_score : float or "raise", default=nan
        The score of a fit that fails; "raise" lets the error through.
    random_state : int, RandomState or None, default=None
        For the folds.

    Attributes
    ----------
    cv_results_ : dict of arrays
        One row per setting, with the names GridSearchCV gives them; `pandas.DataFrame` shows it.
    best_params_, best_score_, best_index_ : dict, float, int
        The setting with the highest mean score, its score, its row.
    best_estimator_ : estimator
        Fitted with the best setting and all constraints, with `refit`.
    labels_ : array of shape (n_samples,)
        Its labels.
    n_splits_ : int
        How many folds there were.
    refit_time_ : float
        Seconds of the last fit.

    Examples
    --------
    Tune how far E2CP spreads constraints, and the graph it spreads them on:

    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sidecut import E2CP
    >>> from sidecut.constraints import sample_pairs
    >>> from sidecut.selection import ConstraintSearch
    >>> X, y = load_wine(return_X_y=True)
    >>> known = sample_pairs(y, 60, random_state=0)
    >>> model = make_pipeline(StandardScaler(), E2CP(3, random_state=0))
    >>> grid = {"e2cp__alpha": [0.5, 0.8], "e2cp__n_neighbors": [8, 20]}
    >>> search = ConstraintSearch(model, grid, random_state=0).fit(X, constraints=known)
    >>> len(search.cv_results_["params"]), round(search.best_score_, 2)
    (4, 1.0)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        cv: int | ConstraintFolds = 5,
        scoring: str | Callable[[PairCounts], float] = "f_measure",
        refit: bool = True,
        n_jobs: int | None = None,
        error_score: float | str = np.nan,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Try every setting on every fold.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The points, handed to the estimator as they are.
        y : ignored
            Present for scikit-learn's sake.
        constraints : Constraints
            What is known; at least two points must be known about.

        Returns
        -------
        self
            With `best_params_` and `best_estimator_`.
        """
        score = as_score(self.scoring)
        folds = self._make_folds(constraints)
        settings = list(ParameterGrid(self.param_grid))
        jobs = (
            delayed(_try)(self.estimator, setting, X, fold, score, self.error_score)
            for setting in settings
            for fold in folds
        )
        trials = Parallel(n_jobs=self.n_jobs)(jobs)
        table = [trials[row * len(folds) : (row + 1) * len(folds)] for row in range(len(settings))]
        _warn_once(trials, has_refit=self.refit)
        self.n_splits_ = len(folds)
        self.cv_results_ = _tabulate(settings, table)
        self._keep_best()
        if self.refit:
            self._refit(X, constraints)
        return self

    def _make_folds(self, constraints: Constraints | None) -> list[Fold]:
        if constraints is None or constraints.is_empty:
            raise ConstraintError(
                "constraints say nothing, so they cannot tell one setting from another: give constraints=..."
            )
        maker = self.cv
        if not isinstance(maker, ConstraintFolds):
            maker = ConstraintFolds(maker, random_state=self.random_state)
        folds = list(maker.split(constraints))
        if not folds:
            raise ConstraintError(
                f"{constraints!r} makes no folds: a fold holds out one known point and tells another"
            )
        return folds

    def _keep_best(self) -> None:
        scores = self.cv_results_["mean_test_score"]
        if np.isnan(scores).all():
            raise ValueError("every fit failed; set error_score='raise' to see the error")
        self.best_index_ = int(np.nanargmax(scores))
        self.best_score_ = float(scores[self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]

    def _refit(self, X: Any, constraints: Constraints | None) -> None:
        start = time.perf_counter()
        model = clone(self.estimator).set_params(**self.best_params_)
        self.best_estimator_ = model.fit(X, **_given(model, constraints))
        self.refit_time_ = time.perf_counter() - start
        self.labels_ = labels_of(self.best_estimator_)

    @available_if(lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), "predict"))
    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the clusters of new points, by the best estimator.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The new points.
        """
        return self.best_estimator_.predict(X)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that X may be whatever the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _given(estimator: Any, constraints: Constraints | None) -> dict[str, Constraints | None]:
    """Return the constraints under the name `fit` knows them by; a pipeline hands them to its last step."""
    steps = getattr(estimator, "steps", None)
    return {f"{steps[-1][0]}__constraints" if steps else "constraints": constraints}


def _try(
    estimator: Any,
    setting: Mapping[str, Any],
    X: Any,
    fold: Fold,
    score: Callable[[PairCounts], float],
    error_score: float | str,
) -> _Trial:
    start = time.perf_counter()
    model = clone(estimator).set_params(**clone(setting, safe=False))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, **_given(model, fold.train))
            error = ""
        except Exception as failure:
            if error_score == "raise":
                raise
            error = f"{type(failure).__name__}: {failure}"
    seconds = time.perf_counter() - start
    value = float(error_score) if error else score(fold.count(labels_of(model)))
    heard = dict.fromkeys((warning.category, str(warning.message)) for warning in caught)
    return _Trial(value, seconds, error, tuple(heard))


def _warn_once(trials: list[_Trial], has_refit: bool) -> None:
    """Issue each warning of the trials once, except those of sidecut where the last fit warns for itself."""
    for category, message in dict.fromkeys(heard for trial in trials for heard in trial.warnings):
        if not (has_refit and issubclass(category, SidecutWarning)):
            warn(message, category)


def _tabulate(settings: list[Mapping[str, Any]], table: list[list[_Trial]]) -> dict[str, Any]:
    """Return cv_results_ with scikit-learn's names, and warn of fits that failed."""
    errors = [trial.error for row in table for trial in row if trial.error]
    if errors:
        warn(
            f"{len(errors)} of {sum(map(len, table))} fits failed, the first with {errors[0]}",
            FitFailedWarning,
        )
    scores = np.array([[trial.score for trial in row] for row in table])
    seconds = np.array([[trial.seconds for trial in row] for row in table])
    means = scores.mean(axis=1)
    results: dict[str, Any] = {"params": settings}
    for name in sorted({name for setting in settings for name in setting}):
        values = np.ma.masked_all(len(settings), dtype=object)
        for row, setting in enumerate(settings):
            if name in setting:
                values[row] = setting[name]
        results[f"param_{name}"] = values
    for split in range(scores.shape[1]):
        results[f"split{split}_test_score"] = scores[:, split]
    results["mean_test_score"] = means
    results["std_test_score"] = scores.std(axis=1)
    results["rank_test_score"] = rankdata(-np.nan_to_num(means, nan=-np.inf), method="min").astype(np.int32)
    results["mean_fit_time"] = seconds.mean(axis=1)
    results["std_fit_time"] = seconds.std(axis=1)
    return results
