"""Fits on made-up data and constraints: ``python -m benchmarks.code.fuzz.fits``.

A fit may end in labels or in an error of a documented kind with a message. Labels must be whole numbers, one
per point, within the number of clusters; what is said of each point must be finite; and clusters that were
asked for and not found must be spoken of in a warning.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from scipy import sparse

import sidecut
from benchmarks import stored
from sidecut import Constraints
from sidecut.exceptions import SidecutWarning, SolverError, SpectralError

RESULT = stored.RESULTS / "code" / "fuzz_fits.json"
#: Kinds of errors that the documentation names: bad values, bad types, solvers that fail.
DOCUMENTED = (ValueError, TypeError, SpectralError, SolverError)
ON_POINTS = ("COPKMeans", "ConstrainedGMM", "MetricKMeans", "LSC", "SCACS")
ON_GRAPHS = (
    *("CSP", "E2CP", "CSAP", "NCSC", "LCSC", "CCSR", "SSKK", "SpectralLearning"),
    *("NormalizedCut", "PoissonLearning", "PoissonMBO"),
)
EXTREMES = (0.0, -0.0, 1.0, 1e-300, 1e-12, 1e12, 1e300, 1.7e308, -1e300, np.nan, np.inf, -np.inf)
#: Numbers of points, most of them enough for a few clusters.
SIZES = (0, 1, 2, 3, 4, 6, 8, 10, 12, 12, 14, 16, 16, 18, 20, 20, 22, 24)
DTYPES = (np.float64, np.float32, np.float16, np.int64, np.int8, np.uint8, bool)


@st.composite
def points(draw: st.DrawFn) -> Any:
    """Give points of any shape, kind and size, some of them extreme, equal or missing."""
    n, d = draw(st.sampled_from(SIZES)), draw(st.sampled_from([0, 1, 1, 2, 2, 2, 3, 4]))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    X = rng.normal(size=(n, d)) + 5 * rng.integers(0, 3, size=(n, 1))
    shape = draw(st.sampled_from(["as they are", "as they are", "as they are", "equal", "few", "scaled"]))
    if shape == "equal":
        X[:] = X[:1] if n else X
    elif shape == "few":
        X = X.round()
    elif shape == "scaled":
        X = X * draw(st.sampled_from([1e-300, 1e-160, 1e-8, 1e8, 1e150, 1e307]))
    if n and d and draw(st.integers(0, 4)) == 0:
        for _ in range(draw(st.integers(1, 3))):
            X[rng.integers(n), rng.integers(d)] = draw(st.sampled_from(EXTREMES))
    return _in_a_form(X, draw(st.sampled_from(["array"] * 6 + ["dtype", "list", "frame", "csr", "1d"])), draw)


def _in_a_form(X: Any, form: str, draw: st.DrawFn) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if form == "dtype":
            return X.astype(draw(st.sampled_from(DTYPES)))
        if form == "list":
            return X.tolist()
        if form == "frame":
            return pd.DataFrame(X, columns=[f"c{column}" for column in range(X.shape[1])])
        if form == "csr":
            return sparse.csr_array(X)
        return X.ravel() if form == "1d" else X


@st.composite
def knowledge(draw: st.DrawFn, n: int) -> Any:
    """Give labels or links, right or contradictory, of as many points or not, or none; or raise."""
    kind = draw(st.sampled_from(["none", "labels", "labels", "pairs", "pairs", "both"]))
    known = None
    size = n if draw(st.integers(0, 30)) else n + 1
    if kind in ("labels", "both"):
        names = draw(st.sampled_from([(-1, 0, 1), (-1, 0, 1, 2, 3), (None, "a", "b"), (None, "a")]))
        known = Constraints.from_labels([draw(st.sampled_from(names)) for _ in range(size)])
    if kind in ("pairs", "both"):
        point = st.integers(0, max(size - 1, 0))
        pair = st.tuples(point, point).filter(lambda ends: size < 2 or ends[0] != ends[1])
        links = Constraints.from_pairs(
            size,
            must_link=draw(st.lists(pair, max_size=6)),
            cannot_link=draw(st.lists(pair, max_size=6)),
            must_weight=draw(st.sampled_from([1.0, 0.5, 1e-9, 1e9])),
            on_conflict=draw(st.sampled_from(["raise", "drop", "weigh"])),
        )
        known = links if known is None else known.merged_with(links, "weigh")
    return known


@st.composite
def fits(draw: st.DrawFn) -> tuple[str, dict[str, Any], Any]:
    """Give the name of a method, its settings, and the points."""
    name = draw(st.sampled_from([*ON_POINTS, *ON_GRAPHS]))
    chosen: dict[str, Any] = {"n_clusters": draw(st.integers(1, 6)), "random_state": 0}
    if name in ON_GRAPHS:
        affinity = draw(st.sampled_from(["knn", "knn", "knn", "rbf", "precomputed"]))
        chosen["affinity"] = affinity
        if affinity == "knn":
            chosen["n_neighbors"] = draw(st.integers(1, 8))
        if affinity == "precomputed":
            X = np.asarray(draw(points().filter(lambda X: isinstance(X, np.ndarray) and X.ndim == 2)), float)
            with np.errstate(all="ignore"):
                W = np.exp(-np.abs(X[:, None, :1] - X[None, :, :1]).sum(axis=2))
            return name, chosen, sparse.csr_array(W) if draw(st.booleans()) else W
    return name, chosen, draw(points())


def try_many(number: int, count: int, ends: Counter[str], faults: list[dict]) -> None:
    """Fit as often as asked with one seed, and note how each ended."""

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def try_one(data: st.DataObject) -> None:
        name, chosen, X = data.draw(fits())
        end, fault = judge(name, chosen, X, data)
        ends[end] += 1
        if fault:
            faults.append(
                {"seed": number, "method": name, "settings": repr(chosen), "X": repr(X)[:300], "fault": fault}
            )

    try_one()


def judge(name: str, chosen: dict[str, Any], X: Any, data: st.DataObject) -> tuple[str, str]:
    """Fit, and say how it ended and what is wrong with that."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            known = data.draw(knowledge(n))
            model = getattr(sidecut, name)(**chosen).fit(X, constraints=known)
        except DOCUMENTED as error:
            return type(error).__name__, "" if str(error).strip() else "an error without a word"
        except Exception as error:
            return "undocumented", f"{type(error).__name__}: {error}"
    said = [one for one in caught if issubclass(one.category, SidecutWarning | UserWarning)]
    return "labels", find_fault(model, n, chosen["n_clusters"], bool(said))


