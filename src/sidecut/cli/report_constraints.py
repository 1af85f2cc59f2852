"""The report's account of the constraints: kept, violated, and against no constraints at all."""

from __future__ import annotations

from collections import Counter

from sidecut.cli.clustering import ClusterRun
from sidecut.cli.markup import paragraph, section, table
from sidecut.cli.scores import MAX_LISTED, Score

__all__ = ["comparison_section", "violations_section"]

SHOWN_VIOLATIONS = 50
OPEN_VIOLATIONS = 10


def comparison_section(run: ClusterRun) -> str:
    """Set the clustering beside the one without constraints."""
    if not run.score.total and run.score.ari is None:
        return ""
    columns = [("with constraints" if run.score.total else "value", run.score)]
    if run.baseline_score is not None:
        columns.insert(0, ("without constraints", run.baseline_score))
    rows = [(name, *(_cell(score, key) for _, score in columns)) for name, key in _rows(run.score)]
    numeric = range(1, len(columns) + 1)
    note = ""
    if run.score.ari_unconstrained is not None and run.score.total:
        note = paragraph(
            "The adjusted Rand index is 1 for perfect agreement with the true classes and about 0 for "
            "chance. On "
            "unconstrained points it counts only points no constraint speaks of, so it shows what was learnt "
            "beyond "
            "what was given.",
            "note",
        )
    return section(
        "What the constraints changed", table(["", *(h for h, _ in columns)], rows, "", [*numeric]), note
    )


def _rows(score: Score) -> list[tuple[str, str]]:
    rows = []
    if score.total:
        rows += [("constraints satisfied", "all"), ("must-links", "must"), ("cannot-links", "cannot")]
    if score.ari is not None:
        rows.append(("adjusted Rand index, all points", "ari"))
    if score.ari_unconstrained is not None and score.total:
        rows.append(("adjusted Rand index, unconstrained points", "ari_unconstrained"))
    return rows


def _cell(score: Score, key: str) -> str:
    counts = {
        "all": (score.kept, score.total),
        "must": (score.must_kept, score.must_total),
        "cannot": (score.cannot_kept, score.cannot_total),
    }
    if key in counts:
        kept, total = counts[key]
        return f"{total:,} given" if kept is None else f"{kept:,} of {total:,}"
    value = getattr(score, key)
    return "unknown" if value is None else f"{value:.3f}"


def violations_section(run: ClusterRun) -> str:
    """List the constraints that are not kept, and where their points are instead."""
    if not run.score.total:
        return ""
    found = run.violations
    if not found and run.score.kept == run.score.total:
        return section("Violated constraints", paragraph("None: every constraint is satisfied."))
    rows = [
        (
            v.kind,
            run.points.name(v.first),
            run.points.name(v.second),
            f"{abs(v.strength):g}",
            _where(v.clusters),
        )
        for v in found[:SHOWN_VIOLATIONS]
    ]
    heads = ["kind", "point", "point", "strength", "where they are"]
    said = f"{_count(run)} {_culprits(run)}"
    return section("Violated constraints", paragraph(said), _folded(table(heads, rows, "", [3]), len(rows)))


def _folded(listing: str, n_rows: int) -> str:
    """Fold a long list away, so that it does not bury what follows."""
    if n_rows <= OPEN_VIOLATIONS:
        return listing
    return f"<details><summary>Show {n_rows} of them</summary>\n{listing}\n</details>"


def _count(run: ClusterRun) -> str:
    violated = run.score.total - run.score.kept
    said = f"{violated:,} of {run.score.total:,} constraints are violated"
    shown = min(len(run.violations), SHOWN_VIOLATIONS)
    if run.score.total > MAX_LISTED:
        return f"{said}; these {shown} are from a sample of the constrained points, the strongest first."
    return f"{said}; the first {shown}, the strongest first." if shown < violated else f"{said}."


def _culprits(run: ClusterRun) -> str:
    """Name the points that take part in most violations: a mistake in one label shows up here."""
    counts = Counter(point for v in run.violations for point in (v.first, v.second))
    often = [(point, count) for point, count in counts.most_common(3) if count > 1]
    if not often:
        return ""
    named = ", ".join(f"{run.points.name(point)} ({count:,})" for point, count in often)
    return f"Points in most of them: {named}. Look at these first."


def _where(clusters: tuple[int, int]) -> str:
    first, second = clusters
    return f"both in cluster {first}" if first == second else f"in clusters {first} and {second}"
