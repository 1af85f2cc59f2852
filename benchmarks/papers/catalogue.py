"""All experiments of the five papers, and what the papers say about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType

from benchmarks.papers import (
    csap,
    csap_claims,
    csp,
    csp_claims,
    e2cp,
    e2cp_claims,
    ncsc,
    ncsc_claims,
    scacs,
    scacs_claims,
)
from benchmarks.papers.claims import Claim
from benchmarks.papers.experiment import Experiment
from benchmarks.papers.tables import Extra


@dataclass(frozen=True)
class Paper:
    """A paper's experiments and claims.

    Parameters
    ----------
    title : str
        With authors and year.
    experiments : list of Experiment
        What is run again.
    claims : list of Claim
        The sentences of its experiments that state a result.
    extras : dict of Extra
        Tables of scripts of their own, by figure or table: "fig. 5".
    not_run : list of str
        Which results it states about what is not run here, and why.
    """

    title: str
    experiments: list[Experiment]
    claims: list[Claim]
    extras: dict[str, Extra] = field(default_factory=dict)
    not_run: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, experiments: ModuleType, claims: ModuleType) -> Paper:
        """Bring the two modules of a paper together."""
        return cls(
            experiments.TITLE, experiments.EXPERIMENTS, claims.CLAIMS, experiments.EXTRAS, claims.NOT_RUN
        )


PAPERS: dict[str, Paper] = {
    "e2cp": Paper.of(e2cp, e2cp_claims),
    "csap": Paper.of(csap, csap_claims),
    "scacs": Paper.of(scacs, scacs_claims),
    "csp": Paper.of(csp, csp_claims),
    "ncsc": Paper.of(ncsc, ncsc_claims),
}


def experiments(only: list[str] | None = None) -> list[Experiment]:
    """Return the experiments whose names begin with one of the words, all without words.

    Raises
    ------
    ValueError
        If a word begins no name.
    """
    every = [experiment for paper in PAPERS.values() for experiment in paper.experiments]
    for word in only or []:
        if not any(experiment.name.startswith(word) for experiment in every):
            names = ", ".join(experiment.name for experiment in every)
            raise ValueError(f"--only {word}: no experiment begins so; there are {names}")
    return [e for e in every if not only or e.name.startswith(tuple(only))]
