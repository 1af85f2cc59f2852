"""The stored results as tables.

    python -m benchmarks.quality.images.report

Prints the tables of docs/images.md: means over the tasks of the pictures that no constant was set on, how
often sidecut is at or above the best of the rivals on the same task, and by how much it is below elsewhere.
"""

from __future__ import annotations

import pandas as pd

from benchmarks.quality.images.__main__ import RESULTS
from benchmarks.quality.images.pictures import BERKELEY, SEEN

TASK = ["scene", "marks", "draw"]
NEAR = 0.01
COLUMNS = ["IoU", "boundary F", "marks kept", "CPU seconds"]


def reported() -> pd.DataFrame:
    """Return the rows of the pictures that no constant was set on."""
    table = pd.read_csv(RESULTS / "images_berkeley.csv")
    return table[~table["scene"].map(lambda scene: BERKELEY[scene][0] in SEEN)]


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of every measure by method, on the tasks that all of its methods can do."""
    return table.groupby("method")[COLUMNS].mean().round(3)


def two_classes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of tasks with two classes, which GrabCut can do as well."""
    return table[table["scene"].isin(table.loc[table["method"] == "GrabCut", "scene"])]


def wins(table: pd.DataFrame) -> pd.DataFrame:
    """Return on how many tasks sidecut is at or above each rival and the best of them, by IoU."""
    scores = table.pivot_table(index=TASK, columns="method", values="IoU")
    rivals = scores.drop(columns="sidecut")
    rivals["best of them"] = rivals.max(axis=1)
    shares = {name: (scores["sidecut"] >= column)[column.notna()].mean() for name, column in rivals.items()}
    counts = {name: int(column.notna().sum()) for name, column in rivals.items()}
    near = {
        name: (scores["sidecut"] >= column - NEAR)[column.notna()].mean() for name, column in rivals.items()
    }
    return pd.DataFrame({"share of tasks": shares, "or within .01": near, "tasks": counts}).round(2)


def losses(table: pd.DataFrame) -> pd.DataFrame:
    """Return how far sidecut is below the best rival where it is: by that rival, kind of marks and scene."""
    scores = table.pivot_table(index=TASK, columns="method", values="IoU")
    rivals = scores.drop(columns="sidecut")
    below = (rivals.max(axis=1) - scores["sidecut"]).rename("below").reset_index()
    below["best rival"] = rivals.idxmax(axis=1).to_numpy()
    lost = below[below["below"] > 0]
    kinds = {column: lost.groupby(column)["below"] for column in ("best rival", "marks", "scene")}
    return pd.concat({name: group.agg(["size", "median", "max"]) for name, group in kinds.items()}).round(3)


def main() -> None:
    table = reported()
    print("All tasks, without GrabCut\n", means(table[table["method"] != "GrabCut"]), "\n")
    print("Tasks of two classes\n", means(two_classes(table)), "\n")
    print("sidecut at or above\n", wins(table), "\n")
    print("sidecut below the best of them\n", losses(table), "\n")
    kinds = two_classes(table).pivot_table(index="marks", columns="method", values="IoU")
    print("By kind of mark, two classes\n", kinds.round(3), "\n")
    print(table.pivot_table(index=["scene", "marks"], columns="method", values="IoU").round(2).to_string())


if __name__ == "__main__":
    main()
