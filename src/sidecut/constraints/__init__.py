"""What the user knows: which samples belong together, which do not, and what follows from it."""

from sidecut.constraints.closure import Components, Conflict
from sidecut.constraints.files import read_constraints, write_constraints
from sidecut.constraints.folds import ConstraintFolds, Fold
from sidecut.constraints.sampling import sample_labels, sample_pairs, sample_wrong_pairs
from sidecut.constraints.spectrum import Spectrum
from sidecut.constraints.value import Constraints

__all__ = [
    "Components",
    "Conflict",
    "ConstraintFolds",
    "Constraints",
    "Fold",
    "Spectrum",
    "read_constraints",
    "sample_labels",
    "sample_pairs",
    "sample_wrong_pairs",
    "write_constraints",
]
