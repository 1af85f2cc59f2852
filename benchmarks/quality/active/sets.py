"""The data sets, as in the table COBRAS was measured on: standardised, except digits and USPS.

The constants of `sidecut.active` were set on other data: soybean, the Reuters sample, ten people of Yale B,
eight letters, covertype (100 points of three classes), 1,500 digits of MNIST, and three generated sets.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from sidecut.datasets import load

SMALL = ("iris", "wine", "glass", "ionosphere", "sonar", "wdbc", "hepatitis")
LARGE = ("segment", "digits", "pendigits", "usps")
SETS = SMALL + LARGE
#: Numbers of questions.
BUDGETS = (10, 25, 50, 100, 200)


def load_set(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the points and classes of a set."""
    if name == "digits":
        return load_digits(return_X_y=True)
    data = load(name, folder)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    return (X if name == "usps" else StandardScaler().fit_transform(X)), y
