"""The tables of docs/lab/lasting.md: python -m benchmarks.quality.lasting."""

from __future__ import annotations

import pandas as pd

from benchmarks import stored
from benchmarks.page_tables import DOCS, Makers, short

PAGES = [DOCS / "lab" / "lasting.md"]
FOLDER = stored.RESULTS / "quality"
WAYS = ("update", "fit from scratch", "Leiden", "merge_models")
#: What is shown of other methods.
SHOWN = ("5 % new", "20 % new", "a new class", "a wrong must-link", "ten wrong labels")


def scenarios() -> str:
    """Return what becomes of old points, by what comes: means over sets and draws, with PoissonMBO."""
    rows = _rows()
    rows = rows[rows["method"].isin(["PoissonMBO", "Leiden", "BERTopic"])]
    heads = [f"kept: {way}" for way in WAYS] + [f"ARI: {way}" for way in WAYS]
    lines = _table(["what comes", *heads])
    for scenario, part in rows.groupby("scenario", sort=False):
        means = part.groupby("way")[["kept", "ari"]].mean().reindex(WAYS)
        kept, ari = ([short(value, 4) for value in means["kept"]], [short(value) for value in means["ari"]])
        lines.append(_line([str(scenario), *kept, *ari]))
    return _measured(lines, rows)


def classes() -> str:
    """Return in how many draws a new class was found, and how often a cluster was founded for nothing."""
    rows = _rows()
    rows = rows[rows["method"].isin(["PoissonMBO", "Leiden", "BERTopic"])]
    new = rows[rows["scenario"] == "a new class"].pivot_table(
        index="set", columns="way", values="found", aggfunc="sum"
    )
    others = rows[(rows["scenario"] != "a new class") & (rows["way"] == "update")]
    others = others[~others["scenario"].str.startswith(("a wrong", "ten wrong"))]
    others = others.assign(false=others["n_new_clusters"] > 0)
    false = others.groupby("set")["false"].agg(["sum", "size"])
    draws = rows[rows["scenario"] == "a new class"].groupby("set")["draw"].nunique()
    lines = _table(["set", "draws", *(f"found: {way}" for way in WAYS), "founded where nothing is new"])
    for name, row in new.reindex(columns=list(WAYS)).iterrows():
        wrong = f"{false.loc[name, 'sum']} of {false.loc[name, 'size']}"
        lines.append(_line([str(name), str(draws[name]), *(f"{count:.0f}" for count in row), wrong]))
    sums, total = new.reindex(columns=list(WAYS)).sum(), false.sum()
    lines.append(
        _line(
            [
                "all",
                str(draws.sum()),
                *(f"{count:.0f}" for count in sums),
                f"{total['sum']} of {total['size']}",
            ]
        )
    )
    return "\n".join(lines)


def setting() -> str:
    """Return what each kind of evidence founds and finds on the sets it was set on."""
    rows = pd.read_csv(FOLDER / "lasting_setting.csv")
    kinds = ["links", "and distances", "and directions"]
    lines = _table(
        ["what comes", "updates", *(f"{what}: {kind}" for what in ("founded", "found") for kind in kinds)]
    )
    for scenario, part in rows.groupby("scenario", sort=False):
        sums = part.groupby("rules")[["updates", "founded", "found"]].sum().reindex(kinds)
        found = map(str, sums["found"]) if scenario == "a new class" else [""] * len(kinds)
        cells = [str(scenario), str(sums["updates"].iloc[0]), *map(str, sums["founded"]), *found]
        lines.append(_line(cells))
    return "\n".join([*lines, "", f"Measured {stored.measured(rows)}."])


