"""The result of ``sidecut cluster``, and its summary for people and for programs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.check import MAX_POINTS, list_suspects, seek_suspects
from sidecut.cli.console import counted, show_rows
from sidecut.cli.evaluate import MAX_LISTED, Score, Violation, score, violations
from sidecut.cli.preparation import Points
from sidecut.constraints import Constraints
from sidecut.diagnostics import Suspects
from sidecut.evaluation import clustering_accuracy
from sidecut.methods import Layers
from sidecut.selection.n_clusters import CLEAR_PERSISTENCE
from sidecut.spectral import laplacian_eigenpairs


@dataclass(frozen=True)
class ClusterRun:
    """Everything a run produced."""

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
        """The constraints that are not satisfied."""
        return violations(self.labels, self.constraints)

    @property
    def n_hard_violations(self) -> int:
        """Number of violated constraints of strength 1 or more; those too many to list all count as hard."""
        if self.score.total > MAX_LISTED:
            return self.score.total - self.score.kept
        return sum(abs(violation.strength) >= 1.0 for violation in self.violations)

    @property
    def n_clusters(self) -> int:
        """Number of clusters, given or chosen."""
        return int(getattr(self.model, "n_clusters_", self.model.n_clusters))

    @property
    def cut(self) -> Any:
        """The method whose graph, embedding and spectrum are shown: of several that voted, the best."""
        best = getattr(self.model, "best_estimator_", self.model)
        return getattr(best, "estimators_", [best])[0]

    @property
    def class_of_cluster(self) -> dict[int, str]:
        """The class of each cluster, where it is known."""
        return {cluster: str(name) for cluster, name in getattr(self.model, "cluster_classes_", {}).items()}

    @property
    def confidence(self) -> NDArray[np.float64] | None:
        """Confidence in the cluster of each point, from 0 to 1, if the method has one."""
        return getattr(self.model, "confidence_", None)

    @cached_property
    def suspects(self) -> Suspects | None:
        """How suspicious each label or link is, judged as `sidecut check` does."""
        if self.baseline is None:
            return None
        return seek_suspects(self.points, self.constraints, self.n_clusters)

    @property
    def placed(self) -> tuple[int, int]:
        """How many labelled points are in the cluster of their class, and how many have a label."""
        known = self.constraints.known_classes
        total = 0 if known is None else sum(name is not None for name in known)
        return total - len(self.misplaced), total

    @cached_property
    def misplaced(self) -> list[tuple[int, str, int]]:
        """The labelled points that are not in the cluster of their class: point, class and cluster."""
        known, names = self.constraints.known_classes, self.class_of_cluster
        return [
            (point, str(name), int(self.labels[point]))
            for point, name in enumerate(() if known is None else known)
            if name is not None and names.get(int(self.labels[point])) != str(name)
        ]

    @property
    def placed_before(self) -> int:
        """How many labelled points were in the cluster of their class without constraints."""
        known, labels = self.constraints.known_classes, np.asarray(self.baseline.labels_)
        # Zero clusters asked for: that classes share one is no news of clusters made without labels.
        names = self.constraints.name_clusters(labels, 0) or {}
        said = zip(labels.tolist(), [] if known is None else known, strict=True)
        return sum(name is not None and names.get(cluster) == name for cluster, name in said)

    def cluster_name(self, cluster: int) -> str:
        """Return what a cluster is called in every output: its class, or its number; -1 is noise."""
        return self.class_of_cluster.get(cluster, f"cluster {cluster}" if cluster >= 0 else "noise")

    @cached_property
    def column_shares(self) -> list[tuple[str, float]]:
        """How far each column sets the clusters apart: the share of its variance between clusters."""
        X, prepared = self.points.X, self.points.preparation
        if not self.points.columns or prepared is None or not isinstance(X, np.ndarray):
            return []
        X = X / np.maximum(np.abs(X).max(axis=0), np.finfo(float).tiny)
        found, counts = np.unique(self.labels, return_counts=True)
        means = np.array([X[self.labels == c].mean(axis=0) for c in found])
        between = counts @ (means - X.mean(axis=0)) ** 2
        total = len(X) * X.var(axis=0)
        shares = [
            (name, float(between[block].sum() / total[block].sum()) if total[block].sum() > 0 else 0.0)
            for name, block in prepared.blocks.items()
        ]
        return sorted(shares, key=lambda one: -one[1])

    @property
    def sizes(self) -> list[int]:
        """Number of points in each cluster, without noise."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters).tolist()

    @property
    def n_noise(self) -> int:
        """Number of points that a method with noise left out of all clusters."""
        return int(np.count_nonzero(self.labels < 0))

    @property
    def eigenvalues(self) -> list[float]:
        """The eigenvalues behind the embedding, in the order the method reports them."""
        return np.asarray(getattr(self.cut, "eigenvalues_", ()), dtype=float).tolist()


