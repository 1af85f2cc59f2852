"""What correct knowledge costs: the contract test_knowledge_never_harms.py of tests, on other draws.

    python -m benchmarks.choices.harm [--first 1] [--draws 2] [--only CSAP CCSR]

Nine sets, thirteen kinds of constraints, few and many. The loss of a fit is the adjusted Rand index of the
method without constraints less that with them, on unlabelled points with labels and on all points with pairs.
Draw 0 is that of the test, some of whose cells were seen while rules were set; the table is of later draws.
"""

from __future__ import annotations

import argparse
import runpy
import warnings
from pathlib import Path

import numpy as np

from benchmarks import stored
from sidecut.exceptions import SidecutWarning

RESULTS = stored.RESULTS / "choices" / "harm.csv"
CONTRACT = Path(__file__).parents[2] / "tests" / "contracts" / "test_knowledge_never_harms.py"


def main() -> None:
    """Run methods, and store a row for each."""
    law = runpy.run_path(str(CONTRACT))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=law["SAFE"], default=list(law["SAFE"]))
    args = parser.parse_args()
    for name in args.only:
        with warnings.catch_warnings(action="ignore", category=SidecutWarning):
            found = dict(law["losses"](name, draws=range(args.first, args.first + args.draws)))
        every, worst = np.array(list(found.values())), max(found, key=found.__getitem__)
        row = {"method": name, "fits": every.size, "mean loss": every.mean(), "large": np.mean(every > 0.05)}
        stored.merge([row | {"worst": found[worst], "where": worst.rpartition(",")[0]}], RESULTS, ["method"])


if __name__ == "__main__":
    main()