def methods() -> str:
    """Return the same for other methods."""
    rows = _rows()
    rows = rows[~rows["method"].isin(["PoissonMBO", "Leiden", "BERTopic"]) & rows["scenario"].isin(SHOWN)]
    rows = rows.sort_values("method", kind="stable")
    lines = _table(["method", "sets", "what comes", "kept: update", "kept: fit", "ARI: update", "ARI: fit"])
    for (method, scenario), part in rows.groupby(["method", "scenario"], sort=False):
        means = part.groupby("way")[["kept", "ari"]].mean().reindex(WAYS[:2])
        cells = [short(value, 4) for value in means["kept"]] + [short(value) for value in means["ari"]]
        lines.append(_line([f"`{method}`", ", ".join(dict.fromkeys(part["set"])), str(scenario), *cells]))
    return _measured(lines, rows)


def speed() -> str:
    """Return the seconds of updates and fits."""
    rows = pd.read_csv(FOLDER / "lasting_speed.csv")
    lines = _table(
        [
            "method",
            "rows",
            "update",
            "fit of all rows",
            "ratio",
            "kept: update",
            "kept: fit",
            "ARI: update",
            "ARI: fit",
            "measured",
        ]
    )
    for _, row in rows.iterrows():
        cells = [
            f"`{row['method']}`",
            f"{row['rows']:,}",
            f"{row['update_seconds']:.2f}",
            f"{row['fit_seconds']:.2f}",
            f"{row['ratio']:.1f}",
        ]
        cells += [
            short(row["kept"], 4),
            short(row["kept_by_fit"], 4),
            short(row["ari"]),
            short(row["ari_of_fit"]),
        ]
        lines.append(_line([*cells, stored.measured(row)]))
    return "\n".join(lines)


def groups() -> str:
    """Return what groups cost at several sizes."""
    rows = pd.read_csv(FOLDER / "lasting_groups.csv")
    lines = _table(["method", "rows", "pairs", "seconds", "per 10,000 rows", "MB", "satisfied", "measured"])
    for _, row in rows.iterrows():
        each = f"{1e4 * row['seconds'] / row['n']:.2f}"
        cells = [row["method"], f"{row['n']:,}", f"{row['pairs']:,}", f"{row['seconds']:.2f}", each]
        lines.append(_line([*cells, f"{row['megabytes']:,}", short(row["satisfied"]), stored.measured(row)]))
    return "\n".join(lines)


def streams() -> str:
    """Return what becomes of clusters over ten batches: means over draws."""
    rows = pd.read_csv(FOLDER / "lasting_streams.csv")
    heads = [
        "right: first batch",
        "right: tenth",
        "as the first model says",
        "new clusters",
        "seconds",
        "draws",
    ]
    lines = _table(["set", "rows that came", "drift", *heads])
    for (name, drift), part in rows.groupby(["set", "drift"], sort=False):
        moves = "none" if drift == 0 else f"one class, {drift:g} spread per batch"
        means = part.mean(numeric_only=True)
        cells = [short(means[column]) for column in ("right_first", "right_tenth", "as_first_model")]
        cells += [f"{means['new_clusters']:.1f}", f"{means['seconds']:.1f}", str(len(part))]
        lines.append(_line([str(name), f"{part['rows'].iloc[0]:,}", moves, *cells]))
    return _measured(lines, rows)


def _rows() -> pd.DataFrame:
    order = ["1.5 % new", "5 % new", "20 % new", "a tenth changed", "a new class", "drift"]
    rows = pd.read_csv(FOLDER / "lasting.csv")
    order += [name for name in rows["scenario"].unique() if name not in order]
    return rows.sort_values("scenario", key=lambda names: names.map(order.index), kind="stable")


def _table(heads: list[str]) -> list[str]:
    return [_line(heads), "|---" * len(heads) + "|"]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _measured(lines: list[str], rows: pd.DataFrame) -> str:
    n_sets = rows["set"].nunique()
    return "\n".join([*lines, "", f"{n_sets} sets, measured {stored.measured(rows)}."])


def makers() -> Makers:
    """Return what makes each table."""
    return {
        "scenarios": scenarios,
        "classes": classes,
        "setting": setting,
        "methods": methods,
        "speed": speed,
        "groups": groups,
        "streams": streams,
    }
