"""Start-up: what importing sidecut and its command line add to the import of scikit-learn's cluster module.

    python -m benchmarks.speed.startup [--repeats 5]

Processor time of new processes, in turns, medians. Bytecode is there, as it is after an installation: a first
round that is not counted writes it, whatever PYTHONDONTWRITEBYTECODE says.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np

from benchmarks import stored

RESULTS = stored.RESULTS / "speed"
BASE = "import sklearn.cluster"
STARTS = {
    BASE: ["-c", BASE],
    "import sidecut": ["-c", "import sidecut"],
    "from sidecut import CSP": ["-c", "from sidecut import CSP"],
    "sidecut --help": ["-m", "sidecut", "--help"],
}


def children() -> float:
    """Return the processor time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start(arguments: list[str], bytecode: str) -> float:
    """Return the processor time of one new Python process that keeps its bytecode in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    before = children()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True, env=environment)
    return children() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as bytecode:
        rounds = [[start(words, bytecode) for words in STARTS.values()] for _ in range(args.repeats + 1)]
    rounds = rounds[1:]
    taken = dict(zip(STARTS, np.median(rounds, axis=0), strict=True))
    rows = [{"start": name, "sidecut": spent, "more": spent - taken[BASE]} for name, spent in taken.items()]
    print(rows)
    stored.merge(rows, RESULTS / "startup.csv", ["start"])


if __name__ == "__main__":
    main()
