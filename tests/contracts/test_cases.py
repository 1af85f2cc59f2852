"""Every estimator is under contract."""

import inspect

from sklearn.base import BaseEstimator

import sidecut


def test_every_estimator_is_judged(cases):
    public = {getattr(sidecut, name) for name in sidecut.__all__}
    estimators = {
        thing
        for thing in public
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator) and hasattr(thing, "fit")
    }
    missing = estimators - {case.estimator for case in cases}
    assert not missing, f"not in CASES of tests/contracts/conftest.py: {sorted(map(str, missing))}"


def test_cases_differ(cases):
    names = [str(case) for case in cases]
    assert len(set(names)) == len(names)
