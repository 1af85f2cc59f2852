"""Redraw the figures and write a page of results per paper, all from the stored tables.

python -m benchmarks.papers.report [--results FOLDER] [--docs FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from benchmarks.papers.catalogue import PAPERS, Paper
from benchmarks.papers.comparison import comparable, comparison
from benchmarks.papers.experiment import Experiment, Protocol
from benchmarks.papers.figures import DOCS, WORDS, draw_figure, has_band, numbers_of
from benchmarks.papers.overview import EXPERIMENTS as ONE_PER_CENT
from benchmarks.papers.storing import QUICK_RESULTS, RESULTS
from benchmarks.papers.tables import Extra, Results
from benchmarks.papers.verdicts import tally, verdict_table
from benchmarks.stored import when

INTRODUCTION = """\
Written by `python -m benchmarks.papers.report` from the tables in `benchmarks/results/papers`: every
verdict and the number beside it is computed from them. What the paper says is in our words, sentence
by sentence, beside the figure it is about. “(paper)” is a method as it is printed; the same name without is
our default, or a method the paper does not have. A method is best in a cell (a data set and a size) if no
rival is better by more than 0.005. A claim about time is “not run” where two methods were measured at
different commits. Some criteria were written before any results were there, others after
shortened runs."""
OVERVIEW = """\
# The papers' experiments, run again

Five papers, their experiments, the same protocol, all methods with the same constraints and on the same
graph, unless the paper gives a method its own; then each of their claims with a verdict and the number it
rests on.

    make papers DATA=folder                          # all of it: hours; what is finished is not run again
    make papers DATA=folder OPTIONS="--quick --jobs 4"   # in minutes; tables and pages apart from these
    make papers OPTIONS="--only csp-fig9-wine"        # one curve
    make papers OPTIONS=--list

DATA is a folder of `.npz` files with X and y; without it, what scikit-learn bundles is used and the rest is
fetched from openml.org where it can be had (`sidecut.datasets.load`). Results are kept cell by cell in
`benchmarks/results/papers/raw`, which is not versioned, and summed up in tidy tables beside it, each with the
configuration that made it; a table of more draws is never replaced by one of fewer. What the papers' protocol
lacks is a switch: `--pairs random` instead of pairs that were clustered wrongly, `--noise 0.1` for one pair
in ten wrong, `--choose held-out` to tune by constraints instead of by the true labels; scores on
unconstrained points are always kept beside those on all."""
ONE_PER_CENT_BUYS = """\
## What one per cent buys

![accuracy without labels and with the labels of one per cent, on six data sets](../../images/overview.svg)

The labels of 1 % of the points, five draws; a graph of 20 neighbours, default settings, accuracy on the
points whose labels were not given. To run it again: `python -m benchmarks.papers.overview --data FOLDER`"""
COMPARISON = """\
## All methods, over all experiments

