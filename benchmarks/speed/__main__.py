"""Run the speed suite: every script in turn, one table, one picture, the page, and lines for the history.

    python -m benchmarks.speed [--only csp ...] [--quick] [--data FOLDER] [--stored]

`--quick` ends in minutes, needs no data, and writes apart from the stored results. `--stored` runs nothing
but makes the table, the picture and the page from the results that are there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from benchmarks.speed import growth, history, page, suite
from benchmarks.stored import commit, facts


def run(scripts: list[suite.Script], quick: bool, data: Path | None) -> pd.DataFrame:
    """Run scripts, and return their results."""
    tables = []
    for script in scripts:
        print(f"{script.name}:", flush=True)
        tables.append(suite.run(script, quick, data))
    return pd.concat(tables, ignore_index=True)


def show(table: pd.DataFrame, folder: Path, picture: Path, conditions: str) -> None:
    """Print the table, and draw the picture where there are times to draw."""
    text = table.to_string(index=False, na_rep="", float_format="{:.4g}".format)
    scaling = folder / "scaling.csv"
    if scaling.exists():
        growth.draw(growth.on_one_sort(pd.read_csv(scaling)), conditions, picture)
    print(f"\n{conditions}\n\n{text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="which scripts; all by default")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, results apart from the stored ones"
    )
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz")
    parser.add_argument("--stored", action="store_true", help="run nothing, use the stored results")
    args = parser.parse_args()
    folder, picture, past = suite.RESULTS, growth.PICTURE, history.HISTORY
    if args.quick:
        folder = suite.QUICK_RESULTS
        picture, past = folder / "growth.svg", folder / "history.csv"
    if not args.stored:
        # Asked before the run, which changes the stored results.
        measured = commit()
        (folder / "machine.txt").write_text(facts() + "\n")
        history.append(run(suite.chosen(args.only), args.quick, args.data), measured, past)
    show(suite.collected(folder), folder, picture, facts())
    if not args.quick:
        page.main()


if __name__ == "__main__":
    main()
