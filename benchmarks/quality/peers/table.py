"""The stored results, and the page made from them: ``python -m benchmarks.quality.peers.table``."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.page_tables import DOCS
from benchmarks.quality.peers.registry import PEERS, REFERENCE
from benchmarks.stored import RESULTS as FOLDER
from benchmarks.stored import measured

RESULTS = FOLDER / "quality" / "peers.csv"
PAGE = DOCS / "lab" / "peers.md"
KEYS = ["package", "method", "data", "draw"]
ALL_RAN = "Every method that was measured ran, with the versions below."
BEGIN, END = "<!-- begin: made by python -m benchmarks.quality.peers.table -->", "<!-- end -->"


def stored(path: Path = RESULTS) -> pd.DataFrame:
    """Return the results so far."""
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=KEYS)


def merged(before: pd.DataFrame, rows: list[dict]) -> pd.DataFrame:
    """Return the results with some rows replaced or added."""
    table = pd.concat([before, pd.DataFrame(rows)]) if len(before) else pd.DataFrame(rows)
    return table.drop_duplicates(KEYS, keep="last").reset_index(drop=True)


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row per method and data: means over draws, and the time as a ratio to the reference's.

    Parameters
    ----------
    results : DataFrame
        Rows as `benchmarks.quality.peers.running.rows` yields them.
    """
    results = results.reindex(columns=[*KEYS, "cpu_seconds", "rise_megabytes", "ari", "satisfied", "error"])
    results = results.fillna({"method": "", "error": ""})
    groups = results.groupby(["package", "method", "data"], sort=False)
    table = groups.agg(
        draws=("ari", "count"),
        cpu_seconds=("cpu_seconds", "mean"),
        rise_megabytes=("rise_megabytes", "max"),
        ari=("ari", "mean"),
        satisfied=("satisfied", "mean"),
        error=("error", "max"),
    ).reset_index()
    is_reference = (table["package"] == REFERENCE[0]) & (table["method"] == REFERENCE[1])
    reference = table[is_reference].set_index("data")["cpu_seconds"]
    table["times"] = table["cpu_seconds"] / table["data"].map(reference)
    return table


def cell(row: pd.Series) -> str:
    """Return one cell of the page: seconds (ratio) / ARI / pairs satisfied / memory, or "fails"."""
    if row["error"] and row["draws"] == 0:
        return "stopped" if row["error"].startswith("stopped") else "fails"
    once = "" if row["draws"] > 1 else "*"
    memory = f"{row['rise_megabytes']:.0f} MB" if pd.notna(row["rise_megabytes"]) else "–"
    times = f"{significant(row['cpu_seconds'])} s ({significant(row['times'])})"
    return f"{times} / {row['ari']:.3f}{once} / {row['satisfied']:.3f} / {memory}"


def significant(value: float) -> str:
    """Return a number in two significant digits, or whole.

    Examples
    --------
    >>> significant(0.1234), significant(3.21), significant(456.7)
    ('0.12', '3.2', '457')
    """
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def comparison(results: pd.DataFrame) -> str:
    """Return the table of the page: a row per method, in the order of the registry, a column per data."""
    table = summary(results)
    table["cell"] = table.apply(cell, axis=1)
    data = list(dict.fromkeys(table["data"]))
    wide = table.pivot(index=["package", "method"], columns="data", values="cell")
    lines = ["| package | method | " + " | ".join(data) + " | measured |", "|---" * (3 + len(data)) + "|"]
    for package, method in ordered(wide.index.to_list()):
        cells = (str(wide.loc[(package, method), name]) for name in data)
        mine = results[(results["package"] == package) & (results["method"].fillna("") == method)]
        line = " | ".join([package, method, *cells]).replace("nan", "–")
        lines.append(f"| {line} | {measured(mine)} |")
    return "\n".join(lines)


def ordered(keys: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return packages and methods in the order of the registry; what has left it comes last."""
    order = {(peer.name, method): None for peer in PEERS for method in peer.methods}
    places = {key: place for place, key in enumerate(order)}
    return sorted(keys, key=lambda key: (places.get(key, len(places)), key))


def failures(results: pd.DataFrame) -> str:
    """Return the list of what did not run, with the last line of the error."""
    if "error" not in results:
        return ALL_RAN
    failed = results[results["error"].notna()].fillna({"method": "all methods"})
    ran = results[results["error"].isna()].groupby(["package", "method", "data"]).size()
    lines = []
    for key, rows in failed.groupby(["package", "method", "data"], sort=False):
        share = f" ({len(rows)} of {len(rows) + ran[key]} draws)" if key in ran.index else ""
        package, method, data = key
        lines.append(f"- {package}, {method}, on {data}{share}: `{rows['error'].iloc[-1]}`")
    return "\n".join(lines) or ALL_RAN


def environments(results: pd.DataFrame) -> str:
    """Return the table of versions, and why some are held back."""
    why = {peer.name: peer.why for peer in PEERS}
    lines = ["| package | version | ran with | held back because it |", "|---|---|---|---|"]
    known = results[results["version"].notna()].drop_duplicates("package", keep="last")
    for _, row in known.iterrows():
        lines.append(
            f"| {row['package']} | {row['version']} | {row['with']} | {why.get(row['package'], '')} |"
        )
    return "\n".join(lines)


def page(text: str, results: pd.DataFrame) -> str:
    """Return the page with everything between its two marks made anew from the results."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    parts = [
        comparison(results),
        "## What did not run",
        failures(results),
        "## Versions",
        environments(results),
    ]
    return before + BEGIN + "\n\n" + "\n\n".join(parts) + "\n\n" + END + after


def main() -> None:
    PAGE.write_text(page(PAGE.read_text(), stored()))


if __name__ == "__main__":
    main()
