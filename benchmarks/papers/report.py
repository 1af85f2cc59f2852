"""Redraw the figures and write a page of results per paper, all from the stored tables.

python -m benchmarks.papers.report [--results FOLDER] [--docs FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pandas as pd

from benchmarks.papers.catalogue import PAPERS
from benchmarks.papers.claims import Claim
from benchmarks.papers.comparison import comparable, comparison
from benchmarks.papers.experiment import Experiment, Protocol
from benchmarks.papers.figures import DOCS, WORDS, draw_figure, panels
from benchmarks.papers.overview import EXPERIMENTS as ONE_PER_CENT
from benchmarks.papers.storing import RESULTS
from benchmarks.papers.tables import Results

INTRODUCTION = """\
Written by `python -m benchmarks.papers.report` from the tables in `benchmarks/papers/results`; every number
and every verdict is computed from them. “(paper)” is a method as it is printed; the same name without is our
default, or a method the paper does not have. A method is best in a cell (a data set and a size) if no rival
is better by more than 0.005."""
OVERVIEW = """\
# The papers' experiments, run again

Five papers, their experiments, the same protocol, all methods on the same graph and the same constraints;
then each of their claims with a verdict and the number it rests on.

    make papers DATA=folder                          # all of it: hours; what is finished is not run again
    make papers DATA=folder OPTIONS="--quick --jobs 4"
    sidecut bench papers --only csp-fig9-wine        # one curve
    sidecut bench papers --list

DATA is a folder of `.npz` files with X and y; without it, what scikit-learn bundles is used and the rest is
fetched from openml.org where it can be had (`sidecut.datasets.load`). Results are kept cell by cell in
`benchmarks/papers/results/raw`, and summed up in tidy tables beside it, each with the configuration that
made it. What the papers' protocol lacks is a switch: `--pairs random` instead of pairs that were clustered
wrongly, `--noise 0.1` for one pair in ten told wrongly, `--choose held-out` to tune by constraints instead
of by the true labels; scores on unconstrained points are always kept beside those on all."""
COMPARISON = """\
## All methods, over all experiments

With default settings, against the unconstrained cut of the same graph; a cell is a data set and a size. It
harms where the adjusted Rand index falls by more than 0.005. Methods took part in different experiments:
gains can be compared only where the numbers of cells agree."""
HONEST = """\
Means over all sizes. The first column is the paper's protocol; the second leaves out the points that were
told. (Where pairs are drawn from the mistakes of the unconstrained cut, what is left are points it got right,
and few of them: that column then favours it.) The others are run with `--pairs random`, `--noise 0.1` and
`--choose held-out`, and shown where they were run."""
VARIANTS = {
    "random pairs": Protocol(pairs="random"),
    "10 % of the pairs wrong": Protocol(noise=0.1),
    "20 % of the pairs wrong": Protocol(noise=0.2),
    "parameters by held-out constraints": Protocol(choose="held-out"),
}


def markdown(table: pd.DataFrame, digits: int = 3) -> str:
    """Write a table as Markdown, the index first; missing numbers are left empty."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            return "" if pd.isna(value) else f"{value:.{digits}f}"
        return str(value)

    heads = [str(table.index.name or ""), *map(str, table.columns)]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * len(table.columns)]
    for row in table.itertuples():
        lines.append("| " + " | ".join(map(cell, row)) + " |")
    return "\n".join(lines)


