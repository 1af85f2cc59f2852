"""The faults of an audit, by the tests that name them: the code of another checkout beside today's.

    git worktree add --detach OTHER d52370a
    python -m benchmarks.choices.faults OTHER

The faults were found in commit d52370a. Every test of `tests/contracts/test_right_by_default.py` runs with
`OTHER/src` and with `src` of this checkout, and records the figure it is about. The table of
docs/lab/defaults.md is written by `python -m benchmarks.choices.defaults --table`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from benchmarks import stored

RESULTS = stored.RESULTS / "choices" / "faults.csv"
ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "contracts" / "test_right_by_default.py"
#: What was wrong, and the tests of it, in the order of the audit.
FAULTS = {
    "Links of one kind were not followed": ["cannot_links_alone_are_followed"],
    "`PoissonLearning` was worse with every pair": ["poisson_learning_gains_with_pairs"],
    "`CSAP` kept too few affinities": ["csap_keeps_the_affinities_that_its_labels_need"],
    "`SCACS` asked next to nothing of pairs": ["scacs_takes_pairs_seriously"],
    "E2CP's grouped graph joined pieces": ["e2cp_in_groups_has_the_components_of_eq_4"],
    "The guard of `SCACS` dropped ample labels": ["the_guard_of_scacs_lets_ample_labels_through"],
    "`CSP` took a smaller β after a rough look": [
        "csp_looks_at_exact_cuts_before_it_takes_a_smaller_beta",
    ],
    "Labels depended on `n_jobs`, edges on the order of points": [
        "labels_do_not_depend_on_the_number_of_threads",
        "no_neighbor_depends_on_the_order_of_the_points",
    ],
    "E2CP's measured error was not used": ["e2cp_is_accurate_up_to_eight_thousand_points"],
    "`SCACS` in two clusters: no confidence, one cluster": [
        "scacs_is_not_sure_of_every_point_of_two_clusters",
        "scacs_finds_two_clusters_from_labels_of_one_class",
    ],
    "Certificates looked at the wrong eigenvalue": [
        "a_certificate_speaks_of_the_tie_behind_the_last_wanted_value",
    ],
    "The number of clusters from pairs": [
        "more_clusters_are_tried_while_ample_pairs_agree_better",
        "cannot_links_alone_do_not_make_two_clusters",
        "cannot_links_alone_do_not_make_many_clusters",
    ],
    "`CSP` refused graphs with a faint bridge": ["csp_answers_on_a_graph_with_a_faint_bridge"],
    "Results followed parameters that were set later": ["results_belong_to_the_parameters_of_the_fit"],
    "`SpectralLearning` weakened must-links": ["a_must_link_is_not_weaker_than_the_edges"],
    "Poisson's equation diverged; sizes were taken for shares": [
        "poisson_learning_does_not_diverge_where_parts_nearly_fall_apart",
        "three_sizes_of_one_point_are_sizes",
    ],
}


def run(source: Path) -> dict[str, dict[str, str]]:
    """Run the tests with the package in a folder; return figure, value and outcome of each."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "--noconftest", "-c", os.devnull, "-p", "no:cacheprovider"]
        subprocess.run(
            [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", str(TESTS)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
        )
        cases = ElementTree.parse(report).getroot().iter("testcase")
        return {case.attrib["name"].removeprefix("test_"): outcome(case) for case in cases}


def outcome(case: ElementTree.Element) -> dict[str, str]:
    """Return what a test recorded, or the error that came before, and whether it passed."""
    recorded, failure = case.find("properties/property"), case.find("failure")
    found = {"outcome": "passes" if failure is None else "fails"}
    if recorded is not None:
        return found | {"figure": recorded.attrib["name"], "value": recorded.attrib["value"]}
    message = "" if failure is None else failure.attrib["message"]
    return found | {"figure": "", "value": message.partition(":")[0].rpartition(".")[2]}


def compare(other: Path) -> list[dict[str, Any]]:
    """Return a row for every test."""
    numbers = {test: at for at, tests in enumerate(FAULTS.values(), 1) for test in tests}
    before, now = run(other / "src"), run(ROOT / "src")
    rows: list[dict[str, Any]] = []
    for test, found in now.items():
        row = {"fault": numbers[test.partition("[")[0]], "test": test, "figure": found["figure"]}
        for name, version in (("before", before[test]), ("now", found)):
            row |= {name: version["value"], f"{name} it": version["outcome"]}
        rows.append(row)
    return rows


def table(rows: pd.DataFrame) -> str:
    """Return a row for every test: the figure of each version, and whether the test passes."""
    head = "| fault | figure | `d52370a` | today | test | measured |"
    lines, names = [head, "|---" * (head.count("|") - 1) + "|"], list(FAULTS)
    for _, row in rows.iterrows():
        values = [f"{shown(row[at])}, {row[f'{at} it']}" for at in ("before", "now")]
        cells = [f"{row['fault']}. {names[row['fault'] - 1]}", row["figure"], *values]
        lines.append("| " + " | ".join([*cells, f"`{row['test']}`", stored.measured(row)]) + " |")
    return "\n".join(lines)


def shown(value: str) -> str:
    """Return a number with as many digits as the table needs, anything else as it is.

    Examples
    --------
    >>> shown("0.46605"), shown("9"), shown("18400.2"), shown("0.0"), shown("SpectralError")
    ('.466', '9', '1.8e+04', '0', '`SpectralError`')
    """
    try:
        number = float(value)
    except ValueError:
        return f"`{value}`" if value.endswith("Error") else value
    if number == int(number):
        return str(int(number))
    return f"{number:.3f}".replace("0.", ".", 1) if 1e-3 <= abs(number) < 100 else f"{number:.1e}"


def main() -> None:
    """Run the tests with both, and store a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    args = parser.parse_args()
    stored.save(pd.DataFrame(compare(args.other)).sort_values("fault", kind="stable"), RESULTS)


if __name__ == "__main__":
    main()