With default settings (CSAP as published), against the unconstrained cut of the same graph: SCACS against LSC
on random landmarks, methods without a graph against the cut of the graph the others have. A cell is a data
set and a size; in those that failed no fit succeeded, and the gain on unconstrained points leaves out cells
that have none. It harms where the adjusted Rand index falls by more than 0.005. Methods took part in
different experiments: gains can be compared only where the numbers of cells agree."""
HONEST = """\
Means over all sizes. The first column is the paper's protocol; the second leaves out the constrained points.
(Where pairs are drawn from the mistakes of the unconstrained cut, what is left are points it got right, few
of them: that column then favours it.) The others are run with `--pairs random`, `--noise 0.1` and
`--choose held-out`, and shown where they were run."""
#: Numbers below this are no zeros that rounding has spoilt, and are told by their order of magnitude.
TINY = 1e-9
VARIANTS = {
    "random pairs": Protocol(pairs="random"),
    "10 % of the pairs wrong": Protocol(noise=0.1),
    "20 % of the pairs wrong": Protocol(noise=0.2),
    "parameters by held-out constraints": Protocol(choose="held-out"),
}


def markdown(table: pd.DataFrame, digits: int = 3) -> str:
    """Write a table as Markdown, the index first; missing numbers are left empty."""

    def cell(value: object) -> str:
        if not isinstance(value, float):
            return str(value)
        if pd.isna(value):
            return ""
        if abs(value) >= 1000:
            return f"{value:,.0f}"
        return f"{value:.1g}" if 0 < abs(value) < TINY else f"{value:.{digits}f}"

    heads = [str(table.index.name or ""), *map(str, table.columns)]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * len(table.columns)]
    for row in table.itertuples():
        lines.append("| " + " | ".join(map(cell, row)) + " |")
    return "\n".join(lines)


def scores(experiment: Experiment, results: Results) -> str:
    """Write the means of all methods at all sizes."""
    curves = {
        contender.label: results.curve(experiment.name, contender.label, experiment.metric)
        for contender in experiment.contenders
    }
    table = pd.DataFrame({label: curve for label, curve in curves.items() if curve is not None}).T
    table.columns = [f"{size:g}" for size in table.columns]
    free = Results(results.folder, free=True)
    last = table.columns[-1]
    spreads = {label: results.spread(experiment.name, label, experiment.metric) for label in table.index}
    table[f"deviation, at {last}"] = pd.Series(
        {label: float(spread["std"].iloc[-1]) for label, spread in spreads.items() if len(spread)}
    )
    for head, source, score in (("unconstrained points", free, experiment.metric), ("kept", results, "kept")):
        ends = {label: source.curve(experiment.name, label, score) for label in table.index}
        table[f"{head}, at {last}"] = pd.Series(
            {label: float(curve.iloc[-1]) for label, curve in ends.items()}
        )
    stored_rows = results.table(experiment.name)
    table["measured"] = [when(stored_rows[stored_rows.method == label]) for label in table.index]
    table.index.name = WORDS[experiment.metric]
    return markdown(table)


def run_facts(experiment: Experiment, results: Results) -> str:
    """Say how many draws there were and what failed."""
    table = results.table(experiment.name)
    draws = draws_of(table)
    failed = table[table.failures > 0].groupby("method").failures.sum()
    words = [f"Means of {draws} draws (the paper's protocol asks for {experiment.draws})."]
    if len(failed):
        counts = ", ".join(f"{method} {count}" for method, count in failed.items())
        words.append(f"Fits that failed and are left out: {counts}.")
    return " ".join(words)


def draws_of(table: pd.DataFrame) -> str:
    """Return how many draws a table has the means of.

    >>> draws_of(pd.DataFrame({"draws": [5, 5]})), draws_of(pd.DataFrame({"draws": [4, 5]}))
    ('5', '4 to 5')
    """
    fewest, most = int(table.draws.min()), int(table.draws.max())
    return f"{most}" if fewest == most else f"{fewest} to {most}"


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
                name = experiment.under(protocol).name
                summary = results.table(name)
                if summary is not None:
                    row[f"{words}, {draws_of(summary)} draws"] = results.mean([name], label, metric)
            rows[label] = row
        table = pd.DataFrame(rows).T.astype(float).dropna(axis=1, how="all")
        table.index.name = f"{experiment.name}, {WORDS[experiment.metric]}"
        blocks.append(markdown(table))
    return "\n\n".join(blocks)


def figures_of(paper: Paper) -> dict[str, list[Experiment]]:
    """Return the experiments by figure, "fig. 9n" being figure 9 on other graphs, then by table."""
    found: dict[str, list[Experiment]] = {key: [] for key in paper.extras}
    for experiment in paper.experiments:
        for number in numbers_of(experiment.figure):
            found.setdefault(f"fig. {number}", []).append(experiment)

    def place(key: str) -> tuple[bool, int, bool]:
        number = key.partition(" ")[2]
        return key.startswith("table"), int(number.rstrip("n")), number.endswith("n")

    return {key: found[key] for key in sorted(found, key=place)}


def heading(key: str) -> str:
    """Return the title of a section.

    >>> heading("fig. 9"), heading("fig. 9n"), heading("table 2")
    ('Figure 9', 'Figure 9 on graphs of neighbours', 'Table 2')
    """
    words = key.replace("fig.", "figure").capitalize()
    return f"{words[:-1]} on graphs of neighbours" if words.endswith("n") else words


def command(experiments: list[Experiment]) -> str:
    """Return what runs experiments whose names begin alike, and draws them anew."""
    first, last = (choose(e.name for e in experiments) for choose in (min, max))
    differ = (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return f'make papers DATA=FOLDER OPTIONS="--only {first[: next(differ, len(first))]}"'


def page(name: str, paper: Paper, results: Results, docs: Path) -> str:
    """Write a paper's page and draw its figures."""
    return "\n\n".join(_parts(name, paper, results, docs)) + "\n"


def _parts(name: str, paper: Paper, results: Results, docs: Path) -> Iterator[str]:
    yield f"# {paper.title}: its experiments, run again"
    yield INTRODUCTION
    yield contents(paper, results)
    for key in figures_of(paper):
        yield from _section(name, key, paper, results, docs)
    if paper.not_run:
        yield "## Said, but not run here"
        yield "\n".join(f"- {words}" for words in paper.not_run)
    run = [e for e in paper.experiments if results.table(e.name) is not None and e.sweep is None]
    if run:
        yield "## Under more honest protocols"
        yield HONEST
        yield protocols(run, results)


