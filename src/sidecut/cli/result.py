"""What a run of ``sidecut cluster`` produced, for whoever tells of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.console import UsageError
from sidecut.cli.evaluate import MAX_LISTED, Score, Violation, hard_violations, score, violations
from sidecut.cli.inputs import read_points
from sidecut.cli.preparation import Points, PreparationOptions, ask_about_commas
from sidecut.cli.tables import (
    TABLE_SUFFIXES,
    ColumnRoles,
    TextFormat,
    kind_suffix,
    looks_like_ids,
    read_table,
)
from sidecut.constraints import Constraints
from sidecut.diagnostics import Suspects, find_suspects
from sidecut.graphs import Graph, GraphRecipe
from sidecut.spectral import laplacian_eigenpairs

__all__ = ["ClusterRun", "graph_spectrum"]


SHOWN_BEYOND = 5
"""So many eigenvalues beyond the number of clusters show whether there is a gap."""

MAX_POINTS = 20_000
"""Beyond so many points suspects are not sought on the way; `find_suspects` can be called by itself."""

MAX_SPECTRUM_POINTS = 20_000
"""Beyond so many points a second look at the spectrum would take too long for a picture."""


@dataclass(frozen=True)
class ClusterRun:
    """Everything a run produced, for whoever tells of it."""

    points: Points
    constraints: Constraints
    method: str
    model: Any
    baseline: Any = None
    spectrum: tuple[float, ...] = ()

    @property
    def labels(self) -> NDArray[np.intp]:
        """Cluster of each point."""
        return np.asarray(self.model.labels_)

    @cached_property
    def score(self) -> Score:
        """How good the clustering is."""
        return score(self.labels, self.points, self.constraints)

    @cached_property
    def baseline_score(self) -> Score | None:
        """How good it was without constraints."""
        if self.baseline is None:
            return None
        return score(np.asarray(self.baseline.labels_), self.points, self.constraints)

    @cached_property
    def violations(self) -> list[Violation]:
        """The constraints not kept."""
        return violations(self.labels, self.constraints)

    @property
    def n_hard_violations(self) -> int:
        """How many constraints meant without reserve are not kept; those too many to list are all hard."""
        if self.score.total > MAX_LISTED:
            return self.score.total - self.score.kept
        return hard_violations(self.violations)

    @property
    def n_clusters(self) -> int:
        """How many clusters were asked for, or chosen."""
        return int(getattr(self.model, "n_clusters_", self.model.n_clusters))

    @property
    def cut(self) -> Any:
        """The method whose graph, embedding and spectrum are shown: of several that voted, the best."""
        best = getattr(self.model, "best_estimator_", self.model)
        return getattr(best, "estimators_", [best])[0]

    @property
    def class_of_cluster(self) -> dict[int, str]:
        """Which cluster is which class, as far as classes are known."""
        return {cluster: str(name) for cluster, name in getattr(self.model, "cluster_classes_", {}).items()}

    @property
    def confidence(self) -> NDArray[np.float64] | None:
        """How sure the method is of each point, from 0 to 1, if it tells."""
        return getattr(self.model, "confidence_", None)

    @cached_property
    def suspects(self) -> Suspects | None:
        """How suspicious each label or link is, judged on the graph without constraints, if that is cheap."""
        if self.constraints.is_empty or self.baseline is None or self.points.n_samples > MAX_POINTS:
            return None
        graph = self._plain_graph
        if graph is None or graph.matrix is None:
            return None
        judged = Points(graph, self.points.source, is_graph=True)
        return seek_suspects(judged, self.constraints, self.n_clusters)

    @property
    def _plain_graph(self) -> Graph | None:
        """The graph before constraints changed it; of several to choose among, the one that was chosen."""
        chosen = getattr(self.cut, "affinity", None)
        if hasattr(self.model, "best_estimator_") and isinstance(chosen, GraphRecipe):
            return chosen.build(self.points.X)
        return getattr(self.baseline, "affinity_matrix_", None)

    def least_sure(self, n_points: int) -> list[int]:
        """Return the points whose cluster is least sure, the least sure first."""
        if self.confidence is None:
            return []
        return np.argsort(self.confidence, kind="stable")[:n_points].tolist()

    @property
    def sizes(self) -> list[int]:
        """Number of points in each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters).tolist()

    @property
    def eigenvalues(self) -> list[float]:
        """The eigenvalues behind the embedding, in the order the method reports them."""
        return np.asarray(getattr(self.cut, "eigenvalues_", ()), dtype=float).tolist()


