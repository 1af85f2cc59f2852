"""Methods that pose a problem on the graph as it is."""

from sidecut.methods.posing.ccsr import CCSR
from sidecut.methods.posing.csp import CSP
from sidecut.methods.posing.cuts import FeasibleCuts, feasible_cuts
from sidecut.methods.posing.lcsc import LCSC, joined_eigenpairs
from sidecut.methods.posing.lsc import LSC
from sidecut.methods.posing.ncsc import NCSC
from sidecut.methods.posing.normalized_cut import NormalizedCut
from sidecut.methods.posing.penalized_cut import PenalizedCut
from sidecut.methods.posing.scacs import SCACS

__all__ = [
    "CCSR",
    "CSP",
    "LCSC",
    "LSC",
    "NCSC",
    "SCACS",
    "FeasibleCuts",
    "NormalizedCut",
    "PenalizedCut",
    "feasible_cuts",
    "joined_eigenpairs",
]
