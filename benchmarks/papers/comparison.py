"""How the methods compare over all experiments: what they gain over no constraints, how often they harm."""

from __future__ import annotations

import pandas as pd

from benchmarks.papers.claims import TIE
from benchmarks.papers.experiment import Contender, Experiment, Protocol
from benchmarks.papers.tables import Results
from sidecut import CSAP

COLUMNS = {
    "cells": "cells",
    "failed": "failed",
    "gain": "ARI gained",
    "gain_free": "on unconstrained points",
    "harm": "cells where it harms",
    "kept": "constraints kept",
}

#: Settings that do not make a method another: how two clusters are told apart, what goes without warning, and
#: those of CSAP as published, without guard and shortcuts.
NEUTRAL = {"labelling", "cannot_links", *CSAP.published}


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
    """Return the experiments by what is known and how it was drawn."""
    usual = [e for e in experiments if e.sweep is None and e.kind != "second graph"]
    again = [e.under(Protocol(pairs="random")) for e in usual if e.kind in ("wrong pairs", "pairs among few")]
    apart = {
        "Labels of some points": "labels",
        "Pairs that the unconstrained cut got wrong": "wrong pairs",
        "All pairs among a few points": "pairs among few",
    }
    groups = {"Pairs drawn at random": [e for e in usual if e.kind not in apart.values()] + again}
    return groups | {title: [e for e in usual if e.kind == kind] for title, kind in apart.items()}


def baseline_of(experiment: Experiment) -> Contender | None:
    """Return the unconstrained contender."""
    return next((c for c in experiment.contenders if not c.uses_constraints), None)


def is_comparable(contender: Contender, baseline: Contender) -> bool:
    """Tell whether a contender has default settings and the graph of the baseline."""
    has_defaults = contender.uses_constraints and set(contender.settings) <= NEUTRAL and not contender.grid
    on_landmarks = [c.method in ("LSC", "SCACS") for c in (contender, baseline)]
    return has_defaults and contender.graph is None and on_landmarks[0] == on_landmarks[1]


def comparison(experiments: list[Experiment], results: Results) -> pd.DataFrame | None:
    """Return a row per method, with default settings only, over all cells in which it took part.

    A cell is a data set and a size. Methods took part in different experiments, so that gains of two methods
    can be compared only where their numbers of cells agree.
    """
    parts = []
    for experiment in experiments:
        baseline = baseline_of(experiment)
        for contender in experiment.contenders if baseline else ():
            if is_comparable(contender, baseline):
                parts.append(cells_of(experiment, contender, baseline.label, results))
    found = [part for part in parts if part is not None]
    if not found:
        return None
    groups = pd.concat(found).groupby("method")
    table = groups[["gain", "gain_free", "kept"]].mean()
    # Where every fit failed there is no gain to speak of.
    table["cells"] = groups.gain.count()
    table["failed"] = groups.size() - table["cells"]
    table["harm"] = groups.gain.apply(lambda gains: float((gains.dropna() < -TIE).mean()))
    return table.sort_values("gain", ascending=False)[list(COLUMNS)].rename(columns=COLUMNS)
