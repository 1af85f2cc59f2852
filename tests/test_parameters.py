"""What may be handed to a function or an estimator."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from sidecut.checks import (
    check_count,
    check_flag,
    check_not_negative,
    check_parameters,
    check_positive,
    check_tolerance,
    is_number,
    one_of,
    optional,
    unless,
)


@dataclass
class Searcher:
    """What some estimators have in common."""

    mode: Any = "fast"
    safe: Any = True
    rules: ClassVar = {"mode": one_of("fast", "slow"), "safe": check_flag}


@dataclass
class Finder(Searcher):
    """Has parameters of its own."""

    rounds: Any = 3
    penalty: Any = 0.0
    width: Any = 0.5
    limit: Any = None
    share: Any = "auto"
    tol: Any = 1e-3
    rules: ClassVar = {
        "rounds": check_count,
        "penalty": check_not_negative,
        "width": check_positive,
        "limit": optional(check_count),
        "share": unless("auto", check_not_negative),
        "tol": check_tolerance,
    }


class Plain:
    """Has no rules."""


def test_parameters_that_make_sense_pass():
    check_parameters(Finder())
    check_parameters(Finder("slow", False, 1, 2.5, 1e-9, 7, 0.3, 0))
    check_parameters(Plain())


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
        ("width", 0, "width=0 must be a finite number, more than 0"),
        ("width", np.inf, "width=inf"),
        ("width", "wide", "width='wide'"),
        ("limit", 0, "limit=0 must be a whole number"),
        ("limit", "none", "limit='none'"),
        ("share", -0.1, r"share=-0\.1 must be a finite number, not negative"),
        ("share", "all", "share='all'"),
        ("share", None, "share=None"),
        ("tol", 1, "tol=1 must be at least 0"),
    ],
)
def test_each_kind_is_refused_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        check_parameters(Finder(**{name: value}))


@pytest.mark.parametrize("value", [1, 1.5, np.int8(1), np.float32(1.5), np.inf])
def test_numbers(value):
    assert is_number(value)


@pytest.mark.parametrize("value", [True, np.True_, "1", None, 1j, [1]])
def test_what_is_no_number(value):
    assert not is_number(value)


@pytest.mark.parametrize("tol", [1, -1e-3, "small", np.nan, True])
def test_tolerances_that_make_no_sense(tol):
    with pytest.raises(ValueError, match=r"tol=.* must be at least 0"):
        check_tolerance("tol", tol)


def test_what_a_class_inherits_is_checked_first():
    with pytest.raises(ValueError, match="mode='medium'"):
        check_parameters(Finder(mode="medium", rounds=0))
