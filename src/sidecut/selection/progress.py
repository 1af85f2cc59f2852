"""Telling what is tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def make_teller(progress: bool | Callable[..., Any]) -> Callable[[str], None]:
    """Return a function that is told what is tried next.

    Parameters
    ----------
    progress : bool or callable
        False tells nobody; True is tqdm; or another with its signature.
    """
    if progress is False:
        return lambda what: None
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm: pip install tqdm, or give another.") from error
        progress = tqdm
    assert callable(progress)
    bar = progress(desc="AutoCut", unit=" fits")

    def tell(what: str) -> None:
        bar.set_postfix_str(what)
        bar.update(1)

    return tell
