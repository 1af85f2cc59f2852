"""How much may be spent, fits or seconds, and telling what it is spent on."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from sidecut.parameters import check_count

SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


class Budget:
    """What is left of a budget.

    Parameters
    ----------
    fits : float
        How many fits may be made.
    seconds : float
        How long they may take together.
    clock : callable, default=time.perf_counter
        Tells the time in seconds.

    Examples
    --------
    >>> from sidecut.selection.budget import Budget
    >>> budget = Budget(fits=2)
    >>> [budget.spend() for _ in range(3)]
    [True, True, False]
    """

    def __init__(
        self,
        fits: float = float("inf"),
        seconds: float = float("inf"),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.fits = fits
        self._clock = clock
        self._end = clock() + seconds

    def spend(self) -> bool:
        """Take one fit out; False if there was none left, or no time."""
        if self.fits < 1 or self._clock() >= self._end:
            return False
        self.fits -= 1
        return True


def parse_budget(budget: Any) -> Budget:
    """Return what a `budget` of AutoCut allows.

    Parameters
    ----------
    budget : None, int or str
        Without bounds; a number of fits; or a time such as "30s", "5min", "1.5h".

    Examples
    --------
    >>> from sidecut.selection.budget import parse_budget
    >>> parse_budget("20 fits")
    Traceback (most recent call last):
    ...
    ValueError: budget='20 fits': give a number of fits, such as 20, or a time, such as '30s' or '5min'.
    """
    if budget is None:
        return Budget()
    if isinstance(budget, str):
        read = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(s|min|h)\s*", budget)
        if not read:
            raise ValueError(
                f"budget={budget!r}: give a number of fits, such as 20, or a time, such as '30s' or '5min'."
            )
        return Budget(seconds=float(read[1]) * SECONDS[read[2]])
    return Budget(fits=check_count("budget", budget))


# Telling what is tried.


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
