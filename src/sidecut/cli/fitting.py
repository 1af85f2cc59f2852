"""Points and what is known about them to a fitted method, and to the same method told nothing."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from sidecut.cli.errors import UsageError
from sidecut.cli.methods import METHODS, build_estimator, method_named
from sidecut.cli.options import ClusterOptions
from sidecut.cli.points import Points
from sidecut.constraints import Constraints
from sidecut.exceptions import InfeasibleError
from sidecut.graphs import recipe

__all__ = ["chosen_parameters", "fit", "forecast"]

MANY_POINTS = 20_000
"""So many points may take long enough to want a forecast."""

TRIED = (1_000, 3_000)

_BUILD_A_GRAPH = {"affinity": "--affinity", "n_neighbors": "--neighbors"}


def chosen_parameters(options: ClusterOptions) -> dict[str, Any]:
    """Return the parameters that have options of their own; None where nothing was said."""
    return {
        "n_clusters": _n_clusters(options.clusters),
        "affinity": options.affinity,
        "n_neighbors": options.neighbors,
        "random_state": options.seed,
        "hard": options.hard or None,
    }


def _n_clusters(text: str) -> int | str:
    if text.strip().lower() == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--clusters {text}: give a whole number, or auto.") from None


def fit(
    points: Points, constraints: Constraints, method: str, chosen: dict[str, Any], settings: list[str]
) -> Any:
    """Fit a method.

    Parameters
    ----------
    points : Points
        What to cluster.
    constraints : Constraints
        What is known.
    method : str
        Name of the method.
    chosen : dict
        Parameters from options of their own; those that are None keep the method's default.
    settings : list of str
        Texts ``name=value``.

    Returns
    -------
    estimator
        Fitted.

    Raises
    ------
    UsageError
        If the number of clusters does not fit the points, or the method cannot take what it is given.
    """
    estimator_class = method_named(method).load()
    wanted = _fitting_parameters(points, method, estimator_class, chosen)
    estimator = build_estimator(estimator_class, wanted, settings)
    if estimator.n_clusters == "auto":
        if method != "auto":
            raise UsageError(f"--clusters auto: {method} needs a number; only --method auto chooses one.")
    elif not 1 <= estimator.n_clusters <= points.n_samples:
        raise UsageError(
            f"{estimator.n_clusters} clusters of {points.n_samples} points: ask for at least 1 and at most "
            "as many clusters as there are points."
        )
    try:
        return estimator.fit(points.X, constraints=constraints)
    except InfeasibleError as error:
        raise UsageError(_infeasible_words(error, points, estimator.n_clusters)) from error


def forecast(
    points: Points, constraints: Constraints, method: str, chosen: dict[str, Any], settings: list[str]
) -> float | None:
    """Estimate the seconds a fit will take, from fits of two samples of the points.

    Parameters
    ----------
    points, constraints, method, chosen, settings
        As in `fit`.

    Returns
    -------
    float or None
        Seconds; None where the points are few, a graph, or a sample cannot be clustered.
    """
    if points.is_graph or points.n_samples < MANY_POINTS:
        return None
    rng, seconds = np.random.default_rng(0), []
    for size in TRIED:
        rows = np.sort(rng.choice(points.n_samples, size, replace=False))
        sample = Points(points.X[rows], points.source)
        start = time.perf_counter()
        try:
            with warnings.catch_warnings(action="ignore"):
                fit(sample, constraints.restricted_to(rows), method, chosen, settings)
        except (ValueError, RuntimeError, UsageError):
            return None
        seconds.append(time.perf_counter() - start)
    growth = np.log(seconds[1] / seconds[0]) / np.log(TRIED[1] / TRIED[0])
    # Between proportional to the points and to their square, as graphs and their cuts are.
    return float(seconds[1] * (points.n_samples / TRIED[1]) ** np.clip(growth, 1.0, 2.0))


def _infeasible_words(error: InfeasibleError, points: Points, n_clusters: int) -> str:
    """Say which cannot-links cannot all hold, by the names of their points."""
    if points.names is None or error.cannot_link is None:
        return str(error)
    pairs = [f"{points.name(i)} and {points.name(j)}" for i, j in np.asarray(error.cannot_link).tolist()]
    more = f" and {len(pairs) - 10} more" if len(pairs) > 10 else ""
    return (
        f"{n_clusters} clusters are too few to keep all of these apart: {'; '.join(pairs[:10])}{more}. "
        "Ask for more clusters, or correct them."
    )


def _fitting_parameters(
    points: Points, method: str, estimator_class: type[Any], chosen: dict[str, Any]
) -> dict[str, Any]:
    """Leave out and add what the method and the points ask for, and say what does not go together."""
    known = estimator_class().get_params(deep=False)
    if method == "auto" and chosen.get("n_neighbors") is not None:
        asked = recipe(chosen.get("affinity") or "knn", chosen["n_neighbors"])
        chosen = {**chosen, "affinity": asked, "n_neighbors": None}
    if points.is_graph and "affinity" not in known:
        raise UsageError(
            f"{points.source} is a graph, and {method} clusters points by their features. Choose a method "
            f"that cuts a graph: {', '.join(_graph_methods())}."
        )
    if points.is_graph and chosen.get("affinity") is not None:
        raise UsageError(
            f"--affinity {chosen['affinity']} builds a graph from features, but {points.source} is a graph "
            "already; leave it out."
        )
    for name, option in _BUILD_A_GRAPH.items():
        if chosen.get(name) is not None and name not in known:
            raise UsageError(
                f"{option} is about a graph of neighbours, and {method} builds none; leave it out."
            )
    wanted = dict(chosen)
    if wanted.get("hard") and "hard" not in known:
        if method != "cop-kmeans":
            raise UsageError(f"--hard: {method} has no way to keep every constraint; choose another method.")
        # It keeps every link as it is.
        wanted.pop("hard")
    return {**wanted, "affinity": "precomputed", "n_neighbors": None} if points.is_graph else wanted


def _graph_methods() -> list[str]:
    return [name for name, method in METHODS.items() if "affinity" in method.load()().get_params(deep=False)]
