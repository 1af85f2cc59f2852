"""On graphs of any shape five labels per class are enough: no method falls behind label spreading."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.quality.parts.measure import METHODS, measure

#: By how much a method may be less accurate than label spreading at its best α, in the mean over all shapes.
MAX_LOSS = 0.05
#: The share of given labels that is kept.
MIN_KEPT = 0.95


@pytest.fixture(scope="module")
def rows():
    return list(measure(n=240, k=4, per_class=5, n_draws=2))


def mean(rows, method, what):
    return np.mean([row[what] for row in rows if row["method"] == method])


@pytest.mark.parametrize("method", METHODS)
def test_no_method_falls_behind_label_spreading(rows, method):
    assert mean(rows, method, "accuracy") >= mean(rows, "LabelSpreading", "accuracy") - MAX_LOSS


@pytest.mark.parametrize("method", METHODS)
def test_what_is_given_is_kept(rows, method):
    assert mean(rows, method, "kept") >= MIN_KEPT
