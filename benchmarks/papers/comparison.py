"""How the methods compare over all experiments: what they gain over no constraints, how often they harm."""

from __future__ import annotations

import pandas as pd

from benchmarks.papers.claims import TIE
from benchmarks.papers.experiment import Contender, Experiment, Protocol
from benchmarks.papers.tables import Results

COLUMNS = {
    "cells": "cells",
    "gain": "ARI gained",
    "gain_free": "on unconstrained points",
    "harm": "cells where it harms",
    "kept": "constraints kept",
}


def cells_of(
    experiment: Experiment, contender: Contender, baseline: str, results: Results
) -> pd.DataFrame | None:
    """Return a row per size: gain over the unconstrained cut, kept constraints."""
    free = Results(results.folder, free=True)
    curve = results.curve(experiment.name, contender.label, "ari")
    if curve is None or results.curve(experiment.name, baseline, "ari") is None:
        return None
    return pd.DataFrame(
        {
            "method": contender.method,
            "gain": curve - results.curve(experiment.name, baseline, "ari"),
            "gain_free": free.curve(experiment.name, contender.label, "ari")
            - free.curve(experiment.name, baseline, "ari"),
            "kept": results.curve(experiment.name, contender.label, "kept"),
        }
    )


def comparable(experiments: list[Experiment]) -> dict[str, list[Experiment]]:
    """Return the experiments by how side information is drawn: at random, or from mistakes."""
    usual = [e for e in experiments if e.sweep is None and e.kind != "second graph"]
    from_mistakes = [e for e in usual if e.kind == "wrong pairs"]
    again = [e.under(Protocol(pairs="random")) for e in usual if e.kind in ("wrong pairs", "pairs among few")]
    return {
        "Pairs and labels drawn at random": [e for e in usual if e.kind != "wrong pairs"] + again,
        "Pairs that the unconstrained cut got wrong": from_mistakes,
    }


def comparison(experiments: list[Experiment], results: Results) -> pd.DataFrame | None:
    """Return a row per method, with default settings only, over all cells in which it took part.

    A cell is a data set and a size. Methods took part in different experiments, so that gains of two methods
    can be compared only where their numbers of cells agree.
    """
    parts = []
    for experiment in experiments:
        baseline = next((c.label for c in experiment.contenders if not c.uses_constraints), None)
        if baseline is None:
            continue
        for contender in experiment.contenders:
            if contender.uses_constraints and not contender.label.endswith("(paper)"):
                parts.append(cells_of(experiment, contender, baseline, results))
    found = [part for part in parts if part is not None]
    if not found:
        return None
    groups = pd.concat(found).groupby("method")
    table = groups[["gain", "gain_free", "kept"]].mean()
    table["cells"] = groups.size()
    table["harm"] = groups.gain.apply(lambda gains: float((gains < -TIE).mean()))
    return table.sort_values("gain", ascending=False)[list(COLUMNS)].rename(columns=COLUMNS)
