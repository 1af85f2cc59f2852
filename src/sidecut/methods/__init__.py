"""The methods. A paper is a folder: its estimator, its mathematics, what makes it fast."""

from sidecut.methods.base import SpectralClusterer
from sidecut.methods.baselines import ConstrainedGMM, COPKMeans, MetricKMeans
from sidecut.methods.ccsr import CCSR
from sidecut.methods.csap import CSAP
from sidecut.methods.csp import CSP
from sidecut.methods.e2cp import E2CP
from sidecut.methods.forecast import estimate_seconds
from sidecut.methods.ncsc import LCSC, NCSC
from sidecut.methods.normalized_cut import NormalizedCut
from sidecut.methods.poisson import PoissonLearning, PoissonMBO
from sidecut.methods.scacs import LSC, SCACS
from sidecut.methods.spectral_learning import SpectralLearning
from sidecut.methods.sskk import SSKK

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
    "COPKMeans",
    "ConstrainedGMM",
    "MetricKMeans",
    "NormalizedCut",
    "PoissonLearning",
    "PoissonMBO",
    "SpectralClusterer",
    "SpectralLearning",
    "estimate_seconds",
]
