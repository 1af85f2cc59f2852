"""The errors and warnings sidecut raises, so that callers can catch what they can act on."""

from __future__ import annotations

import sys
import warnings

import sklearn.exceptions

#: Frames of these packages stand between the caller and the warning; `warn` passes over them.
PASSED_OVER = ("sidecut", "sklearn", "joblib", "threading", "concurrent", "contextlib", "functools")


class SidecutWarning(UserWarning):
    """Base of every warning sidecut emits."""


class GraphWarning(SidecutWarning):
    """The graph has isolated points, too many components, or weights that underflow."""


class SpectralWarning(SidecutWarning):
    """Eigenvectors were computed but could not be certified."""


class ConstraintWarning(SidecutWarning):
    """Constraints were changed or dropped, or cannot all be satisfied."""


class LabellingWarning(SidecutWarning):
    """The labels have fewer clusters than were asked for."""


class SolverWarning(SidecutWarning):
    """A semidefinite programme was solved less exactly than asked for."""


class ConvergenceWarning(SidecutWarning, sklearn.exceptions.ConvergenceWarning):
    """An iteration ended before it converged; also a `ConvergenceWarning` of scikit-learn."""


class ParameterWarning(SidecutWarning):
    """A parameter was given that has no effect together with the others."""


class SpectralError(RuntimeError):
    """No solver converged to the eigenvectors asked for."""


class SolverError(RuntimeError):
    """A semidefinite programme could not be solved."""


class ConstraintError(ValueError):
    """The constraints are malformed or do not fit the data."""


class ConflictError(ConstraintError):
    """The constraints contradict each other; `conflicts` holds the proof of each contradiction.

    Parameters
    ----------
    message : str
        What is wrong and what to do.
    conflicts : sequence of Conflict
        The contradictions, each with the chain of must-links that proves it.
    """

    def __init__(self, message: str, conflicts: tuple = ()) -> None:
        super().__init__(message)
        self.conflicts = conflicts


class InfeasibleError(ConstraintError):
    """No clustering with this number of clusters satisfies the constraints, or none was found.

    Parameters
    ----------
    message : str
        What is wrong and what to do.
    cannot_link : array of shape (m, 2), optional
        Cannot-links that cannot all be satisfied; None where that is not proved.
    """

    def __init__(self, message: str, cannot_link: object = None) -> None:
        super().__init__(message)
        self.cannot_link = cannot_link


class DatasetWarning(SidecutWarning):
    """A data set was found, but it is not the copy the stored results were made with."""


class DataUnavailableError(OSError):
    """A data set is neither bundled, nor in the folder, nor available from the network."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and point at the caller's own line, however deep in the library the warning comes from."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in PASSED_OVER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
