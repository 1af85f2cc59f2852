"""What was chosen and why: a table, and a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidecut.selection.entry import Entry

COLUMNS = ("method", "graph", "score", "spread", "folds", "seconds", "verdict")


def tabulate(entries: list[Entry]) -> dict[str, list[Any]]:
    """Return the candidates as a table, the best score first.

    Parameters
    ----------
    entries : list of Entry
        The candidates.
    """
    order = sorted(entries, key=lambda entry: -np.nan_to_num(entry.score, nan=-np.inf))
    rows = [
        (e.method, e.graph, e.score, e.spread, len(e.counts), round(e.seconds, 3), e.verdict) for e in order
    ]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def explain(entries: list[Entry], chosen: list[Entry], n_clusters: int, found: bool) -> str:
    """Say in one sentence what was chosen and why.

    Parameters
    ----------
    entries : list of Entry
        All candidates.
    chosen : list of Entry
        Those that made the answer.
    n_clusters : int
        The number of clusters.
    found : bool
        Whether it was found, and not given.
    """
    names = [entry.method for entry in chosen]
    who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} voted"
    number = f"{n_clusters} cluster{'s' if n_clusters > 1 else ''}{', a number found here' if found else ''}"
    answer = f"{who} on {_the(chosen[0].graph)} ({number})"
    if all(np.isnan(entry.score) for entry in entries):
        is_known = any(entry.method != "NormalizedCut" for entry in entries)
        reason = (
            "too little is known to compare, so past experience chose" if is_known else "nothing is known"
        )
        return f"{answer}: {reason}."
    best = next((e for e in entries if e.method == "vote" and e.verdict == "chosen"), chosen[0])
    plain = next(entry for entry in entries if entry.method == "NormalizedCut")
    tried = sum(1 for entry in entries if entry.counts and entry.method != "vote")
    return (
        f"{answer}: {tried} candidates were compared by pairs held back. This gets {best.score:.0%} of them "
        f"right, must-links and cannot-links counted alike, the usual cut {plain.score:.0%}."
    )


def _the(graph: str) -> str:
    return graph if graph.startswith("the ") else f"a graph of {graph}"
