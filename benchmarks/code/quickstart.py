"""Walk the path of docs/two-minutes.md: `python -m benchmarks.code.quickstart`.

A table of 1,000 scanned digits, 30 of which someone has named, is written to a folder; the commands of the
page are run there, and the page they write is photographed by a browser without a window. What was said, the
seconds and how many of the other 970 are right are stored beside this file; the picture is that of the page.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

import sidecut
from benchmarks import stored

STORED = stored.RESULTS / "code" / "quickstart.json"
PICTURES = Path(__file__).parents[2] / "docs" / "images"
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
COMMANDS = (
    "sidecut check known.csv --data scans.csv --id-column scan",
    "sidecut cluster scans.csv --id-column scan --constraints known.csv --clusters 10 -o labels.csv",
)


def write_tables(folder: Path) -> pd.Series:
    """Write scans.csv and known.csv, and return what every scan really is."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).choice(len(y), 1_000, replace=False)
    columns = [f"pixel {row}{column}" for row in range(8) for column in range(8)]
    scans = pd.DataFrame(X[rows].astype(int), columns=columns)
    scans.insert(0, "scan", [f"scan {number:04d}" for number in range(1_000)])
    scans.to_csv(folder / "scans.csv", index=False)
    truth = pd.Series(NAMES[y[rows]], index=scans["scan"])
    known = truth.groupby(truth).head(3).sort_index()
    known.rename("label").reset_index().to_csv(folder / "known.csv", index=False)
    return truth


def run(command: str, folder: Path) -> dict[str, object]:
    """Run a command line as a person would, and return what it said."""
    words = [sys.executable, "-m", "sidecut", *shlex.split(command)[1:]]
    began = time.perf_counter()
    # The same code as here, though the folder is another one.
    code = {**os.environ, "PYTHONPATH": str(Path(sidecut.__file__).parents[1])}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True, env=code)
    seconds = round(time.perf_counter() - began, 1)
    return {"command": command, "said": done.stdout.splitlines(), "warned": done.stderr, "seconds": seconds}


def photograph(page: Path, picture: Path, browser: str, height: int) -> None:
    """Take a picture of a page."""
    settings = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    shot = [f"--window-size=1000,{height}", f"--screenshot={picture}", str(page)]
    subprocess.run([browser, *settings, *shot], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.code.quickstart", description=__doc__)
    parser.add_argument("--browser", default="chromium", help="Chromium or Chrome; '' takes no pictures")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = write_tables(folder)
        said = [run(command, folder) for command in COMMANDS]
        labels = pd.read_csv(folder / "labels.csv").set_index("scan")
        free = ~labels.index.isin(pd.read_csv(folder / "known.csv")["scan"])
        is_right = (labels["class"] == truth[labels.index])[free]
        least = labels["confidence"][free].rank(method="first") <= free.sum() / 10
        result = {
            **stored.stamp(),
            "right": round(float(is_right.mean()), 3),
            "right_of_the_least_sure_tenth": round(float(is_right[least].mean()), 3),
            "right_of_the_others": round(float(is_right[~least].mean()), 3),
            "commands": said,
        }
        if asked.browser:
            photograph(folder / "labels.html", PICTURES / "two-minutes-report.png", asked.browser, 1_500)
    STORED.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
