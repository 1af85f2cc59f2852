"""Fits of EVoC and fast_hdbscan, in an environment that has them and nothing of ours; see `outside`.

    python outside_fits.py FOLDER COUNT NAME NAME

FOLDER holds points and labels of each cell; their answers are written beside them.
"""

import importlib.util
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

RUNNERS = Path(__file__).parents[1] / "peers" / "runners"


def runner(name):
    """Return a module that runs another package, under a name that is not the package's."""
    spec = importlib.util.spec_from_file_location(f"run_{name}", RUNNERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(folder, count, *names):
    """Fit both to every cell."""
    fits = (runner("evoc").clustered, runner("fast_hdbscan").labelled)
    for place in range(int(count)):
        with np.load(Path(folder) / f"{place}.npz") as file:
            work = SimpleNamespace(X=file["X"].astype(np.float64), told=file["told"])
        for name, fit in zip(names, fits, strict=True):
            start = time.process_time()
            labels = fit(work)
            np.savez(Path(folder) / f"{place} {name}.npz", labels=labels, seconds=time.process_time() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