def graph_spectrum(model: Any, random_state: int | None = None) -> tuple[float, ...]:
    """Return the smallest eigenvalues of the graph that was cut, some more than there are clusters."""
    graph = getattr(model, "affinity_matrix_", None)
    if graph is None or graph.n_nodes > MAX_POINTS:
        return ()
    # Five beyond the number of clusters show whether there is a gap.
    n_values = min(getattr(model, "n_clusters_", model.n_clusters) + 5, graph.n_nodes)
    return tuple(laplacian_eigenpairs(graph, n_values, random_state=random_state).values.tolist())


def clusters_words(run: ClusterRun) -> str:
    """Return the number of clusters in words: 1 cluster, 2 clusters."""
    return counted(run.n_clusters, "cluster")


def solver_words(run: ClusterRun) -> tuple[str, str]:
    """Return the eigensolver's name and what it certifies, in words."""
    solution = getattr(run.cut, "solution_", None)
    solver = getattr(solution, "solver", None)
    certificate = getattr(solution, "certificate", None)
    return str(solver or "not reported"), str(certificate or "not reported")


def sentences(run: ClusterRun, messages: list[str]) -> list[str]:
    """Say in plain words what was done, what the constraints changed, and what is doubtful."""
    said = [_what_was_done(run), run.points.used_words, getattr(run.model, "explanation_", "")]
    said += [_what_changed(run), _what_is_doubtful(run, messages)]
    return [sentence for sentence in said if sentence]


def _what_was_done(run: ClusterRun) -> str:
    what = "nodes" if run.points.is_graph else "points"
    name = "the method chosen for them" if run.method == "auto" else type(run.model).__name__
    said = f"The {run.points.n_samples:,} {what} of {run.points.source.name} were put into "
    said += f"{clusters_words(run)} by {name}"
    if not run.score.total and run.constraints.is_empty:
        return f"{said}; nothing was known about them beforehand."
    n_known = len(run.constraints.constrained_points)
    if run.constraints.labels is not None:
        return f"{said}, using the known classes of {counted(n_known, 'point')}."
    return f"{said}, using {counted(run.score.total, 'constraint')} on {counted(n_known, 'point')}."


def _what_changed(run: ClusterRun) -> str:
    before, after = run.baseline_score, run.score
    if before is None:
        if not after.total:
            return "Nothing was known that could change it; the classes of a few points would steer it."
        return f"{_kept_words(run)}; no comparison without them was made."
    # Noise is matched as a cluster: one more than -1 is a number like the others.
    alike = clustering_accuracy(np.asarray(run.baseline.labels_) + 1, run.labels + 1)
    n_moved = round((1 - alike) * run.points.n_samples)
    share = n_moved / run.points.n_samples
    # A small share is not rounded to nothing.
    moved = f"{counted(n_moved, 'point')} ({share:{'.1%' if 0 < share < 0.01 else '.0%'}})"
    if not after.total:
        return (
            "One known class says nothing about any pair of points. "
            f"{moved} are in another cluster than without it."
        )
    moved = moved if n_moved else "no point"
    said = f"What you know moved {moved} to another cluster than without it, and {_kept_words(run)}"
    if run.constraints.labels is None:
        said += f" instead of {before.kept:,}" if before.kept != after.kept else ", as many as without it"
    if before.ari_unconstrained is None or after.ari_unconstrained is None:
        return f"{said}."
    verb = "rose" if after.ari_unconstrained >= before.ari_unconstrained else "fell"
    return (
        f"{said}; agreement with the true classes of the other points {verb} from "
        f"{before.ari_unconstrained:.2f} to {after.ari_unconstrained:.2f} (1 is perfect, 0 is chance)."
    )


