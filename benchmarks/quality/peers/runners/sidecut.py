"""sidecut: every public estimator, with its defaults, on the same graph (or points) and the same pairs."""

import inspect

import sidecut
from sidecut import Constraints

PACKAGE = "sidecut"
#: Methods shown a second time with labels of 20 points instead of 200 pairs, beside LabelSpreading.
WITH_LABELS = ("AutoCut", "CSP", "E2CP", "NCSC", "PoissonLearning", "PoissonMBO")
#: Methods shown a second time with all links satisfied, beside COP-k-means.
HARD = ("E2CP",)
#: Methods that are told nothing.
UNCONSTRAINED = ("NormalizedCut", "LSC")


def clustered(work, name, by_labels=False, **settings):
    estimator = getattr(sidecut, name)
    known = Constraints.from_labels(work.told) if by_labels else pairs(work)
    data = work.X
    if "affinity" in inspect.signature(estimator).parameters:
        settings["affinity"], data = "precomputed", work.graph()
    model = estimator(work.n_clusters, random_state=0, **settings)
    return model.fit(data, constraints=None if name in UNCONSTRAINED else known).labels_


def pairs(work):
    return Constraints.from_pairs(len(work.X), must_link=work.must_link, cannot_link=work.cannot_link)


def estimators():
    """Return the names of the public estimators."""
    return [name for name in sidecut.__all__ if hasattr(getattr(sidecut, name), "fit")]


METHODS = {name: lambda work, name=name: clustered(work, name) for name in estimators()}
METHODS |= {
    f"{name}, hard": lambda work, name=name: clustered(work, name, hard=True)
    for name in HARD
    if name in METHODS
}
METHODS |= {
    f"{name}, 20 labels": lambda work, name=name: clustered(work, name, by_labels=True)
    for name in WITH_LABELS
    if name in METHODS
}