def graph_spectrum(model: Any, random_state: int | None = None) -> tuple[float, ...]:
    """Return the smallest eigenvalues of the graph that was cut, some more than there are clusters."""
    graph = getattr(model, "affinity_matrix_", None)
    if graph is None or graph.n_nodes > MAX_SPECTRUM_POINTS:
        return ()
    n_values = min(model.n_clusters + SHOWN_BEYOND, graph.n_nodes)
    return tuple(laplacian_eigenpairs(graph, n_values, random_state=random_state).values.tolist())


# Labels and links that look wrong, in the user's own names.

MAX_JUDGED, MAX_JUDGED_LINKS = 2_000, 20_000
"""What is known about more points, or by more links, is not judged one by one."""

SHOWN = 10
"""So many are printed."""


def list_suspects(suspects: Suspects | None, points: Points) -> list[dict[str, Any]]:
    """Return every label or link that is more likely wrong than right, the most suspicious first."""
    if suspects is None:
        return []
    return [
        {
            "points": [points.name(int(point)) for point in np.atleast_1d(suspects.points[place])],
            "said": str(suspects.said[place]),
            "score": round(float(suspects.scores[place]), 4),
            "reason": suspects.reasons[place],
        }
        for place in suspects.doubtful.tolist()
    ]


def chance_words(chance: float) -> str:
    """Return a chance in percent; nothing that is only likely is said to be certain."""
    return "over 99 %" if chance > 0.99 else f"{100 * chance:.0f} %"


def tell_suspects(suspects: list[dict[str, Any]], kind: str, total: int) -> list[str]:
    r"""Return lines that name the suspects, each with what was said and the reason."""
    if not suspects:
        return [f"None of the {total:,} {kind}s looks wrong."] if total else []
    count, verb = len(suspects), "looks" if len(suspects) == 1 else "look"
    lines = [f"{count:,} {kind}{'s' * (count != 1)} of {total:,} {verb} wrong (the chance is given):"]
    lines += [
        f"  {' and '.join(one['points'])}, said {one['said']}: {one['reason']} ({chance_words(one['score'])})"
        for one in suspects[:SHOWN]
    ]
    return lines + ([f"  and {count - SHOWN:,} more (--json lists all)"] if count > SHOWN else [])


def seek_suspects(points: Points, constraints: Constraints, n_clusters: int | None) -> Suspects | None:
    """Judge all that is known by the points; None where that is nothing, or too much."""
    n_links = 0 if constraints.labels is not None else constraints.n_pairs
    is_much = len(constraints.constrained_points) > MAX_JUDGED or n_links > MAX_JUDGED_LINKS
    if constraints.is_empty or is_much or points.n_samples > MAX_POINTS or min(points.X.shape) < 1:
        return None
    graph: dict[str, Any] = (
        {"affinity": "precomputed"} if points.is_graph else {"n_neighbors": min(20, points.n_samples - 1)}
    )
    return find_suspects(points.X, constraints, n_clusters=n_clusters, **graph)


def read_features(path: Path, points: Points, roles: ColumnRoles, text: TextFormat) -> Points:
    """Return the points with their numbers, standardised and gaps filled; texts and ids are left out."""
    if kind_suffix(path) not in TABLE_SUFFIXES:
        return points
    frame = read_table(path, text, list(roles.special))
    from pandas.api.types import is_numeric_dtype

    others = [str(name) for name in frame.columns if name not in roles.special]
    words = [name for name in others if not is_numeric_dtype(frame[name])]
    ask_about_commas(frame, words, path)
    dropped = tuple(name for name in others if name in words or looks_like_ids(frame[name], name))
    if len(dropped) == len(others):
        raise UsageError(f"{path} has no column of numbers.")
    wanted = PreparationOptions(impute=True, standardize=True)
    read = read_points(path, roles=replace(roles, drop=dropped), wanted=wanted, text=text)
    return replace(read, names=points.names)
