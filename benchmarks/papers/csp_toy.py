"""The six nodes of section 4.4 of CSP (figure 3) and the cuts of a sample of moons (figure 4).

    python -m benchmarks.papers.csp_toy

Node 4 is said to be dragged from nodes 5 and 6 to nodes 1, 2 and 3: where it is between node 5 (0) and
node 3 (1) along u*. Of figure 4: the share of the unconstrained cuts, the eigenvectors of L̄, whose
satisfaction vᵀQ̄v is below the threshold β/vol of eq. 19, and the agreement of the best cut without and with
20 pairs, over ten samples. To results/csp_toy.csv and csp_cuts.csv.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from scipy.linalg import eigh, eigvalsh
from sklearn.metrics import adjusted_rand_score

from benchmarks import stored
from benchmarks.papers.csp import MOONS
from benchmarks.papers.signs import SignCut
from benchmarks.papers.synthetic import MADE
from sidecut import CSP, Constraints
from sidecut.constraints import sample_pairs

RESULTS = stored.RESULTS / "papers"
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
SIDES = np.array([1, 1, 1, 1, -1, -1])
N_PAIRS, N_SAMPLES = 20, 10


def toy() -> pd.DataFrame:
    """Return u* of the six nodes without constraints, with β = vol and with β = 2 vol."""
    A = np.zeros((6, 6))
    for i, j in EDGES:
        A[i, j] = A[j, i] = 1.0
    volume, known = A.sum(), Constraints.from_matrix(np.outer(SIDES, SIDES).astype(float))
    scale = 1 / np.sqrt(A.sum(axis=1))
    eigenvalues = np.unique(eigvalsh(np.outer(scale * SIDES, scale * SIDES)).round(4) + 0.0)
    cut = SignCut(2, affinity="precomputed").fit(A)
    indicators = {"none": cut.eigenvectors_[:, 1] * scale}
    for words, beta in {"vol": volume, "2 vol": 2 * volume}.items():
        indicators[words] = CSP(2, affinity="precomputed", beta=beta).fit(A, constraints=known).indicator_
    rows = []
    for words, u in indicators.items():
        u = u * np.sign(u[0])
        row: dict[str, float | str] = {"beta": words} | {f"node {i + 1}": u[i] for i in range(6)}
        row["place of node 4"] = (u[3] - u[4]) / (u[2] - u[4])
        rows.append(row | {"eigenvalues of Q̄": " and ".join(f"{value:g}" for value in eigenvalues)})
    return pd.DataFrame(rows).round(3)


def cuts(sample: int) -> dict[str, float]:
    """Return how the cuts of one sample of moons relate to what is asked of them."""
    data = MADE[MOONS.data.removeprefix("made:")](sample)
    graph = MOONS.graph.build(data.X)
    known = sample_pairs(data.y, N_PAIRS, random_state=sample)
    model = CSP(2, affinity="precomputed", beta="eq19").fit(graph, constraints=known)
    scale = 1 / np.sqrt(graph.degrees)
    affinity = scale[:, None] * graph.toarray() * scale
    _, V = eigh(np.eye(len(scale)) - affinity)
    # The first is the trivial cut.
    U = scale[:, None] * V[:, 1:]
    satisfied = np.einsum("ij,ij->j", U, known.apply(U))
    unconstrained = SignCut(2, affinity="precomputed").fit(graph)
    return {
        "sample": sample,
        "below the threshold": float((satisfied < model.beta_ / graph.degrees.sum()).mean()),
        "ARI of the unconstrained cut": adjusted_rand_score(data.y, unconstrained.labels_),
        "ARI of the best cut by eq. 19": adjusted_rand_score(data.y, model.labels_),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    found = {"csp_toy.csv": toy(), "csp_cuts.csv": pd.DataFrame(map(cuts, range(N_SAMPLES))).round(3)}
    for file, table in found.items():
        print(table.to_string(index=False))
        stored.save(table, RESULTS / file)


if __name__ == "__main__":
    main()
