"""What a run tells: three plain sentences and a few lines for people, one object for programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from sidecut.cli.console import show_rows
from sidecut.cli.evaluate import Score
from sidecut.cli.result import ClusterRun, list_suspects
from sidecut.evaluation import clustering_accuracy

__all__ = ["clusters_words", "counted", "json_summary", "sentences", "solver_words", "tell_summary"]

SMALL_SHARE = 0.1
"""A cluster of less than this share of an even one is said to be small."""

SHOWN_SUSPECTS = 3
"""So many labels and links that look wrong are named."""

SHOWN_STRAYS = 5
"""So many points of a known class that are in the cluster of another are named."""

UNSURE, MANY_UNSURE = 0.5, 0.05
"""Points of less confidence are unsure; they are spoken of where they are so large a share."""


def counted(count: int, noun: str) -> str:
    """Return a number and a noun: 1 cluster, 1,797 points."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def clusters_words(run: ClusterRun) -> str:
    """Return how many clusters there are, in words: 1 cluster, 2 clusters."""
    return counted(run.n_clusters, "cluster")


def solver_words(run: ClusterRun) -> tuple[str, str]:
    """Return the eigensolver's name and what it certifies, in words."""
    solution = getattr(run.cut, "solution_", None)
    solver = getattr(solution, "solver", None)
    certificate = getattr(solution, "certificate", None)
    return str(solver or "not reported"), str(certificate or "not reported")


def sentences(run: ClusterRun, messages: list[str]) -> tuple[str, str, str]:
    """Tell in plain words what was done, what the knowledge changed, and what is doubtful."""
    done = " ".join(filter(None, (_what_was_done(run), getattr(run.model, "explanation_", ""))))
    return done, _what_changed(run), _what_is_doubtful(run, messages)


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


def _percent(share: float) -> str:
    """Return a share in percent; a small one is not rounded to nothing."""
    return f"{share:.1%}" if 0 < share < 0.01 else f"{share:.0%}"


def _what_changed(run: ClusterRun) -> str:
    before, after = run.baseline_score, run.score
    if before is None:
        if not after.total:
            return "Nothing was known that could change it; the classes of a few points would steer it."
        return f"{_kept_words(run)}; no comparison without them was made."
    n_moved = round((1 - clustering_accuracy(run.baseline.labels_, run.labels)) * run.points.n_samples)
    share = n_moved / run.points.n_samples
    if not after.total:
        return (
            "One known class says nothing about any pair of points. "
            + f"{counted(n_moved, 'point')} ({_percent(share)}) are in another cluster than in the usual cut."
        )
    moved = f"{counted(n_moved, 'point')} ({_percent(share)})" if n_moved else "no point"
    said = f"What you know moved {moved} to another cluster than without it, and {_kept_words(run)}"
    said += f" instead of {before.kept:,}" if before.kept != after.kept else ", as many as without it"
    if before.ari_unconstrained is None or after.ari_unconstrained is None:
        return f"{said}."
    verb = "rose" if after.ari_unconstrained >= before.ari_unconstrained else "fell"
    return (
        f"{said}; agreement with the true classes of the other points {verb} from "
        f"{before.ari_unconstrained:.2f} to {after.ari_unconstrained:.2f} (1 is perfect, 0 is chance)."
    )


def _kept_words(run: ClusterRun) -> str:
    """Say how many constraints are kept; to someone who gave classes, as pairs of points."""
    if run.constraints.labels is None:
        return f"{run.score.kept:,} of {run.score.total:,} constraints are kept"
    return f"{run.score.kept:,} of {run.score.total:,} pairs of known points come out right"


def _what_is_doubtful(run: ClusterRun, messages: list[str]) -> str:
    doubts = [
        *_broken_words(run),
        *_suspect_words(run),
        *_size_words(run),
        *_worse_words(run),
        *_unsure_words(run),
    ]
    if messages:
        doubts.append(_first_sentence(messages[0]))
    if len(messages) > 1:
        more = len(messages) - 1
        doubts.append(f"there {'is one more warning' if more == 1 else f'are {more} more warnings'}")
    if not doubts:
        return "Nothing looks doubtful: no constraint is violated, no cluster is tiny, nothing was warned of."
    said = "; ".join(doubts)
    return f"Look at this first: {said}."


def _first_sentence(message: str) -> str:
    """Return the first sentence of a warning, to be put into another."""
    first = re.split(r"\.\s", message, maxsplit=1)[0].rstrip(".")
    is_name = len(first) > 1 and first[1].isupper()
    return first if is_name else first[:1].lower() + first[1:]


