"""Where pictures are drawn: figures of their own, never matplotlib's global ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["axes_or_new", "new_figure", "require_matplotlib"]


def require_matplotlib() -> Any:
    """Import matplotlib, or say how to get it.

    Returns
    -------
    module
        The matplotlib package.

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> require_matplotlib().__name__
    'matplotlib'
    """
    try:
        import matplotlib
    except ImportError as error:
        message = 'Pictures need matplotlib, which is not installed: pip install "sidecut[plots]"'
        raise ImportError(message) from error
    return matplotlib


def new_figure(width: float = 6.0, height: float = 5.0) -> Figure:
    """Make a figure that belongs to nobody but the caller.

    It is not registered with pyplot, so nothing has to be closed and nothing leaks; save it with
    ``figure.savefig(path)``, or let a notebook show it by ending a cell with it.

    Parameters
    ----------
    width, height : float
        Size in inches.

    Returns
    -------
    matplotlib.figure.Figure
        An empty figure.

    Examples
    --------
    >>> new_figure(4, 3).get_size_inches().tolist()
    [4.0, 3.0]
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def axes_or_new(ax: Axes | None, width: float = 6.0, height: float = 5.0) -> Axes:
    """Return the axes given, or new ones on a figure of their own.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Axes to draw on.
    width, height : float
        Size in inches of the new figure, if one is made.

    Returns
    -------
    matplotlib.axes.Axes
        Axes to draw on.

    Examples
    --------
    >>> ax = axes_or_new(None)
    >>> axes_or_new(ax) is ax
    True
    """
    require_matplotlib()
    return new_figure(width, height).add_subplot() if ax is None else ax
