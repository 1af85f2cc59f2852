"""Run one method of one peer in a process of its own, and score what it found."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.peers.environments import InstallError, last_line, python_of
from benchmarks.quality.peers.registry import Peer
from benchmarks.quality.peers.work import written

HERE = Path(__file__).parent
#: One thread for everybody.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
#: A method whose first draw took longer is not run on the others.
CHEAP = 20.0
#: Waiting time allowed beside the limit on processor time, as a multiple of it.
PATIENCE = 4


def wanted(peer: Peer, data: str, draw: int, stored: pd.DataFrame) -> tuple[str, ...]:
    """Return the methods of a peer that a draw has still to measure.

    What is stored is not measured again, and what failed in the first draw, or was dear, not in another.
    """
    before = stored[(stored["package"] == peer.name) & (stored["data"] == data)]
    done = set(before.loc[before["draw"] == draw, "method"])
    first = before[before["draw"] == 0].set_index("method").reindex(columns=["cpu_seconds"])
    cheap = set(first.index[first["cpu_seconds"] <= CHEAP])
    return tuple(name for name in peer.methods if name not in done and (draw == 0 or name in cheap))


def rows(
    peer: Peer, methods: tuple[str, ...], data: str, draw: int, limit: int, cache: Path, folder: Path | None
) -> Iterator[dict]:
    """Yield the results of some methods of a peer in one draw."""
    shared = {"package": peer.name, "data": data, "draw": draw}
    try:
        python = python_of(peer, cache)
    except InstallError as error:
        yield from (shared | {"method": name, "error": f"does not install: {error}"} for name in methods)
        return
    work = written(cache, data, draw, folder)
    for name in methods:
        yield shared | {"method": name} | measured(python, peer, work, name, limit)


def measured(python: Path, peer: Peer, work: Path, method: str, limit: int) -> dict:
    """Return times, memory and scores of one run, or what went wrong."""
    command = [python, "-P", HERE / "measure.py", HERE / "runners" / peer.runner, work, method, str(limit)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | ONE_THREAD, timeout=PATIENCE * limit
        )
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {PATIENCE * limit} s"}
    if done.returncode:
        return {"error": failure(done.returncode, done.stderr, limit)}
    answer = json.loads(done.stdout.splitlines()[-1])
    return result(answer, np.load(work)) | described(answer["versions"], peer.name)


def failure(code: int, stderr: str, limit: int) -> str:
    """Return in one line why a process failed."""
    # A process over its processor time is ended by a signal, with nothing to say.
    return f"stopped after {limit} s of processor time" if code in (-24, -9) else last_line(stderr)


def result(answer: dict, work: dict[str, np.ndarray]) -> dict:
    """Return the times and scores of an answer."""
    labels = np.asarray(answer["labels"])
    row = {name: round(answer[name], 4) for name in ("seconds", "cpu_seconds", "first_seconds")}
    row |= {name: round(answer[name]) for name in ("megabytes", "rise_megabytes")}
    row["ari"] = round(adjusted_rand_score(work["y"], one_per_noise(labels)), 4)
    row["satisfied"] = round(satisfied(labels, work["must_link"], work["cannot_link"]), 4)
    return row | {"clusters": len(np.unique(labels[labels >= 0])), "noise": int(np.sum(labels < 0))}


def one_per_noise(labels: np.ndarray) -> np.ndarray:
    """Return labels where every point that was left out (-1) is a cluster by itself."""
    return np.where(labels < 0, labels.max() + 1 + np.arange(labels.size), labels)


def satisfied(labels: np.ndarray, must_link: np.ndarray, cannot_link: np.ndarray) -> float:
    """Return the share of pairs that labels satisfy; a point that was left out is together with none."""
    found = one_per_noise(labels)
    kept = np.sum(found[must_link[:, 0]] == found[must_link[:, 1]])
    apart = np.sum(found[cannot_link[:, 0]] != found[cannot_link[:, 1]])
    return float(kept + apart) / (len(must_link) + len(cannot_link))


def described(versions: dict[str, str], package: str) -> dict[str, str]:
    """Return the version of the package, and those of what it ran on in one line."""
    others = (f"{name} {version}" for name, version in versions.items() if name != package)
    return {"version": versions.get(package, ""), "with": ", ".join(others)}
