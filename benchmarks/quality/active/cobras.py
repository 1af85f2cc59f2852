"""COBRAS itself, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.active.sets import BUDGETS
from benchmarks.quality.peers.environments import python_of
from benchmarks.quality.peers.registry import PEERS

RUNNER = Path(__file__).parents[1] / "peers" / "runners" / "cobras_curve.py"
COBRAS = "COBRAS"
PEER = next(peer for peer in PEERS if peer.name == "cobras-ts")


def run_cobras(X, y, draw: int, cache: Path, budgets=BUDGETS) -> dict:
    """Return the adjusted Rand index of COBRAS after each number of questions."""
    labels, _ = ask_cobras(X, y, draw, cache, budgets)
    scores = [round(adjusted_rand_score(y, found), 4) for found in labels]
    return {"ari": dict(zip(budgets, scores, strict=True))}


def ask_cobras(X, y, draw: int, cache: Path, budgets) -> tuple[list[list[int]], list[list[int]]]:
    """Return the labels after each number of questions, and the pairs that were asked about."""
    work = cache / f"cobras-{draw}-{len(y)}.npz"
    np.savez(work, X=X, y=y)
    command = [python_of(PEER, cache), "-P", RUNNER, work, str(draw), *map(str, budgets)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    work.unlink()
    said = json.loads(done.stdout.splitlines()[-1])
    return said["labels"], said["pairs"]
