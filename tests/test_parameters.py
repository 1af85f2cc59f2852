"""What may be handed to a function or an estimator."""

from types import SimpleNamespace

import numpy as np
import pytest

from sidecut.parameters import check_parameters, check_tolerance, is_number

SETTINGS = {"mode": "fast", "safe": True, "rounds": 3, "penalty": 0.0}
RULES = {
    "choices": {"mode": ("fast", "slow")},
    "flags": ("safe",),
    "counts": ("rounds",),
    "not_negative": ("penalty",),
}


def test_parameters_that_make_sense_pass():
    check_parameters(SimpleNamespace(**SETTINGS), **RULES)
    check_parameters(SimpleNamespace(**SETTINGS))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mode", "medium", "mode='medium': choose one of 'fast', 'slow'"),
        ("mode", None, "mode=None"),
        ("safe", 1, "safe=1 must be True or False"),
        ("rounds", 0, "rounds=0 must be a whole number"),
        ("rounds", 2.0, r"rounds=2\.0 must be a whole number"),
        ("rounds", True, "rounds=True must be a whole number"),
        ("penalty", -1e-9, "penalty=-1e-09 must be a finite number, not negative"),
        ("penalty", np.nan, "penalty=nan"),
        ("penalty", np.inf, "penalty=inf"),
    ],
)
def test_each_kind_is_refused_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        check_parameters(SimpleNamespace(**SETTINGS | {name: value}), **RULES)


@pytest.mark.parametrize("value", [1, 1.5, np.int8(1), np.float32(1.5), np.inf])
def test_numbers(value):
    assert is_number(value)


@pytest.mark.parametrize("value", [True, np.True_, "1", None, 1j, [1]])
def test_what_is_no_number(value):
    assert not is_number(value)


@pytest.mark.parametrize("tol", [1, -1e-3, "small", np.nan, True])
def test_tolerances_that_make_no_sense(tol):
    with pytest.raises(ValueError, match="tol="):
        check_tolerance(tol)