def find_fault(model: Any, n: int, n_clusters: int, is_said: bool) -> str:
    """Say what no fit may do."""
    labels = np.asarray(model.labels_)
    if labels.shape != (n,) or not np.issubdtype(labels.dtype, np.integer):
        return f"labels of shape {labels.shape} and kind {labels.dtype} for {n} points"
    if n and (labels.min() < 0 or labels.max() >= n_clusters):
        return f"labels from {labels.min()} to {labels.max()} in {n_clusters} clusters"
    if len(np.unique(labels)) < n_clusters and not is_said:
        return f"{len(np.unique(labels))} of {n_clusters} clusters, without a word"
    sure = np.asarray(model.confidence_)
    if sure.shape != (n,) or not np.all((sure >= 0) & (sure <= 1)):
        return f"confidence of shape {sure.shape}, from {sure.min()} to {sure.max()}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.code.fuzz.fits", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000, help="how many fits for each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 11)))
    parser.add_argument("--output", type=Path, default=RESULT)
    parser.add_argument("--more", action="store_true", help="add to what is stored")
    asked = parser.parse_args()
    before = json.loads(asked.output.read_text()) if asked.more and asked.output.exists() else {}
    ends: Counter[str] = Counter(before.get("ends", {}))
    faults: list[dict] = before.get("faults", [])
    seeds: list[int] = before.get("seeds", [])
    asked_on, began = stored.stamp(), time.process_time()
    if before and before.get("commit") != asked_on["commit"]:
        parser.error(f"{asked.output} is of commit {before.get('commit')}, and this is {asked_on['commit']}")
    for number in asked.seeds:
        try_many(number, asked.count, ends, faults)
        seeds.append(number)
        print(number, dict(ends), len(faults), f"{time.process_time() - began:.0f} s", flush=True)
        result = {
            **asked_on,
            "count": sum(ends.values()),
            "seeds": seeds,
            "ends": dict(sorted(ends.items())),
        }
        asked.output.write_text(json.dumps(result | {"faults": faults}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
