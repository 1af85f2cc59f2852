"""Random command lines over made-up files: ``python -m benchmarks.code.fuzz``."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from benchmarks import stored
from benchmarks.code.fuzz.command_lines import CommandLine, command_lines
from sidecut.cli import main as run_command

RESULT = stored.RESULTS / "code" / "fuzz_command_lines.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many command lines for each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--output", type=Path, default=RESULT)
    asked = parser.parse_args()
    codes: Counter[str] = Counter()
    faults: list[dict] = []
    different: set[tuple] = set()
    asked_on = stored.stamp()
    for done, number in enumerate(asked.seeds, 1):
        try_many(number, asked.count, codes, faults, different)
        result = {
            **asked_on,
            "count": sum(codes.values()),
            "different": len(different),
            "seeds": asked.seeds[:done],
            "exit_codes": dict(sorted(codes.items())),
            "faults": faults,
        }
        asked.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


def try_many(number: int, count: int, codes: Counter[str], faults: list[dict], different: set[tuple]) -> None:
    """Run the command lines of one seed, and note how each ended."""

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def try_one(data: st.DataObject) -> None:
        line = data.draw(command_lines())
        different.add((line.words, *line.files.values()))
        code, fault = judge(line)
        codes[str(code)] += 1
        if fault:
            words = [str(word) for word in line.words]
            faults.append({"seed": number, "words": words, "code": code, "fault": fault})

    try_one()


def judge(line: CommandLine) -> tuple[int, str]:
    """Run a command line in a folder of its own; return its exit code and what is wrong with it."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            line.write_files(Path(folder))
            inputs = {name: (Path(folder) / name).read_bytes() for name in line.files}
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run_command([str(word) for word in line.words])
            changed = [name for name, held in inputs.items() if (Path(folder) / name).read_bytes() != held]
            return code, find_fault(line, code, out.getvalue(), err.getvalue(), changed)
        except SystemExit as left:
            return int(left.code or 0), ""
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return -1, f"{type(error).__name__} came through: {error}"
        finally:
            os.chdir(before)


def find_fault(line: CommandLine, code: int, out: str, err: str, changed: list[str]) -> str:
    """Say what no command line may do: end in surprise, change an input, or label what is not there."""
    if "Traceback" in err or "this is unexpected" in err:
        return err.strip()[-400:]
    if changed:
        return f"changed its input {changed[0]}"
    if code == 0 and line.words[0] == "cluster":
        return find_wrong_labels(Path("out.csv"), line.n_points)
    if code == 2 and "error: " not in err and not out:
        return "refused without a word"
    return ""


def find_wrong_labels(path: Path, n_points: int | None) -> str:
    if not path.exists():
        return "wrote no labels"
    rows = path.read_text(encoding="utf-8").splitlines()[1:]
    if n_points is not None and len(rows) != n_points:
        return f"wrote {len(rows)} labels for {n_points} points"
    place = path.read_text(encoding="utf-8").splitlines()[0].split(",").index("label")
    if any(not row.split(",")[place].isdigit() for row in rows if '"' not in row):
        return "wrote labels that are no numbers"
    return ""


if __name__ == "__main__":
    main()
