"""The errors and warnings sidecut raises, so that callers can catch what they can act on."""


class SidecutWarning(UserWarning):
    """Base of every warning sidecut emits."""


class GraphWarning(SidecutWarning):
    """The graph is not what spectral clustering hopes for: isolated points, components, underflow."""


class SpectralWarning(SidecutWarning):
    """Eigenvectors were computed but could not be certified."""


class ConstraintWarning(SidecutWarning):
    """Constraints were changed, dropped or cannot do what one would expect of them."""


class LabellingWarning(SidecutWarning):
    """Labels came out, but not as many clusters as were asked for."""


class ProgrammeWarning(SidecutWarning):
    """A semidefinite programme was solved, but less exactly than asked for."""


class ConvergenceWarning(SidecutWarning):
    """An iteration ended before it converged; the result is where it happened to stand."""


class SpectralError(RuntimeError):
    """No solver reached the eigenvectors asked for."""


class ProgrammeError(RuntimeError):
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
    """No clustering with so many clusters satisfies the constraints, or none was found.

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
    """A data set could not be had: neither bundled, nor in the folder, nor from the network."""
