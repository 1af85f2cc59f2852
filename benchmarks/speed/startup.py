"""Start-up: what importing sidecut and its command line add to the import of scikit-learn's cluster module.

    python -m benchmarks.speed.startup [--repeats 5]

Processor time of new processes, in turns, medians.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.speed import stored

RESULTS = Path(__file__).parent / "results"
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


def start(arguments: list[str]) -> float:
    """Return the processor time of one new Python process."""
    before = children()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return children() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    rounds = [[start(arguments) for arguments in STARTS.values()] for _ in range(args.repeats)]
    taken = dict(zip(STARTS, np.median(rounds, axis=0), strict=True))
    rows = [{"start": name, "sidecut": spent, "more": spent - taken[BASE]} for name, spent in taken.items()]
    print(rows)
    stored.write(RESULTS / "startup", rows, ["start"])


if __name__ == "__main__":
    main()