def verdicts(claims: list[Claim], results: Results) -> str:
    """Write what the paper says beside what came out, and below why it did not, as far as known."""
    lines = ["| the paper says | where | here | found |", "|---|---|---|---|"]
    reasons: list[str] = []
    for claim in claims:
        verdict = claim.check(results)
        if verdict is None:
            lines.append(f"| {claim.says} | {claim.where} | not run | |")
            continue
        note = ""
        if claim.because and verdict.holds is not True:
            if claim.because not in reasons:
                reasons.append(claim.because)
            note = f" ({reasons.index(claim.because) + 1})"
        lines.append(f"| {claim.says} | {claim.where} | {verdict.word}{note} | {verdict.number} |")
    notes = [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def scores(experiment: Experiment, results: Results) -> str:
    """Write the means of all methods at all sizes."""
    curves = {
        contender.label: results.curve(experiment.name, contender.label, experiment.metric)
        for contender in experiment.contenders
    }
    table = pd.DataFrame({label: curve for label, curve in curves.items() if curve is not None}).T
    table.columns = [f"{size:g}" for size in table.columns]
    free = Results(results.folder, free=True)
    last = f"{max(experiment.sizes):g}"
    for head, source, score in (("unconstrained points", free, experiment.metric), ("kept", results, "kept")):
        ends = {label: source.curve(experiment.name, label, score) for label in table.index}
        table[f"{head}, at {last}"] = pd.Series(
            {label: float(curve.iloc[-1]) for label, curve in ends.items()}
        )
    table.index.name = WORDS[experiment.metric]
    return markdown(table)


def run_facts(experiment: Experiment, results: Results) -> str:
    """Say how many draws there were, what failed, and how to run it again."""
    table = results.table(experiment.name)
    fewest, most = int(table.draws.min()), int(table.draws.max())
    draws = f"{most}" if fewest == most else f"{fewest} to {most}"
    failed = table[table.failures > 0].groupby("method").failures.sum()
    words = [f"Means of {draws} draws (the paper's protocol asks for {experiment.draws})."]
    if len(failed):
        counts = ", ".join(f"{method} {count}" for method, count in failed.items())
        words.append(f"Fits that failed and are left out: {counts}.")
    words.append(f"`python -m benchmarks.papers --data FOLDER --only {experiment.name}`")
    return " ".join(words)


def protocols(experiments: list[Experiment], results: Results) -> str:
    """Write what the papers' protocol is worth beside more honest ones."""
    free = Results(results.folder, free=True)
    blocks = []
    for experiment in experiments:
        rows = {}
        for contender in experiment.contenders:
            label, metric = contender.label, experiment.metric
            if results.curve(experiment.name, label, metric) is None:
                continue
            row = {"as the paper": results.mean([experiment.name], label, metric)}
            row["unconstrained points only"] = free.mean([experiment.name], label, metric)
            for words, protocol in VARIANTS.items():
                row[words] = results.mean([experiment.under(protocol).name], label, metric)
            rows[label] = row
        table = pd.DataFrame(rows).T.astype(float).dropna(axis=1, how="all")
        table.index.name = f"{experiment.name}, {WORDS[experiment.metric]}"
        blocks.append(markdown(table))
    return "\n\n".join(blocks)


def page(name: str, paper: ModuleType, results: Results, docs: Path) -> str:
    """Write a paper's page and draw its figures."""
    return "\n\n".join(_sections(name, paper, results, docs)) + "\n"


def _sections(name: str, paper: ModuleType, results: Results, docs: Path) -> Iterator[str]:
    yield f"# {paper.TITLE}: its experiments, run again"
    yield INTRODUCTION
    yield "## What it says, and what came out"
    yield verdicts(paper.CLAIMS, results)
    shown = panels(name, paper.EXPERIMENTS, results)
    for number, group in shown.items():
        score = "kept" if name == "csp" and number.startswith("10") else None
        draw_figure(group, results, docs / f"{name}-fig{number}.svg", score)
        yield f"## Figure {number}"
        yield f"![figure {number}, redrawn]({name}-fig{number}.svg)"
        if score is None:
            yield from _panels(group, results)
    for title, file in getattr(paper, "TABLES", {}).items():
        if (results.folder / file).exists():
            yield f"## {title}"
            table = pd.read_csv(results.folder / file)
            yield markdown(table.set_index(table.columns[0]))
    run = [e for e in paper.EXPERIMENTS if results.table(e.name) is not None and e.sweep is None]
    if run:
        yield "## Under more honest protocols"
        yield HONEST
        yield protocols(run, results)


def _panels(group: list[Experiment], results: Results) -> Iterator[str]:
    notes = dict.fromkeys(experiment.note for experiment in group if experiment.note)
    yield from notes
    for experiment in group:
        yield f"### {experiment.name}"
        yield scores(experiment, results)
        yield run_facts(experiment, results)


def overview(results: Results) -> str:
    """Write the page that leads to the others: how many of each paper's claims hold."""
    counts = {}
    for name, paper in PAPERS.items():
        found = [claim.check(results) for claim in paper.CLAIMS]
        words = [verdict.word.strip("*") if verdict else "not run" for verdict in found]
        kinds = ("holds", "partly", "does not hold", "not run")
        counts[f"[{paper.TITLE}]({name}.md)"] = {kind: words.count(kind) for kind in kinds}
    table = pd.DataFrame(counts).T
    table.index.name = "what the paper says"
    parts = [OVERVIEW, markdown(table)]
    groups = comparable([e for paper in PAPERS.values() for e in paper.EXPERIMENTS] + ONE_PER_CENT)
    tables = {title: comparison(group, results) for title, group in groups.items()}
    parts += [COMPARISON]
    for title, methods in tables.items():
        parts += [f"### {title}", "Not run." if methods is None else markdown(methods)]
    return "\n\n".join(parts) + "\n"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the tables")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages")
    args = parser.parse_args(argv)
    results = Results(args.results)
    args.docs.mkdir(parents=True, exist_ok=True)
    (args.docs / "README.md").write_text(overview(results), encoding="utf-8")
    for name, paper in PAPERS.items():
        (args.docs / f"{name}.md").write_text(page(name, paper, results, args.docs), encoding="utf-8")
        print(args.docs / f"{name}.md")


if __name__ == "__main__":
    main()