def _broken_words(run: ClusterRun) -> list[str]:
    broken = run.score.total - run.score.kept
    if not broken:
        return []
    verb = "is" if broken == 1 else "are"
    if strays := _strays(run):
        named = [
            f"{run.points.name(point)} ({own}, in {other})" for point, own, other in strays[:SHOWN_STRAYS]
        ]
        more = f" and {len(strays) - SHOWN_STRAYS:,} more" if len(strays) > SHOWN_STRAYS else ""
        who = "one point" if len(strays) == 1 else f"{len(strays):,} points"
        return [f"{who} of a known class went to the cluster of another: {', '.join(named)}{more}"]
    return [f"{counted(broken, 'constraint')} of {run.score.total:,} {verb} violated"]


def _strays(run: ClusterRun) -> list[tuple[int, str, str]]:
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
    """Name what you said that the data and everything else you said speak against, the worst first."""
    suspects = run.suspects
    if suspects is None:
        return []
    worst = list_suspects(suspects, run.points)
    if not worst:
        return []
    named = [
        f"{' and '.join(one['points'])}, said {one['said']} ({one['reason']})"
        for one in worst[:SHOWN_SUSPECTS]
    ]
    count = f"{counted(len(worst), suspects.kind)} of {len(suspects.scores):,}"
    return [f"{count} {'looks' if len(worst) == 1 else 'look'} wrong: {', '.join(named)}"]


def _size_words(run: ClusterRun) -> list[str]:
    sizes = np.array(run.sizes)
    even = run.points.n_samples / max(len(sizes), 1)
    small = np.flatnonzero(sizes < SMALL_SHARE * even)
    names = run.class_of_cluster
    called = [f"cluster {c}" + (f" ({names[c]})" if c in names else "") for c in small[:3].tolist()]
    counts = [counted(int(size), "point") for size in sizes[small[:3]]]
    listed = ", ".join(f"{name} has {count}" for name, count in zip(called, counts, strict=True))
    return [listed] if len(small) else []


def _unsure_words(run: ClusterRun) -> list[str]:
    """Say how many points might as well be elsewhere, if they are many."""
    if run.confidence is None:
        return []
    unsure = int(np.count_nonzero(run.confidence < UNSURE))
    if unsure < MANY_UNSURE * run.points.n_samples:
        return []
    return [f"{counted(unsure, 'point')} might as well be in another cluster (confidence below {UNSURE})"]


def _worse_words(run: ClusterRun) -> list[str]:
    before, after = run.baseline_score, run.score
    if before is None or before.ari_unconstrained is None or after.ari_unconstrained is None:
        return []
    if after.ari_unconstrained > before.ari_unconstrained - 0.02:
        return []
    return ["the result is further from the true classes than without what you know; try another --method"]


def json_summary(
    run: ClusterRun, files: dict[str, Path], messages: list[str], seconds: dict[str, float]
) -> dict[str, Any]:
    """Return one object with everything a program wants to know."""
    solver, certificate = solver_words(run)
    return {
        "data": str(run.points.source),
        "n_samples": run.points.n_samples,
        "method": run.method,
        "n_clusters": run.n_clusters,
        "sizes": run.sizes,
        "classes": {str(cluster): name for cluster, name in run.class_of_cluster.items()},
        "score": run.score.as_dict(),
        "hard_violations": run.n_hard_violations,
        "score_without_constraints": None if run.baseline_score is None else run.baseline_score.as_dict(),
        "summary": list(sentences(run, messages)),
        "suspects": list_suspects(run.suspects, run.points),
        "eigenvalues": run.eigenvalues,
        "solver": solver,
        "certificate": certificate,
        "files": {purpose: str(path) for purpose, path in files.items()},
        "warnings": messages,
        "seconds": {stage: round(time, 4) for stage, time in seconds.items()},
    }


def tell_summary(run: ClusterRun, files: dict[str, Path], messages: list[str], seconds: float) -> None:
    """Print three sentences and a few aligned lines."""
    solver, certificate = solver_words(run)
    for sentence in sentences(run, messages):
        print(sentence)
    print()
    show_rows(
        [
            ("method", f"{run.method}, {clusters_words(run)}, {seconds:.2f} s"),
            ("sizes", _sizes(run)),
            *_score_rows(run.score, run.baseline_score),
            ("solver", f"{solver}; {certificate}"),
            *((purpose, str(path)) for purpose, path in files.items()),
        ]
    )


def _sizes(run: ClusterRun, limit: int = 16) -> str:
    names, sizes = run.class_of_cluster, run.sizes
    said = [f"{names[c]}: {size:,}" if c in names else f"{size:,}" for c, size in enumerate(sizes)]
    shown = ", ".join(said[:limit])
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
