"""sidecut inside other packages, and what people use there now.

    python -m benchmarks.quality.integrations [cells real_cells topics speakers records]

Needs scanpy, igraph, leidenalg, umap-learn, hdbscan and spectralcluster. Topics are read from `--data
FOLDER`, a folder with the sets `20news_18828_*.npz`. `--table` prints what is stored.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

from benchmarks import stored
from benchmarks.quality.integrations import cells, real_cells, records, speakers, topics

STORED = stored.RESULTS / "quality" / "integrations.json"
PACKAGES = {
    "cells": cells,
    "real_cells": real_cells,
    "topics": topics,
    "speakers": speakers,
    "records": records,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.integrations", description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(PACKAGES))
    parser.add_argument("--data", default=".", help="a folder with the sets of newsgroups")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="print what is stored, measure nothing")
    arguments = parser.parse_args()
    if not arguments.table:
        warnings.simplefilter("ignore")
        for name in arguments.packages:
            store(name, PACKAGES[name].measure(arguments.draws, Path(arguments.data)))
    for name, found in load().items():
        print_table(name, found["rows"])


def load() -> dict[str, Any]:
    return json.loads(STORED.read_text()) if STORED.exists() else {}


def store(name: str, rows: list[dict[str, Any]]) -> None:
    """Keep the rows of one integration; the others stay."""
    found = load()
    found[name] = {**stored.stamp(), "machine": stored.facts(), "rows": rows}
    lines = json.dumps(found, indent=1)
    STORED.write_text(lines + "\n")


def print_table(name: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{name}")
    for row in rows:
        print("  " + "  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
