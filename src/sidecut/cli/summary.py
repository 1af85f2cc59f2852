"""What a run tells: a few aligned lines for people, one object for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sidecut.cli.clustering import ClusterRun
from sidecut.cli.scores import Score

__all__ = ["aligned", "clusters_words", "human_summary", "json_summary", "solver_words"]


def clusters_words(run: ClusterRun) -> str:
    """Return how many clusters there are, in words: 1 cluster, 2 clusters."""
    return f"{run.model.n_clusters} cluster{'s' * (run.model.n_clusters != 1)}"


def solver_words(run: ClusterRun) -> tuple[str, str]:
    """Return the eigensolver's name and what it certifies, in words."""
    solution = getattr(run.model, "solution_", None)
    solver = getattr(solution, "solver", None)
    certificate = getattr(solution, "certificate", None)
    return str(solver or "not reported"), str(certificate or "not reported")


def json_summary(
    run: ClusterRun, files: dict[str, Path], messages: list[str], seconds: dict[str, float]
) -> dict[str, Any]:
    """Return one object with everything a program wants to know.

    Parameters
    ----------
    run : ClusterRun
        What was computed.
    files : dict of str to Path
        What was written, by purpose.
    messages : list of str
        What was warned of.
    seconds : dict of str to float
        How long each stage took.

    Returns
    -------
    dict
        Fit for ``json.dumps``.
    """
    solver, certificate = solver_words(run)
    return {
        "data": str(run.points.source),
        "n_samples": run.points.n_samples,
        "method": run.method,
        "n_clusters": run.model.n_clusters,
        "sizes": run.sizes,
        "score": run.score.as_dict(),
        "hard_violations": run.n_hard_violations,
        "score_without_constraints": None if run.baseline_score is None else run.baseline_score.as_dict(),
        "eigenvalues": run.eigenvalues,
        "solver": solver,
        "certificate": certificate,
        "files": {purpose: str(path) for purpose, path in files.items()},
        "warnings": messages,
        "seconds": {stage: round(time, 4) for stage, time in seconds.items()},
    }


def human_summary(run: ClusterRun, files: dict[str, Path], seconds: float) -> str:
    """Return a few aligned lines.

    Parameters
    ----------
    run : ClusterRun
        What was computed.
    files : dict of str to Path
        What was written, by purpose.
    seconds : float
        How long it all took.

    Returns
    -------
    str
        The summary.
    """
    solver, certificate = solver_words(run)
    rows = [
        ("points", f"{run.points.n_samples:,} from {run.points.source}"),
        ("method", f"{run.method}, {clusters_words(run)}, {seconds:.2f} s"),
        ("sizes", _sizes(run.sizes)),
        *_score_rows(run.score, run.baseline_score),
        ("solver", f"{solver}; {certificate}"),
        *((purpose, str(path)) for purpose, path in files.items()),
    ]
    return aligned(rows)


def _sizes(sizes: list[int], limit: int = 16) -> str:
    shown = ", ".join(f"{size:,}" for size in sizes[:limit])
    return shown if len(sizes) <= limit else f"{shown} and {len(sizes) - limit} more"


def _score_rows(score: Score, before: Score | None) -> list[tuple[str, str]]:
    rows = []
    if score.total:
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


def aligned(rows: list[tuple[str, str]]) -> str:
    """Lay out names and values in two columns.

    Examples
    --------
    >>> print(aligned([("points", "3"), ("ARI", "0.9")]))
    points  3
    ARI     0.9
    """
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)
