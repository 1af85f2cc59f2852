import warnings

import numpy as np
import pytest

from sidecut.exceptions import LabellingWarning
from sidecut.labelling.labels import warn_if_clusters_are_missing


def test_says_how_many_of_how_many_and_why():
    with pytest.warns(LabellingWarning, match=r"'qr' found 2 clusters where n_clusters=4 .*: too bad"):
        warn_if_clusters_are_missing(np.array([0, 3, 3]), 4, "qr", "too bad")


def test_silent_when_all_are_there():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_clusters_are_missing(np.array([1, 0, 2]), 3, "qr", "too bad")
