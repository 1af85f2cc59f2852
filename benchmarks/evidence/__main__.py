"""Measure everything again, and write the pages.

    python -m benchmarks.evidence --data FOLDER [--only scaling selection] [--quick] [--hours 1.2]
    python -m benchmarks.evidence --pages

Experiments about time run alone, then the others two at a time, a process each. What each has run through,
how long it took and on which commit is kept in benchmarks/results/evidence.json, so that pages can say which
of their tables are older than the code. What a step prints goes to .evidence/NAME.log, and how the whole went
to .evidence/run.log. An experiment that fails, or takes three times the minutes it should, is stopped, and
its stored rows stay as they were; `--hours` ends all of it. All rows of a run have the commit that it began
on. `--quick` takes minutes and needs no data; its results and pages are in .evidence/quick. `--pages` runs
nothing, and says on the pages what is older than the code.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
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
    "lab/lasting.md": "quality.lasting",
    "lab/layers.md": "quality.layers.table",
    "lab/diagnostics.md": "quality.diagnostics.beside --table",
    "lab/asking.md": "quality.active --table",
    "lab/parts.md": "quality.parts --table",
    "lab/points-and-graph.md": "quality.points_and_graph --table",
    "lab/guard.md": "choices.guard --table",
    "lab/defaults.md": "choices.defaults --table",
    "lab/peers.md": "quality.peers.table",
}


#: How many times the minutes it should take an experiment may take.
PATIENCE = 3
#: Two experiments that end together must not write the records together.
KEEPING = threading.Lock()


class Runner:
    """Runs experiments, with results and pages in their places or, if quick, in a folder of their own."""

    def __init__(self, data: Path | None, quick: bool, hours: float) -> None:
        self.data, self.quick = data, quick
        self.start, self.end = time.perf_counter(), time.perf_counter() + 3600 * hours
        self.commit = stored.commit()
        self.failed: list[str] = []
        self.environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": search_path(),
            "SIDECUT_COMMIT": self.commit,
        }
        self.results = stored.RESULTS
        KEPT.mkdir(exist_ok=True)
        (KEPT / "run.log").unlink(missing_ok=True)
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

    def say(self, text: str) -> None:
        """Print a line, and write it with the time of day to the log of the run."""
        print(text, flush=True)
        with (KEPT / "run.log").open("a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {text}\n")

    def steps_of(self, experiment: Experiment) -> tuple[str, ...]:
        """Return the commands of an experiment; none where it needs data that are not there."""
        steps = experiment.quick if self.quick else experiment.steps
        if self.data is None and any("DATA" in step for step in steps):
            return ()
        return tuple(step.replace("DATA", shlex.quote(str(self.data))) for step in steps)

    def run(self, experiment: Experiment) -> None:
        """Run an experiment, and keep what it ran through."""
        try:
            said = self.attempt(experiment)
        except Exception as error:  # one fault must not end all the others
            said = f"failed: {type(error).__name__}: {error}"
        self.say(f"{experiment.name}: {experiment.question} {said}")
        if not said[0].isdigit():
            self.failed.append(experiment.name)

    def attempt(self, experiment: Experiment) -> str:
        """Run an experiment, and return how it went."""
        steps = self.steps_of(experiment)
        if not steps:
            return "left out: it needs data from elsewhere" if not self.quick else "left out: it is not quick"
        start = time.perf_counter()
        end = self.end if self.quick else min(self.end, start + PATIENCE * 60 * experiment.minutes)
        old = {self.results / name: columns for name, columns in experiment.forgotten().items()}
        old = {path: columns for path, columns in old.items() if path.exists()}
        for path in old:
            path.replace(f"{path}.before")
        failed = ""
        with tempfile.TemporaryDirectory() as folder:
            environment = self.environment | {"EVIDENCE_MODULES": folder}
            with (KEPT / f"{experiment.name}.log").open("w") as log:
                for step in steps:
                    failed = failed or call(step, environment, log, end - time.perf_counter())
            modules = {name for path in Path(folder).iterdir() for name in path.read_text().split()}
        seconds = time.perf_counter() - start
        for path, columns in old.items():
            before = Path(f"{path}.before")
            if failed or not path.exists():
                before.replace(path)
            else:
                stored.keep_others(before, path, columns)
                before.unlink()
        if failed:
            return f"failed after {seconds:.0f} s: {failed}; see {KEPT.name}/{experiment.name}.log"
        modules |= {f"benchmarks.{step.split()[0]}" for step in steps}
        if not self.quick:
            with KEEPING:
                records.keep(experiment, modules, seconds, self.commit)
        return f"{seconds:.0f} s"

    def write_pages(self) -> bool:
        """Write all pages, and which tables are older than the code; return whether that went well."""
        written = True
        for step in (*TABLES.values(), "evidence --pages"):
            with (KEPT / "pages.log").open("a") as log:
                failed = call(step, self.environment, log, 300.0)
            if failed:
                self.say(f"the page of benchmarks.{step} could not be written: {failed}")
                written = False
        return written


def search_path() -> str:
    """Return where Python looks for sidecut and the measurements: in this checkout."""
    return os.pathsep.join([str(ROOT / "src"), str(ROOT)])


def command_of(step: str) -> list[str]:
    """Return the command that runs a module below `benchmarks` with its arguments."""
    return [sys.executable, "-m", *shlex.split(f"benchmarks.{step}")]


def call(step: str, environment: dict[str, str], log: object, seconds: float) -> str:
    """Run a module below `benchmarks` with its arguments; return what was wrong, if anything was."""
    if seconds <= 0:
        return "the time was over"
    # A group of its own, so that its workers are stopped with it.
    process = subprocess.Popen(
        command_of(step), env=environment, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
    )  # type: ignore[call-overload]
    try:
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"{step.split()[0]} was stopped after {seconds:.0f} s"
    return f"{step.split()[0]} ended with {code}" if code else ""


def main() -> int:
    """Run what is asked for, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of .npz files; without it, what needs none")
    parser.add_argument("--only", nargs="+", default=[], help="names of experiments")
    parser.add_argument("--quick", action="store_true", help="small sizes, results and pages apart")
    parser.add_argument("--hours", type=float, default=3.0, help="after which what still runs is stopped")
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
    runner, asked = Runner(data, options.quick, options.hours), chosen(options.only)
    runner.say(f"begun on {runner.commit}: {len(asked)} experiments; {stored.facts()}")
    (runner.results / "speed" / "machine.txt").write_text(stored.facts() + "\n")
    for are_timed, n_workers in ((True, 1), (False, 2)):
        several = [one for one in asked if one.is_timed == are_timed]
        with ThreadPoolExecutor(n_workers) as pool:
            list(pool.map(runner.run, several))
    hours = (time.perf_counter() - runner.start) / 3600
    if not options.only and not options.quick:
        records.keep_run(runner.commit, hours, runner.failed)
    are_written = runner.write_pages()
    runner.say(f"{hours:.2f} hours on {runner.commit}; failed: {', '.join(runner.failed) or 'none'}")
    return int(not are_written or (bool(runner.failed) and not options.quick))


if __name__ == "__main__":
    sys.exit(main())
