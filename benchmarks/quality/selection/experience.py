"""What each method gains over the unconstrained cut of the same graph, on the development sets.

    python -m benchmarks.quality.selection --data FOLDER --sets development --only NormalizedCut+E2CP+CSAP+...
    python -m benchmarks.quality.selection.experience

The table is shown in docs/which-method.md.
"""

from __future__ import annotations

import pandas as pd

from benchmarks import stored
from benchmarks.quality.selection.__main__ import RESULTS


def gains(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the mean gain of each method, from labels and from pairs, on both graphs together."""
    cell = ["data", "draw", "known", "graph"]
    lines = lines.assign(
        graph=lines.method.str.contains("scaled"),
        method=lines.method.str.split(",").str[0],
        kind=lines.known.str.split().str[0],
    )
    plain = lines[lines.method == "NormalizedCut"].set_index(cell).ari.rename("plain")
    lines = lines.join(plain, on=cell)
    lines["gain"] = lines.ari - lines.plain
    return lines.pivot_table(index="method", columns="kind", values="gain").round(3)


def main() -> None:
    """Write and show the table."""
    lines = pd.read_csv(RESULTS / "selection_development.csv")
    used = {"NormalizedCut", "E2CP", "CSAP", "NCSC", "CCSR", "CSP", "PoissonMBO", "PoissonLearning"}
    table = gains(lines[lines.method.str.split(",").str[0].isin(used)])
    stored.save(table.reset_index(), RESULTS / "selection_experience.csv")
    print(table)


if __name__ == "__main__":
    main()
