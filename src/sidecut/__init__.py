"""Constrained spectral clustering: clustering with side information.

`Constraints` holds what is known about some points, as links or labels; an estimator clusters all of them:

>>> from sklearn.datasets import load_iris
>>> import sidecut
>>> X, y = load_iris(return_X_y=True)
>>> known = sidecut.Constraints.from_pairs(150, must_link=[(50, 60)], cannot_link=[(50, 100)])
>>> sidecut.SpectralLearning(n_clusters=3, random_state=0).fit(X, constraints=known).labels_.shape
(150,)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        Layers,
        MetricKMeans,
        NormalizedCut,
        PoissonLearning,
        PoissonMBO,
        SpectralLearning,
    )
    from sidecut.selection import AutoCut

__version__ = "0.3.0"

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
    "Layers",
    "MetricKMeans",
    "NormalizedCut",
    "PoissonLearning",
    "PoissonMBO",
    "SpectralLearning",
    "__version__",
]

#: Subpackages that are attributes without an import of their own.
_ROOMS = (
    "active",
    "constraints",
    "datasets",
    "diagnostics",
    "distributed",
    "evaluation",
    "exceptions",
    "graphs",
    "images",
    "integrations",
    "labelling",
    "lasting",
    "methods",
    "plots",
    "selection",
    "spectral",
    "studio",
)


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that ``import sidecut`` is fast."""
    if name in _ROOMS:
        return import_module(f"sidecut.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'sidecut' has no attribute {name!r}")
    room = {"Constraints": "constraints", "AutoCut": "selection"}.get(name, "methods")
    globals()[name] = getattr(import_module(f"sidecut.{room}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS, *(name for name in globals() if name.startswith("__"))})
