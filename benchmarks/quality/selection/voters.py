"""Whether more methods should be compared and vote: AutoCut as it is, and with two more, on development sets.

python -m benchmarks.quality.selection.voters --data FOLDER [--draws 3]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.quality.selection.__main__ import RESULTS, knowledge
from benchmarks.quality.selection.data import DEVELOPMENT, load
from sidecut import NCSC, AutoCut, NormalizedCut, PoissonMBO
from sidecut.evaluation import adjusted_rand_index
from sidecut.selection.autocut import METHODS

#: Draws that no other table shows.
FIRST_DRAW = 20
CANDIDATES = {"as it is": None, "five vote": {**METHODS, "NCSC": NCSC(), "PoissonMBO": PoissonMBO()}}


def main() -> None:
    """Measure, store and show the means, and the share of fits more than .01 below the unconstrained cut."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for draw in range(FIRST_DRAW, FIRST_DRAW + options.draws):
        for name in DEVELOPMENT:
            X, y = load(name, draw, options.data)
            n_clusters = len(np.unique(y))
            plain = NormalizedCut(n_clusters, random_state=0).fit(X).labels_
            for kind, known in knowledge(y, draw):
                row = {"data": name, "draw": draw, "known": kind}
                row["cut"] = adjusted_rand_index(y, plain, constraints=known)
                for title, candidates in CANDIDATES.items():
                    model = AutoCut(n_clusters, candidates=candidates, random_state=0)
                    labels = model.fit(X, constraints=known).labels_
                    row[title] = adjusted_rand_index(y, labels, constraints=known)
                rows.append(row)
        table = pd.DataFrame(rows).round(4)
        stored.save(table, RESULTS / "selection_voters.csv")
        votes = table[[*CANDIDATES]]
        harmed = votes.lt(table["cut"] - 0.01, axis=0).mean()
        print(
            f"{len(table)} fits, harm {harmed.round(3).to_dict()}\n{table.groupby('known')[[*votes]].mean()}"
        )
        print(votes.mean().round(4).to_dict(), flush=True)


if __name__ == "__main__":
    main()
