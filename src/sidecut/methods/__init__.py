"""The methods. A paper is a folder: its estimator, its mathematics, what makes it fast."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidecut.methods.base import Clusterer, GraphClusterer, PointClusterer, TakesConstraints
    from sidecut.methods.baselines import ConstrainedGMM, COPKMeans, MetricKMeans
    from sidecut.methods.ccsr import CCSR
    from sidecut.methods.csap import CSAP
    from sidecut.methods.csp import CSP
    from sidecut.methods.e2cp import E2CP
    from sidecut.methods.layers import Layers
    from sidecut.methods.ncsc import LCSC, NCSC
    from sidecut.methods.normalized_cut import NormalizedCut, SpectralLearning
    from sidecut.methods.poisson import PoissonLearning, PoissonMBO
    from sidecut.methods.scacs import LSC, SCACS
    from sidecut.methods.sskk import SSKK
    from sidecut.methods.task import Answer, Task

#: Where each name is: a paper is loaded when one of its names is first used.
_FOLDERS = {
    "CCSR": "ccsr",
    "CSAP": "csap",
    "CSP": "csp",
    "E2CP": "e2cp",
    "LCSC": "ncsc",
    "LSC": "scacs",
    "Layers": "layers",
    "NCSC": "ncsc",
    "SCACS": "scacs",
    "SSKK": "sskk",
    "COPKMeans": "baselines",
    "ConstrainedGMM": "baselines",
    "MetricKMeans": "baselines",
    "NormalizedCut": "normalized_cut",
    "PoissonLearning": "poisson",
    "PoissonMBO": "poisson",
    "Clusterer": "base",
    "GraphClusterer": "base",
    "PointClusterer": "base",
    "TakesConstraints": "base",
    "Answer": "task",
    "Task": "task",
    "SpectralLearning": "normalized_cut",
}

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
    "Answer",
    "COPKMeans",
    "Clusterer",
    "ConstrainedGMM",
    "GraphClusterer",
    "Layers",
    "MetricKMeans",
    "NormalizedCut",
    "PointClusterer",
    "PoissonLearning",
    "PoissonMBO",
    "SpectralLearning",
    "TakesConstraints",
    "Task",
]


def __getattr__(name: str) -> Any:
    """Import a method when it is first used."""
    if name not in _FOLDERS:
        raise AttributeError(f"module 'sidecut.methods' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"sidecut.methods.{_FOLDERS[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
