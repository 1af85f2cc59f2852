"""When each experiment was last run, on which code, and what the pages say of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from benchmarks import stored
from benchmarks.evidence.experiments import EXPERIMENTS, Experiment
from benchmarks.evidence.fingerprint import hash_of
from benchmarks.page_tables import DOCS, rewrite

RECORDS, RUN = stored.RESULTS / "evidence.json", stored.RESULTS / "evidence_run.json"
#: The page with the table of all experiments.
MEASURING = "lab/measuring.md"
PAGES = tuple(dict.fromkeys(one.page for one in EXPERIMENTS))


def read() -> dict[str, Any]:
    """Return what is kept of each experiment that was run."""
    return json.loads(RECORDS.read_text()) if RECORDS.exists() else {}


def keep(experiment: Experiment, modules: Iterable[str], seconds: float, commit: str) -> None:
    """Keep that an experiment was run now, and the hash of the code it ran through."""
    found = sorted(modules)
    record = {"seconds": round(seconds), "code": hash_of(found), "modules": found}
    records = read() | {experiment.name: stored.stamp() | {"commit": commit} | record}
    RECORDS.write_text(json.dumps(dict(sorted(records.items())), indent=1) + "\n")


def keep_run(commit: str, hours: float, failed: list[str]) -> None:
    """Keep how a whole run went."""
    run = stored.stamp() | {"commit": commit, "hours": round(hours, 2), "failed": failed}
    RUN.write_text(json.dumps(run, indent=1) + "\n")


def table() -> str:
    """Return all experiments: what they answer, how long they take, and when they last ran."""
    records = read()
    lines = ["| experiment | question | page | minutes | measured |", "|---|---|---|---|---|"]
    for one in EXPERIMENTS:
        found = records.get(one.name)
        minutes = f"{found['seconds'] / 60:.1f}" if found else "–"
        when = stored.when(stamps([found])) if found else "one by one"
        name = one.page.removeprefix("lab/")
        lines.append(
            f"| `{one.name}` | {one.question} | [{name.removesuffix('.md')}]({name}) | {minutes} | {when} |"
        )
    return "\n".join([*lines, "", whole_run()])


def whole_run() -> str:
    """Return how the last whole run went."""
    if not RUN.exists():
        return "A whole run was not made."
    run = json.loads(RUN.read_text())
    failed = ", ".join(f"`{name}`" for name in run["failed"])
    went = f"These did not end in time, and kept the rows they had: {failed}." if failed else "None failed."
    return f"The last whole run took {run['hours']} hours, on {run['date']}, commit `{run['commit']}`. {went}"


def is_stale(record: dict[str, Any]) -> bool:
    """Whether the code of an experiment has changed since it was run."""
    return record["code"] != hash_of(record["modules"])


def describe(page: str) -> str:
    """Return what a page says of the age of its tables."""
    records = read()
    several = [one for one in EXPERIMENTS if one.page == page]
    unknown = [one for one in several if one.name not in records]
    stale = [one for one in several if one not in unknown and is_stale(records[one.name])]
    fresh = [records[one.name] | {"name": one.name} for one in several if one not in unknown + stale]
    said = []
    if fresh:
        hours = sum(one["seconds"] for one in fresh) / 3600
        what = "All tables" if not stale + unknown else ", ".join(f"`{one['name']}`" for one in fresh)
        said.append(f"{what}: `make evidence`, {stored.when(stamps(fresh))}, {hours:.1f} hours.")
        if RUN.exists():
            said[-1] += " Rows marked *apart* were measured by themselves, at the commit in the row."
    if stale:
        said.append(
            f"**Older than the code:** {ask(stale)} The code has changed since. To measure again: "
            f"{way(stale)}."
        )
    if unknown:
        which = "The tables" if unknown == several else f"Others ({ask(unknown)})"
        said.append(f"{which} were measured one by one, at the commits in the rows. {way(unknown)} does all.")
    return "\n\n".join(said)


def ask(several: list[Experiment]) -> str:
    """Return the questions of experiments."""
    return " ".join(one.question for one in several)


def way(several: list[Experiment]) -> str:
    """Return the command that runs experiments."""
    return f'`make evidence DATA=FOLDER ONLY="{" ".join(one.name for one in several)}"`'


def stamps(records: list[dict[str, Any]]) -> Any:
    """Return dates and commits as a table."""
    import pandas as pd

    return pd.DataFrame(records)[["date", "commit"]]


def write_pages() -> None:
    """Write on every page which of its tables are older than the code."""
    for page in PAGES:
        rewrite(DOCS / page, {"evidence": lambda page=page: describe(page)})
    rewrite(DOCS / MEASURING, {"experiments": table})