def _kept_words(run: ClusterRun) -> str:
    """Return the number of satisfied constraints in words; of labels, how many are where their class is."""
    if run.constraints.labels is None:
        return f"{run.score.kept:,} of {run.score.total:,} constraints are kept"
    right, total = run.placed
    return f"{right:,} of {total:,} labelled points are in the cluster of their class"


def _what_is_doubtful(run: ClusterRun, messages: list[str]) -> str:
    doubts = [*_broken_words(run), *_suspect_words(run), *_small_cluster_words(run)]
    is_clear = _is_clear(run)
    if run.constraints.is_empty and is_clear is not None:
        guess = "a guess from the data alone" if is_clear else "a weak guess: there may be no groups"
        doubts.append(
            f"that there {'is' if run.n_clusters == 1 else 'are'} {clusters_words(run)} is {guess}; "
            "--clusters K asks for another number"
        )
    before = None if run.baseline_score is None else run.baseline_score.ari_unconstrained
    after = run.score.ari_unconstrained
    if before is not None and after is not None and after <= before - 0.02:
        doubts.append(
            "the result is further from the true classes than without what you know; try another --method"
        )
    is_sure = np.ones(1) if run.confidence is None else (run.confidence >= 0.5) | (run.labels < 0)
    n_unsure = int(np.count_nonzero(~is_sure.astype(bool)))
    nameless = _nameless_words(run)
    doubts += nameless
    # Points for which no class can be right have a low confidence for that alone.
    if not nameless and n_unsure and n_unsure >= 0.05 * run.points.n_samples:
        doubts.append(
            f"{counted(n_unsure, 'point')} might as well be in another cluster (confidence below 0.5)"
        )
    if messages:
        # The first sentence of the first warning becomes a part of this one.
        first = re.split(r"\.\s", messages[0], maxsplit=1)[0].rstrip(".")
        is_name = len(first) > 1 and first[1].isupper()
        doubts.append(first if is_name else first[:1].lower() + first[1:])
    if len(messages) > 1:
        more = len(messages) - 1
        doubts.append(f"there {'is one more warning' if more == 1 else f'are {more} more warnings'}")
    if not doubts:
        return "Nothing looks doubtful: no constraint is violated, no cluster is tiny, nothing was warned of."
    return f"Look at this first: {'; '.join(doubts)}."


def _is_clear(run: ClusterRun) -> bool | None:
    """Return whether the number of clusters was found and is clear; None where it was asked for."""
    if isinstance(run.model, Layers):
        is_found = run.model.n_clusters == "auto"
        return bool(run.model.persistence_.max(initial=0.0) >= CLEAR_PERSISTENCE) if is_found else None
    curve = getattr(run.model, "n_clusters_curve_", None)
    return None if curve is None else curve.is_clear


def _nameless_words(run: ClusterRun) -> list[str]:
    """Say how many points are in clusters without a class, or that all classes are known already."""
    if run.constraints.labels is None or not run.class_of_cluster:
        return []
    if run.placed[1] == run.points.n_samples:
        return [
            "every point has a known class, so nothing is left to find; --truth-column names classes for "
            "scoring alone"
        ]
    count = int(np.sum(~np.isin(run.labels, [-1, *run.class_of_cluster])))
    if not count:
        return []
    verb = "is in a cluster" if count == 1 else "are in clusters"
    return [f"{counted(count, 'point')} {verb} without a known class: label some of them if they have one"]


def _broken_words(run: ClusterRun) -> list[str]:
    broken = run.score.total - run.score.kept
    if not broken:
        return []
    if misplaced := _misplaced(run):
        named = [f"{run.points.name(point)} ({own}, in {other})" for point, own, other in misplaced[:5]]
        more = f" and {len(misplaced) - 5:,} more" if len(misplaced) > 5 else ""
        who = "one point" if len(misplaced) == 1 else f"{len(misplaced):,} points"
        return [f"{who} of a known class went to the cluster of another: {', '.join(named)}{more}"]
    verb = "is" if broken == 1 else "are"
    return [f"{counted(broken, 'constraint')} of {run.score.total:,} {verb} violated"]


