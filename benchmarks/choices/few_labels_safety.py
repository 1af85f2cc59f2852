"""What one, two, three labels in all do to CSP and SCACS, before and after they look at held-back knowledge.

    python -m benchmarks.choices.few_labels_safety

Adjusted Rand index on unconstrained points, mean over draws, on data bundled with scikit-learn: without
constraints, with `safe=False` (the paper's algorithm with the usual beta) and with `safe=True`. `harm` is the
share of draws that lose more than .05 against the method's own unconstrained form.

The constants of `sidecut.methods.safeguard` were set on 400 points each of glass, ionosphere, sonar, segment,
pendigits, usps and wdbc, on two moons and on blobs, balanced, unbalanced and overlapping: not on digits, iris
and wine. Breast cancer is wdbc, and was seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from sidecut import CSP, LSC, SCACS, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import ConstraintError

RESULTS = Path(__file__).parent / "results"
N_DRAWS = 5
#: So many of the digits.
N_DIGITS = 600


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, points and classes."""
    for name in ("iris", "wine", "digits"):
        example = make_example(name, standardize=name != "digits")
        yield name, example.X[:N_DIGITS], example.y[:N_DIGITS]
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", StandardScaler().fit_transform(X), y


def kinds(y: np.ndarray) -> dict[str, Callable[[int], Constraints]]:
    """Return the ways of knowing little, each as a function of the draw."""
    kinds = {f"{n} labels": lambda draw, n=n: sample_labels(y, n, random_state=draw) for n in (1, 2, 3)}
    kinds["5% labels"] = lambda draw: sample_labels(y, len(y) // 20, random_state=draw)
    kinds["10 pairs"] = lambda draw: sample_pairs(y, 10, random_state=draw)
    return kinds


def score(model: object, X: np.ndarray, y: np.ndarray, known: Constraints) -> float:
    """Return the adjusted Rand index on unconstrained points; 0 where nothing is feasible."""
    try:
        return adjusted_rand_index(y, model.fit(X, constraints=known).labels_, constraints=known)
    except ConstraintError:
        return 0.0


def rows(name: str, X: np.ndarray, y: np.ndarray) -> Iterator[dict]:
    """Yield a row per method and kind of knowledge."""
    k = len(np.unique(y))
    graph = NormalizedCut(k, random_state=0).fit(X).affinity_matrix_
    common = {"n_clusters": k, "random_state": 0}
    methods = {
        "CSP": (
            CSP(**common, affinity="precomputed"),
            NormalizedCut(**common, affinity="precomputed"),
            graph,
        ),
        "SCACS": (SCACS(**common, warm_start=True), LSC(**common), X),
    }
    for method, (model, unconstrained, data) in methods.items():
        plain = unconstrained.fit(data).labels_
        for kind, draw_constraints in kinds(y).items():
            drawn = [draw_constraints(draw) for draw in range(N_DRAWS)]
            nothing = np.array([adjusted_rand_index(y, plain, constraints=known) for known in drawn])
            row = {"data": name, "method": method, "known": kind, "nothing known": nothing.mean()}
            for name_of, safe in (("before", False), ("after", True)):
                found = np.array([score(model.set_params(safe=safe), data, y, known) for known in drawn])
                row[name_of] = found.mean()
                row[f"harm {name_of}"] = np.mean(found < nothing - 0.05)
            yield row


def main() -> None:
    warnings.simplefilter("ignore")
    table = []
    for name, X, y in data_sets():
        for row in rows(name, X, y):
            table.append(row)
            print(pd.DataFrame([row]).round(3).to_string(index=False, header=False), flush=True)
    RESULTS.mkdir(exist_ok=True)
    pd.DataFrame(table).round(3).to_csv(RESULTS / "few_labels_safety.csv", index=False)


if __name__ == "__main__":
    main()
