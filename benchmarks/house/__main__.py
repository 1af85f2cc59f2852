"""Count the walk of one fit through the code: `python -m benchmarks.house`.

For each method, one fit on iris with ten labels is watched by `sys.setprofile`. Counted are the functions of
sidecut that ran, the files they are in, the hops (pairs of functions in different files of which one calls
the other) and how many of the hops lead into another room. `--store NAME` keeps the figures under that name
in walk.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_iris

import sidecut
from sidecut.constraints import sample_labels

HOUSE = Path(sidecut.__file__).parent
STORED = Path(__file__).with_name("walk.json")
METHODS = ("CSP", "E2CP", "SCACS", "NCSC", "CSAP")


def main() -> None:
    arguments = _read_arguments()
    figures = {"methods": {name: count_walk(name) for name in METHODS}, "package": count_package()}
    _print_table(figures)
    if arguments.store:
        stored = json.loads(STORED.read_text()) if STORED.exists() else {}
        stored[arguments.store] = figures
        STORED.write_text(json.dumps(stored, indent=1) + "\n")


def count_walk(name: str) -> dict[str, int]:
    """Return what one fit of a method touches."""
    X, y = load_iris(return_X_y=True)
    known = sample_labels(y, 10, random_state=0)
    model = getattr(sidecut, name)(n_clusters=3, random_state=0)
    functions: set[tuple[str, str]] = set()
    hops: set[tuple[tuple[str, str], tuple[str, str]]] = set()

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        callee = _function_in_house(frame) if event == "call" else None
        if callee is None:
            return
        functions.add(callee)
        caller = _caller_in_house(frame)
        if caller is not None and caller[0] != callee[0]:
            hops.add((caller, callee))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(watch)
        try:
            model.fit(X, constraints=known)
            # CSP's cuts wait until someone asks.
            getattr(model, "cuts_", None)
        finally:
            sys.setprofile(None)
    return {
        "functions": len(functions),
        "files": len({file for file, _ in functions}),
        "hops": len(hops),
        "changes of room": sum(_room(a) != _room(b) for (a, _), (b, _) in hops),
    }


def count_package() -> dict[str, int]:
    """Return the files and lines of the package."""
    files = sorted(HOUSE.rglob("*.py"))
    return {"files": len(files), "lines": sum(len(path.read_text().splitlines()) for path in files)}


def _function_in_house(frame: FrameType) -> tuple[str, str] | None:
    """Return the file and the name of the function a frame runs, if it is ours."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(HOUSE):
        return None
    return str(path.relative_to(HOUSE)), frame.f_code.co_qualname


def _caller_in_house(frame: FrameType) -> tuple[str, str] | None:
    """Return the nearest caller that is ours: scikit-learn and joblib may stand between."""
    above = frame.f_back
    while above is not None:
        here = _function_in_house(above)
        if here is not None:
            return here
        above = above.f_back
    return None


def _room(file: str) -> str:
    """Return the room a file is in; a paper's folder is a room of its own."""
    parts = Path(file).parts
    return "/".join(parts[:2]) if parts[0] == "methods" and len(parts) > 2 else parts[0]


def _print_table(figures: dict[str, Any]) -> None:
    columns = list(next(iter(figures["methods"].values())))
    print(f"| {'':6} | {' | '.join(columns)} |")
    for name, row in figures["methods"].items():
        print(f"| {name:6} | {' | '.join(str(row[column]) for column in columns)} |")
    print(f"package: {figures['package']['files']} files, {figures['package']['lines']:,} lines")


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="keep the figures under this name in walk.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
