"""Run the speed suite: every script in turn, one table, one picture, and a line each in the history.

    python -m benchmarks.speed [--only csp ...] [--quick] [--data FOLDER] [--stored]

`--quick` ends in minutes, needs no data, and writes apart from the stored results. `--stored` runs nothing
but makes the table and the picture from the results that are there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from benchmarks.machine import facts
from benchmarks.speed import growth, history, suite


def results(scripts: list[suite.Script], args: argparse.Namespace) -> pd.DataFrame:
    """Return the results of all scripts, run or stored; a script that is missing is named."""
    tables = []
    for script in scripts:
        path = suite.RESULTS / f"{script.name}.csv"
        if not (path.exists() if args.stored else script.exists):
            print(
                f"{script.name}: {'no stored results' if args.stored else 'no such script yet'}", flush=True
            )
        elif args.stored:
            tables.append(suite.tidy(script.name, pd.read_csv(path)))
        else:
            print(f"{script.name}:", flush=True)
            tables.append(suite.run(script, args.quick, args.data))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=suite.COLUMNS)


def write(table: pd.DataFrame, folder: Path, picture: Path, conditions: str) -> None:
    """Write the table as csv and as text, and draw the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "suite.csv", index=False, float_format="%.4g")
    text = table.to_string(index=False, na_rep="", float_format="{:.4g}".format)
    (folder / "suite.txt").write_text(f"{conditions}\n\n{text}\n")
    growth.draw(table, conditions, picture)
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
    table = results(suite.chosen(args.only), args)
    if table.empty:
        parser.exit(1, "nothing was measured.\n")
    folder = suite.QUICK_RESULTS if args.quick else suite.RESULTS
    write(table, folder, folder / "growth.svg" if args.quick else growth.PICTURE, facts())
    if not args.stored:
        history.append(table, folder / "history.csv" if args.quick else history.HISTORY)


if __name__ == "__main__":
    main()
