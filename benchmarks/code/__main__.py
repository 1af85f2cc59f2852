"""Count the walk of one fit through the code: `python -m benchmarks.code`.

A fit on iris with 20 labels is watched by `sys.setprofile`, once with `safe=False` and once guarded. Counted
are the functions of sidecut that ran, the files they are in, and the hops of a reader who looks at each
function when it is first called: how often the next one is in another file. `--store` writes the figures to
walk.json and some of them to docs/architecture.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_iris

import sidecut
from benchmarks import stored
from benchmarks.page_tables import DOCS, Makers, rewrite
from sidecut.constraints import sample_labels

PACKAGE = Path(sidecut.__file__).parent
PAGES = [DOCS / "architecture.md"]
STORED = stored.RESULTS / "code" / "walk.json"
PLAIN: dict[str, Any] = {"safe": False}
FITS: dict[str, dict[str, Any]] = {
    name: settings
    for method in ("CSP", "E2CP", "SCACS", "NCSC", "CSAP")
    for name, settings in ((f"{method}, safe=False", PLAIN), (method, {}))
} | {"AutoCut": {}}


def main() -> None:
    """Count all walks, and show them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--store", action="store_true")
    figures = {name: count_walk(name, settings) for name, settings in FITS.items()}
    print("| fit | functions | files | hops |\n|---|---|---|---|")
    for name, row in figures.items():
        print(f"| {name} | {row['functions']} | {row['files']} | {row['hops']} |")
    if parser.parse_args().store:
        STORED.write_text(json.dumps(stored.stamp() | figures, indent=1) + "\n")
        rewrite(PAGES[0], makers())


def makers() -> Makers:
    """Return what makes the sentence of the page, by the name of its mark."""
    return {"walk": walk}


def walk() -> str:
    """Return the stored figures of CSP in a sentence."""
    found = json.loads(STORED.read_text())
    plain, guarded = found["CSP, safe=False"], found["CSP"]
    return (
        f"With `safe=False`, `CSP.fit` runs through {plain['files']} files in {plain['hops']} hops; "
        f"with the guard, through {guarded['files']} in {guarded['hops']}."
    )


def count_walk(name: str, settings: dict[str, Any]) -> dict[str, int]:
    """Return what one fit of a method touches."""
    X, y = load_iris(return_X_y=True)
    known = sample_labels(y, 20, random_state=0)
    model = getattr(sidecut, name.split(",")[0])(n_clusters=3, random_state=0, **settings)
    visits: dict[tuple[str, str], None] = {}

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        found = _function_in_package(frame) if event == "call" else None
        if found is not None:
            visits.setdefault(found)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(watch)
        try:
            model.fit(X, constraints=known)
        finally:
            sys.setprofile(None)
    files = [file for file, _ in visits]
    hops = sum(first != second for first, second in itertools.pairwise(files))
    return {"functions": len(visits), "files": len(set(files)), "hops": hops}


def _function_in_package(frame: FrameType) -> tuple[str, str] | None:
    """Return the file and the name of the function a frame runs, if it is ours."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(PACKAGE):
        return None
    return str(path.relative_to(PACKAGE)), frame.f_code.co_qualname


if __name__ == "__main__":
    main()
