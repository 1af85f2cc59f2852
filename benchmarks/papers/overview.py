"""What the labels of one per cent of the points buy, on six data sets: the figure of the README.

    python -m benchmarks.papers.overview --data FOLDER [--jobs 2] [--only digits usps] [--draw]

Everybody on the same k-NN graph with default settings, scored on the points whose labels were not given. What
is finished is not run again; `--draw` only draws, from the stored tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.figures import DOCS, STYLE, look
from benchmarks.papers.running import run
from benchmarks.papers.storing import RESULTS, Store
from benchmarks.papers.tables import Results
from sidecut.graphs import Neighbors

SETS = {"digits": 1797, "segment": 2310, "usps": 9298, "pendigits": 10992, "letter": 20000, "mnist": 70000}
#: Of these the grey values of pixels are used as they are; the measurements of the others differ in scale.
STANDARDISED = ("segment", "letter")
CONTENDERS = (
    Contender("NCuts", "NormalizedCut", uses_constraints=False),
    Contender("CSP", "CSP"),
    Contender("E2CP", "E2CP"),
)
EXPERIMENTS = [
    Experiment(
        f"overview-{name}",
        "overview",
        "overview",
        name,
        Neighbors(20),
        "labels",
        (round(n_samples / 100),),
        5,
        "acc",
        CONTENDERS,
        scaling="standard" if name in STANDARDISED else "none",
    )
    for name, n_samples in SETS.items()
]
LEGEND = {"NCuts": "no side information", "CSP": "CSP, 1 % labelled", "E2CP": "E2CP, 1 % labelled"}


def draw(results: Results, path: Path) -> None:
    """Draw accuracy with nothing known and with one per cent, for the data sets that have been run."""
    run_so_far = [e for e in EXPERIMENTS if results.table(e.name) is not None]
    with mpl.rc_context(STYLE):
        figure = Figure((6.4, 2.4), layout="constrained")
        ax = figure.subplots()
        for place, contender in enumerate(CONTENDERS):
            heights = [results.mean([e.name], contender.label, "acc") or 0.0 for e in run_so_far]
            places = [position + (place - 1) * 0.27 for position in range(len(heights))]
            bars = ax.bar(
                places, heights, 0.25, color=look(contender.label)[0], label=LEGEND[contender.label]
            )
            ax.bar_label(bars, [f"{height:.2f}" for height in heights], fontsize=6.5)
        ax.set_xticks(range(len(run_so_far)), [f"{e.data}\n{e.sizes[0]} labels" for e in run_so_far])
        ax.set_ylabel("accuracy on the rest")
        ax.set_ylim(0, 1.05)
        figure.legend(loc="outside upper center", ncols=3)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of .npz files (default: SIDECUT_DATA)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--only", nargs="+", choices=tuple(SETS), default=tuple(SETS), help="data sets")
    parser.add_argument("--draw", action="store_true", help="draw what has been run, and run nothing")
    args = parser.parse_args(argv)
    for experiment in EXPERIMENTS:
        if experiment.data in args.only and not args.draw:
            run(experiment, Store(RESULTS), folder=args.data, n_jobs=args.jobs)
    # Scored where nothing was given away.
    draw(Results(RESULTS, free=True), DOCS.parents[1] / "images" / "overview.svg")


if __name__ == "__main__":
    main()
