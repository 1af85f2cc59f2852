"""What a run of ``sidecut cluster`` produced, for whoever tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.doubts import seek_suspects
from sidecut.cli.points import Points
from sidecut.cli.scores import MAX_LISTED, Score, Violation, hard_violations, score, violations
from sidecut.constraints import Constraints
from sidecut.diagnostics import Suspects
from sidecut.spectral import laplacian_eigenpairs

__all__ = ["ClusterRun", "graph_spectrum"]

SHOWN_BEYOND = 5
"""So many eigenvalues beyond the number of clusters show whether there is a gap."""

MAX_SPECTRUM_POINTS = 20_000
"""Beyond so many points a second look at the spectrum would take too long for a picture."""


@dataclass(frozen=True)
class ClusterRun:
    """Everything a run produced, for whoever tells of it.

    Parameters
    ----------
    points : Points
        What was clustered.
    constraints : Constraints
        What was known; possibly nothing.
    method : str
        Name of the method.
    model : estimator
        The fitted method.
    baseline : estimator or None
        The same graph cut without constraints, if that was compared.
    spectrum : tuple of float
        Eigenvalues of the graph that was cut, beyond those the clustering needs, to show the gap.
    """

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
        graph = getattr(self.baseline, "affinity_matrix_", None)
        if self.constraints.is_empty or graph is None or graph.matrix is None:
            return None
        judged = Points(graph, self.points.source, is_graph=True)
        return seek_suspects(judged, self.constraints, self.n_clusters)

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
    """Return the smallest eigenvalues of the graph that was cut, some more than there are clusters.

    Parameters
    ----------
    model : estimator
        A fitted method.
    random_state : int, optional
        Seed of the solver's start.

    Returns
    -------
    tuple of float
        Eigenvalues of the normalised Laplacian, ascending; none for large graphs.

    Examples
    --------
    >>> from sidecut import NormalizedCut
    >>> two_triangles = np.kron(np.eye(2), np.ones((3, 3)))
    >>> model = NormalizedCut(2, affinity="precomputed", random_state=0).fit(two_triangles)
    >>> np.round(graph_spectrum(model, 0), 6) + 0.0
    array([0., 0., 1., 1., 1., 1.])
    """
    graph = getattr(model, "affinity_matrix_", None)
    if graph is None or graph.n_nodes > MAX_SPECTRUM_POINTS:
        return ()
    n_values = min(model.n_clusters + SHOWN_BEYOND, graph.n_nodes)
    return tuple(laplacian_eigenpairs(graph, n_values, random_state=random_state).values.tolist())
