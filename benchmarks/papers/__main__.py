"""Run the experiments of the five papers.

    python -m benchmarks.papers --data FOLDER [--only csp-fig9 ncsc] [--quick] [--jobs 2]

Finished cells are kept in benchmarks/results/papers/raw and not run again; summaries are written beside.
`python -m benchmarks.papers.report` then redraws the figures and writes the pages in docs/lab/papers; with
`--quick`, tables and pages of quick runs, in benchmarks/results/papers/raw/quick.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

# Processes, not threads, share the machine; read before numpy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.papers.catalogue import experiments
from benchmarks.papers.cells import points
from benchmarks.papers.experiment import Protocol
from benchmarks.papers.running import run, tell
from benchmarks.papers.storing import QUICK_RESULTS, RESULTS, Store


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of ``python -m benchmarks.papers``."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, help="folder of .npz files (default: SIDECUT_DATA)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="experiments whose names begin so")
    parser.add_argument("--list", action="store_true", help="list the experiments and do nothing")
    parser.add_argument("--quick", action="store_true", help="three draws, three sizes")
    parser.add_argument("--draws", type=int, help="number of draws (default: the paper's)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes (default: 1)")
    parser.add_argument(
        "--methods", nargs="+", metavar="LABEL", help="run these again; stored rows of all others stay"
    )
    parser.add_argument("--retry", action="store_true", help="run methods again that failed before")
    parser.add_argument("--summarise", action="store_true", help="write summaries again and run nothing")
    parser.add_argument(
        "--results",
        type=Path,
        help="folder of results (default: that of the stored ones; of --quick, its own)",
    )
    honest = parser.add_argument_group("protocols the papers lack")
    honest.add_argument(
        "--pairs", choices=("paper", "random"), default="paper", help="random: uniformly from all pairs"
    )
    honest.add_argument("--noise", type=float, default=0.0, help="share of pairs that are wrong")
    honest.add_argument(
        "--choose",
        choices=("labels", "held-out"),
        default="labels",
        help="tune by the true labels, as the papers do, or by held-out constraints",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    protocol = Protocol(args.pairs, args.noise, args.choose)
    try:
        chosen = experiments(args.only)
    except ValueError as error:
        parser.error(str(error))
    if args.list:
        print("\n".join(f"{e.name:28} {e.draws:4} draws x {len(e.sizes):2} sizes  {e.data}" for e in chosen))
        return 0
    store, skipped = Store(args.results or (QUICK_RESULTS if args.quick else RESULTS)), []
    for experiment in chosen:
        setting = experiment.under(protocol).shortened(args.draws, quick=args.quick)
        methods = args.methods and [c.label for c in setting.contenders if c.label in args.methods]
        if methods == []:
            continue
        if args.summarise and not store.raw_path(setting.name).exists():
            continue
        if args.summarise:
            checksum = points(setting.data, 0, setting.scaling, args.data).checksum
            store.summarise(setting, checksum, methods)
        elif not run(setting, store, methods=methods, folder=args.data, n_jobs=args.jobs, retry=args.retry):
            skipped.append(experiment.name)
    if skipped:
        tell(f"left out for want of data: {', '.join(skipped)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