def contents(paper: Paper, results: Results) -> str:
    """Write how many claims hold, by figure."""
    counts = {}
    for key in figures_of(paper):
        claims = [claim for claim in paper.claims if claim.beside == key]
        if claims:
            counts[anchor(heading(key))] = tally(claims, results)
    table = pd.DataFrame(counts).T
    table.loc["all"] = table.sum()
    table.index.name = "what the paper says"
    return markdown(table)


def _section(name: str, key: str, paper: Paper, results: Results, docs: Path) -> Iterator[str]:
    """Write the figure, what is said about it, how to make it again, and its numbers."""
    yield f"## {heading(key)}"
    group = figures_of(paper)[key]
    run = [experiment for experiment in group if results.table(experiment.name) is not None]
    is_of_constraints = key.removesuffix("n") == "fig. 10" and name == "csp"
    if run:
        file = f"{name}-{key.replace('. ', '')}.svg"
        score = "kept" if is_of_constraints else run[0].metric
        draw_figure(run, results, docs / file, score)
        yield f"![{key}, redrawn]({file})"
        if has_band(run[0], score):
            yield "Means; the band spans all draws of the method as printed."
    claims = [claim for claim in paper.claims if claim.beside == key]
    if claims:
        yield verdict_table(claims, results)
    if key.endswith("n"):
        yield f"Judged, on both kinds of graph, beside {anchor(heading(key.removesuffix('n')))}."
    if group:
        yield f"To run it again: `{command(group)}`"
    missing = [experiment.name for experiment in group if experiment not in run]
    if missing:
        yield f"Not run yet: {', '.join(missing)}."
    if is_of_constraints:
        yield "The shares at the largest size are the last column of the tables above."
    else:
        yield from _panels(run, results)
    if key in paper.extras:
        yield from _extra(paper.extras[key], results)


def _extra(extra: Extra, results: Results) -> Iterator[str]:
    table = results.other(extra.file)
    yield f"### {extra.title[0].upper()}{extra.title[1:]}"
    yield f"To run it again: `{extra.command}`" + ("" if table is not None else " (not run yet)")
    if table is not None:
        yield markdown(table.drop(columns=["date", "commit"]).set_index(table.columns[0]))
        yield f"Measured on {when(table)}."


def _panels(group: list[Experiment], results: Results) -> Iterator[str]:
    """Write the tables; a note that all share comes first, what one adds to it with its table.

    A note that the panel before has, too, is not told again.
    """
    shared = min((experiment.note for experiment in group), key=len, default="")
    if not all(experiment.note.startswith(shared) for experiment in group):
        shared = ""
    if shared:
        yield shared
    told = ""
    for experiment in group:
        yield f"### {experiment.name}"
        own = experiment.note.removeprefix(shared)
        if not told.startswith(own):
            yield own.removeprefix(told).strip()
        told = own or told
        yield scores(experiment, results)
        yield run_facts(experiment, results)


def anchor(title: str) -> str:
    """Return the link to a heading on the same page.

    >>> anchor("Figure 9")
    '[figure 9](#figure-9)'
    """
    return f"[{title.lower()}](#{title.lower().replace(' ', '-')})"


def overview(results: Results) -> str:
    """Write the page that leads to the others: how many of each paper's claims hold."""
    counts = {}
    for name, paper in PAPERS.items():
        counts[f"[{paper.title}]({name}.md)"] = tally(paper.claims, results)
    table = pd.DataFrame(counts).T
    table.index.name = "what the paper says"
    parts = [OVERVIEW, markdown(table)]
    groups = comparable([e for paper in PAPERS.values() for e in paper.experiments] + ONE_PER_CENT)
    tables = {title: comparison(group, results) for title, group in groups.items()}
    parts += [ONE_PER_CENT_BUYS, COMPARISON]
    for title, methods in tables.items():
        parts += [f"### {title}", "Not run." if methods is None else markdown(methods)]
    return "\n\n".join(parts) + "\n"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, help="folder of the tables")
    parser.add_argument("--docs", type=Path, help="folder of the pages")
    parser.add_argument("--quick", action="store_true", help="tables and pages of quick runs")
    args = parser.parse_args(argv)
    results = Results(args.results or (QUICK_RESULTS if args.quick else RESULTS))
    docs = args.docs or (QUICK_RESULTS / "pages" if args.quick else DOCS)
    docs.mkdir(parents=True, exist_ok=True)
    before = {path: path.read_bytes() for path in docs.iterdir()}
    (docs / "index.md").write_text(overview(results), encoding="utf-8")
    for name, paper in PAPERS.items():
        (docs / f"{name}.md").write_text(page(name, paper, results, docs), encoding="utf-8")
    changed = [path for path in sorted(docs.iterdir()) if path.read_bytes() != before.get(path)]
    for path in changed:
        print(path)
    if not changed:
        print(f"The pages and pictures in {docs} are as they were.")


if __name__ == "__main__":
    main()
