"""Warnings point at the line of whoever called the library."""

import warnings

import numpy as np
import pytest
import sklearn.exceptions
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidecut import CSP, NormalizedCut
from sidecut.exceptions import ConvergenceWarning, LabellingWarning

POINTS = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: NormalizedCut(3, n_neighbors=3, random_state=0).fit(POINTS),
        lambda: NormalizedCut(3, n_neighbors=3, random_state=0).fit_predict(POINTS),
        lambda: CSP(3, n_neighbors=3, random_state=0).fit(POINTS),
        lambda: make_pipeline(StandardScaler(), NormalizedCut(3, n_neighbors=3, random_state=0)).fit(POINTS),
    ],
    ids=["fit", "fit_predict", "CSP", "pipeline"],
)
def test_a_warning_points_at_the_callers_line(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    told = [entry for entry in caught if issubclass(entry.category, LabellingWarning)]
    assert told
    assert {entry.filename for entry in told} == {__file__}


def test_our_convergence_warning_is_scikit_learns():
    assert issubclass(ConvergenceWarning, sklearn.exceptions.ConvergenceWarning)