def _misplaced(run: ClusterRun) -> list[tuple[int, str, str]]:
    """Return the points whose known class is not that of their cluster, with both classes."""
    known, names = run.constraints.known_classes, run.class_of_cluster
    if known is None:
        return []
    found = []
    for point in run.constraints.constrained_points.tolist():
        other = names.get(int(run.labels[point]))
        if known[point] is not None and other is not None and str(known[point]) != str(other):
            found.append((point, str(known[point]), str(other)))
    return found


def _suspect_words(run: ClusterRun) -> list[str]:
    """Name the three labels or links most likely to be wrong."""
    worst = list_suspects(run.suspects, run.points)
    if run.suspects is None or not worst:
        return []
    named = [f"{' and '.join(one['points'])}, said {one['said']} ({one['reason']})" for one in worst[:3]]
    count = f"{counted(len(worst), run.suspects.kind)} of {len(run.suspects.scores):,}"
    return [f"{count} {'looks' if len(worst) == 1 else 'look'} wrong: {', '.join(named)}"]


def _small_cluster_words(run: ClusterRun) -> list[str]:
    """Name up to three clusters of less than a tenth of the mean size."""
    mean = run.points.n_samples / max(len(run.sizes), 1)
    names = {c: f"cluster {c} ({name})" for c, name in run.class_of_cluster.items()}
    small = [
        f"{names.get(c, f'cluster {c}')} has {counted(size, 'point')}"
        for c, size in enumerate(run.sizes)
        if size < 0.1 * mean
    ]
    return [", ".join(small[:3])] if small else []


def json_summary(
    run: ClusterRun, files: dict[str, Path], messages: list[str], seconds: dict[str, float]
) -> dict[str, Any]:
    """Return the results of a run as one object for programs."""
    solver, certificate = solver_words(run)
    return {
        "data": str(run.points.source),
        "n_samples": run.points.n_samples,
        "method": run.method,
        "n_clusters": run.n_clusters,
        "sizes": run.sizes,
        "noise": run.n_noise,
        "classes": {str(cluster): name for cluster, name in run.class_of_cluster.items()},
        "score": run.score.as_dict(),
        "hard_violations": run.n_hard_violations,
        "score_without_constraints": None if run.baseline_score is None else run.baseline_score.as_dict(),
        "summary": sentences(run, messages),
        "suspects": list_suspects(run.suspects, run.points),
        "eigenvalues": run.eigenvalues,
        "solver": solver,
        "certificate": certificate,
        "files": {purpose: str(path) for purpose, path in files.items()},
        "warnings": messages,
        "seconds": {stage: round(time, 4) for stage, time in seconds.items()},
    }


def show_summary(
    run: ClusterRun, files: dict[str, Path], messages: list[str], seconds: float, verbose: bool = False
) -> None:
    """Print a few sentences and a few aligned lines; the mathematics only where it is asked for."""
    sizes = [f"{run.cluster_name(c)}: {size:,}" for c, size in enumerate(run.sizes)]
    more = f" and {len(sizes) - 16} more" if len(sizes) > 16 else ""
    more += f"; {run.n_noise:,} noise" if run.n_noise else ""
    for sentence in sentences(run, messages):
        print(sentence)
    print()
    show_rows(
        [
            ("method", f"{run.method}, {clusters_words(run)}, {seconds:.2f} s"),
            ("sizes", ", ".join(sizes[:16]) + more),
            *_score_rows(run),
            *(
                [("solver", "; ".join(solver_words(run)))]
                if verbose and hasattr(run.cut, "solution_")
                else []
            ),
            *((purpose, str(path)) for purpose, path in files.items()),
        ]
    )


def _score_rows(run: ClusterRun) -> list[tuple[str, str]]:
    score, before = run.score, run.baseline_score
    rows = []
    if run.constraints.labels is not None:
        right, total = run.placed
        rows.append(("known", f"{right:,} of {total:,} labelled points in the cluster of their class"))
    elif score.total:
        was = "" if before is None else f"   (without constraints {before.kept:,})"
        rows.append(("constraints", f"{score.kept:,} of {score.total:,} satisfied{was}"))
    for name, value, old in (
        ("ARI", score.ari, before and before.ari),
        ("  on free points", score.ari_unconstrained, before and before.ari_unconstrained),
    ):
        if value is not None and (score.total or name == "ARI"):
            was = "" if old is None else f"   (without constraints {old:.3f})"
            rows.append((name, f"{value:.3f}{was}"))
    return rows
