"""Constrained spectral clustering: clustering with side information.

People rarely know the labels of their data, but they often know a little. `Constraints` says what is known;
an estimator turns it into clusters:

>>> from sklearn.datasets import load_iris
>>> import sidecut
>>> X, y = load_iris(return_X_y=True)
>>> known = sidecut.Constraints.from_pairs(150, must_link=[(50, 60)], cannot_link=[(50, 100)])
>>> sidecut.SpectralLearning(n_clusters=3, random_state=0).fit(X, constraints=known).labels_.shape
(150,)
"""

from sidecut.constraints import Constraints
from sidecut.methods import (
    CCSR,
    CSAP,
    CSP,
    E2CP,
    LCSC,
    LSC,
    NCSC,
    SCACS,
    SSKK,
    ConstrainedGMM,
    COPKMeans,
    MetricKMeans,
    NormalizedCut,
    PoissonLearning,
    PoissonMBO,
    SpectralLearning,
)
from sidecut.selection import AutoCut

__version__ = "0.1.0"

__all__ = [
    "CCSR",
    "CSAP",
    "CSP",
    "E2CP",
    "LCSC",
    "LSC",
    "NCSC",
    "SCACS",
    "SSKK",
    "AutoCut",
    "COPKMeans",
    "ConstrainedGMM",
    "Constraints",
    "MetricKMeans",
    "NormalizedCut",
    "PoissonLearning",
    "PoissonMBO",
    "SpectralLearning",
    "__version__",
]
