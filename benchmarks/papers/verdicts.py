"""Verdicts as Markdown: what a paper says, whether it holds here, the number, and why not."""

from __future__ import annotations

from benchmarks.papers.claims import Claim, Verdict
from benchmarks.papers.tables import Results

KINDS = ("holds", "partly", "does not hold", "not run")
UNKNOWN = "We do not know why."


def tally(claims: list[Claim], results: Results) -> dict[str, int]:
    """Count the claims by verdict."""
    found = [claim.check(results) for claim in claims]
    words = [verdict.word.strip("*") if verdict else "not run" for verdict in found]
    return {kind: words.count(kind) for kind in KINDS}


def reason(claim: Claim, verdict: Verdict) -> str:
    """Return why a claim does not hold; where it holds partly, only what is known."""
    if verdict.holds is True:
        return ""
    return claim.because or (UNKNOWN if verdict.holds is False else "")


def verdict_table(claims: list[Claim], results: Results) -> str:
    """Write what the paper says beside what came out, and below why it did not."""
    lines = ["| the paper says | where | here | found |", "|---|---|---|---|"]
    reasons: list[str] = []
    for claim in claims:
        verdict = claim.check(results)
        if verdict is None:
            lines.append(f"| {claim.says} | {claim.where} | not run | |")
            continue
        why, note = reason(claim, verdict), ""
        if why:
            reasons += [] if why in reasons else [why]
            note = f" ({reasons.index(why) + 1})"
        lines.append(f"| {claim.says} | {claim.where} | {verdict.word}{note} | {verdict.number} |")
    notes = [f"{number}. {why}" for number, why in enumerate(reasons, 1)]
    return "\n".join([*lines, *(["", *notes] if notes else [])])
