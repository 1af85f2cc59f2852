"""Measure everything again, and write the pages.

    python -m benchmarks.evidence --data FOLDER [--only scaling selection] [--quick]
    python -m benchmarks.evidence --pages

Experiments about time run alone, then the others two at a time, a process each. What each has run through,
how long it took and on which commit is kept in benchmarks/results/evidence.json, so that pages can say which
of their tables are older than the code. What a step prints goes to .evidence/NAME.log. `--quick` takes
minutes and needs no data; its results and pages are in .evidence/quick. `--pages` runs nothing, and says on
the pages what is older than the code.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks import page_tables, stored
from benchmarks.evidence import records
from benchmarks.evidence.experiments import EXPERIMENTS, Experiment, chosen
from benchmarks.evidence.fingerprint import ROOT

KEPT = ROOT / ".evidence"
#: What writes the tables of a page from stored results; it measures nothing.
TABLES = {
    "lab/speed.md": "speed.page",
    "lab/blocks.md": "speed.blocks_page",
    "lab/selection.md": "quality.selection.table",
    "lab/few-labels.md": "quality.few_labels.table",
    "lab/asking.md": "quality.active --table",
    "lab/parts.md": "quality.parts --table",
    "lab/points-and-graph.md": "quality.points_and_graph --table",
    "lab/guard.md": "choices.guard --table",
    "lab/defaults.md": "choices.defaults --table",
    "lab/peers.md": "quality.peers.table",
}


class Runner:
    """Runs experiments, with results and pages in their places or, if quick, in a folder of their own."""

    def __init__(self, data: Path | None, quick: bool) -> None:
        self.data, self.quick = data, quick
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": search_path()}
        self.results = stored.RESULTS
        KEPT.mkdir(exist_ok=True)
        if quick:
            self.results = KEPT / "quick" / "results"
            shutil.rmtree(KEPT / "quick", ignore_errors=True)
            shutil.copytree(stored.RESULTS, self.results, ignore=shutil.ignore_patterns("raw"))
            shutil.copytree(
                page_tables.DOCS, KEPT / "quick" / "docs", ignore=shutil.ignore_patterns("_build", "gallery")
            )
            self.environment |= {
                "SIDECUT_RESULTS": str(self.results),
                "SIDECUT_DOCS": str(KEPT / "quick" / "docs"),
            }

    def steps_of(self, experiment: Experiment) -> tuple[str, ...]:
        """Return the commands of an experiment; none where it needs data that are not there."""
        steps = experiment.quick if self.quick else experiment.steps
        if self.data is None and any("DATA" in step for step in steps):
            return ()
        return tuple(step.replace("DATA", shlex.quote(str(self.data))) for step in steps)

    def run(self, experiment: Experiment) -> str:
        """Run an experiment, keep what it ran through, and return how it went."""
        steps = self.steps_of(experiment)
        if not steps:
            return "left out: it needs data from elsewhere" if not self.quick else "left out: it is not quick"
        commit, start = stored.commit(), time.perf_counter()
        old = [self.results / name for name in experiment.forget if (self.results / name).exists()]
        for path in old:
            path.rename(f"{path}.before")
        with tempfile.TemporaryDirectory() as folder:
            environment = self.environment | {"EVIDENCE_MODULES": folder}
            with (KEPT / f"{experiment.name}.log").open("w") as log:
                codes = [call(step, environment, log) for step in steps]
            modules = {name for path in Path(folder).iterdir() for name in path.read_text().split()}
        seconds = time.perf_counter() - start
        for path in old:
            before = Path(f"{path}.before")
            before.unlink() if not any(codes) and path.exists() else before.replace(path)
        if any(codes):
            return f"failed after {seconds:.0f} s: see {KEPT.name}/{experiment.name}.log"
        modules |= {f"benchmarks.{step.split()[0]}" for step in steps}
        if not self.quick:
            records.keep(experiment, modules, seconds, commit)
        return f"{seconds:.0f} s"

    def write_pages(self) -> None:
        """Write the tables of all pages, and which of them are older than the code."""
        for step in TABLES.values():
            call(step, self.environment, None)
        call("evidence --pages", self.environment, None)


def search_path() -> str:
    """Return where Python looks for sidecut and the measurements: in this checkout."""
    return os.pathsep.join([str(ROOT / "src"), str(ROOT)])


def call(step: str, environment: dict[str, str], log: object) -> int:
    """Run a module below `benchmarks` with its arguments."""
    command = [sys.executable, "-m", *shlex.split(f"benchmarks.{step}")]
    return subprocess.run(command, env=environment, cwd=ROOT, stdout=log, stderr=log).returncode  # type: ignore[call-overload]


def main() -> int:
    """Run what is asked for, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of .npz files; without it, what needs none")
    parser.add_argument("--only", nargs="+", default=[], help="names of experiments")
    parser.add_argument("--quick", action="store_true", help="small sizes, results and pages apart")
    parser.add_argument("--pages", action="store_true", help="run nothing, write what is older than the code")
    parser.add_argument("--list", action="store_true", help="name the experiments")
    options = parser.parse_args()
    if options.list:
        for one in EXPERIMENTS:
            print(f"{one.name:20} {one.page:24} {one.question}")
        return 0
    if options.pages:
        records.write_pages()
        return 0
    data = options.data.resolve() if options.data else None
    runner, start, failed = Runner(data, options.quick), time.perf_counter(), 0
    asked = chosen(options.only)
    (runner.results / "speed" / "machine.txt").write_text(stored.facts() + "\n")
    for are_timed, n_workers in ((True, 1), (False, 2)):
        several = [one for one in asked if one.is_timed == are_timed]
        with ThreadPoolExecutor(n_workers) as pool:
            for one, said in zip(several, pool.map(runner.run, several), strict=True):
                print(f"{one.name}: {one.question} {said}", flush=True)
                failed += said.startswith("failed")
    runner.write_pages()
    print(f"{(time.perf_counter() - start) / 3600:.2f} hours on {stored.commit()}; {stored.facts()}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
