"""How long a new user waits for an answer, and how right it is: `python -m benchmarks.code.uses`.

For each use the commands are run as a person would type them, the first one before it is known what the
table needs. Seconds are processor seconds of the commands, so that what else the machine does is not
counted. "Right" is the share of the points without a label that are in the cluster of their class, "sure"
their mean confidence; of a picture, "right" is the share of its marks that are kept, of records F of the
pairs said to be one, of a figure the share of its values within .01 of those that are stored.
`--only WORDS` measures some uses, `--table` writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits, load_sample_image, load_wine

import sidecut
from benchmarks import page_tables, stored
from benchmarks.quality.integrations.cells import make_cells
from benchmarks.quality.integrations.records import as_edges, make_pairs, scores
from sidecut.evaluation import clustering_accuracy

STORED = stored.RESULTS / "code" / "uses.csv"
PAGE = page_tables.DOCS / "lab" / "measuring.md"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(sidecut.__file__).parents[1])}
SAID = re.compile(r"All that this table seems to need: (.*)\.")


def spent() -> float:
    """Return the processor seconds of the programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spend(words: list[str], folder: Path, typed: str = "") -> tuple[float, str, str]:
    """Run a program, and return its processor seconds, what it printed and what it complained of."""
    before = spent()
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, env=ENVIRONMENT, input=typed
    )
    seconds = spent() - before
    return seconds, done.stdout, done.stderr


def with_advice(command: str, folder: Path) -> tuple[float, int]:
    """Run a command, and again with the options that its refusal proposes; return seconds and runs."""
    seconds, _, complaint = spend(["-m", "sidecut", *shlex.split(command)], folder)
    advice = SAID.search(complaint)
    if advice is None:
        return seconds, 1
    more, _, again = spend(["-m", "sidecut", *shlex.split(f"{command} {advice[1]}")], folder)
    if "error" in again:
        raise RuntimeError(again)
    return seconds + more, 2


def judge(path: Path, truth: np.ndarray, known: np.ndarray) -> dict[str, float]:
    """Return the share of points without a label that are right in a file of labels, and their confidence."""
    found = pd.read_csv(path, dtype={"class": str})[~known]
    right, sure = (found["class"] == truth[~known]).mean(), found["confidence"].mean()
    return {"right": float(right), "sure": float(sure)}


def judge_arrays(folder: Path, truth: np.ndarray, known: np.ndarray) -> dict[str, float]:
    """Return the same of what lines of Python wrote."""
    right, sure = np.load(folder / "found.npy") == truth, np.load(folder / "sure.npy")
    return {"right": float(right[~known].mean()), "sure": float(sure[~known].mean())}


def choose_known(truth: np.ndarray, each: int, seed: int) -> np.ndarray:
    """Return which points have a label: some of each class, drawn at random."""
    known = np.zeros(len(truth), dtype=bool)
    rng = np.random.default_rng(seed)
    for name in np.unique(truth):
        known[rng.choice(np.flatnonzero(truth == name), each, replace=False)] = True
    return known


def run_program(program: str, folder: Path) -> float:
    """Run lines of Python that write what they find; return the processor seconds."""
    seconds, _, complaint = spend(["-c", program], folder)
    if not (folder / "found.npy").exists():
        raise RuntimeError(complaint)
    return seconds


def in_a_notebook(folder: Path, seed: int) -> dict[str, object]:
    """Digits as embeddings with 20 labels."""
    X, y = load_digits(return_X_y=True)
    known = choose_known(y, 2, seed)
    np.savez(folder / "digits.npz", X=X, labels=np.where(known, y, -1))
    program = (
        "import numpy as np; from sidecut import AutoCut; d = np.load('digits.npz'); "
        "m = AutoCut(random_state=0).fit(d['X'], constraints=d['labels']); "
        "np.save('found.npy', [m.cluster_classes_.get(c, -1) for c in m.labels_]); "
        "np.save('sure.npy', m.confidence_)"
    )
    seconds = run_program(program, folder)
    return {"runs": 1, "seconds": seconds, **judge_arrays(folder, y, known)}


def own_graph(folder: Path, seed: int) -> dict[str, object]:
    """CSP as its paper prints it, in two clusters, on a graph of one's own: two kinds of wine."""
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    known = choose_known(y, 5, seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.savez(folder / "graph.npz", W=np.exp(-distances / X.shape[1]), labels=np.where(known, y, -1))
    program = (
        "import numpy as np; from sidecut import CSP, Constraints; d = np.load('graph.npz'); "
        "m = CSP.as_published(2, affinity='precomputed', beta='one', random_state=0); "
        "m.fit(d['W'], constraints=Constraints.from_labels(d['labels'])); np.save('found.npy', m.labels_)"
    )
    seconds = run_program(program, folder)
    found = np.load(folder / "found.npy")
    return {"runs": 1, "seconds": seconds, "right": clustering_accuracy(y[~known], found[~known])}


def cells(folder: Path, seed: int) -> dict[str, object]:
    """Three thousand made-up cells with a graph, one in ten known."""
    adata = make_cells(1.3, seed)
    truth, known = adata.obs["truth"].astype(str).to_numpy(), adata.obs["known"].notna().to_numpy()
    adata.write_h5ad(folder / "cells.h5ad")
    program = (
        "import anndata, numpy as np; from sidecut.integrations import anndata as cells; "
        "a = anndata.read_h5ad('cells.h5ad'); cells.cluster(a, labels='known'); "
        "np.save('found.npy', a.obs['sidecut'].to_numpy(str)); "
        "np.save('sure.npy', a.obs['sidecut_confidence'].to_numpy())"
    )
    seconds = run_program(program, folder)
    return {"runs": 1, "seconds": seconds, **judge_arrays(folder, truth, known)}


def compared_records(folder: Path, seed: int) -> dict[str, object]:
    """Compared pairs of 12,000 made-up records of 3,000 entities."""
    entity, pairs, probability = make_pairs(3000, 0.95, 1.0, seed)
    as_edges(pairs, probability).to_parquet(folder / "pairs.parquet")
    program = (
        "import numpy as np, pandas as pd; from sidecut.integrations import cluster_records; "
        f"t = cluster_records(pd.read_parquet('pairs.parquet'), records=np.arange({len(entity)})); "
        "np.save('found.npy', t['cluster_id'].to_numpy())"
    )
    seconds = run_program(program, folder)
    return {"runs": 1, "seconds": seconds, "right": scores(entity, np.load(folder / "found.npy"))["F"]}


def clean_table(folder: Path, seed: int) -> dict[str, object]:
    """Wines with names and 18 labels in a column."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    truth = np.array(["Barolo", "Grignolino", "Barbera"])[y]
    known = choose_known(truth, 6, seed)
    X.insert(0, "bottle", [f"B-{row:03}" for row in range(len(X))])
    X.assign(kind=np.where(known, truth, "")).to_csv(folder / "wine.csv", index=False)
    seconds, runs = with_advice("cluster wine.csv -o labels.csv", folder)
    return {"runs": runs, "seconds": seconds, **judge(folder / "labels.csv", truth, known)}


def german_table(folder: Path, seed: int) -> dict[str, object]:
    """Four hundred made-up customers: decimal commas, percent, gaps, dates, and a region of no meaning."""
    rng, n = np.random.default_rng(seed), 400
    names = np.array(["Gelegenheit", "Gewerbe", "Privat", "Wiederverkauf"])
    kind = rng.integers(0, 4, n)
    truth, known = names[kind], choose_known(names[kind], 6, seed)
    turnover = np.exp(np.array([5.0, 7.5, 5.5, 9.5])[kind] + 0.35 * rng.normal(size=n))
    discount = np.clip(np.array([25.0, 6.0, 2.0, 12.0])[kind] + 2 * rng.normal(size=n), 0, None)
    table = pd.DataFrame(
        {
            "Kundennr": np.arange(7_000_000, 7_000_000 + 3 * n, 3),
            "Umsatz (€)": [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in turnover],
            "Bestellungen": rng.poisson(np.array([12, 20, 4, 60])[kind]),
            "Rabatt": [f"{value:.1f} %".replace(".", ",") for value in discount],
            "Region": rng.choice(["Nord", "Ost", "Süd", "West"], n),
            "Erstbestellung": (
                pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1800, n), unit="D")
            ).strftime("%d.%m.%Y"),
            "Typ": np.where(known, truth, ""),
        }
    )
    table.loc[rng.choice(n, 14, replace=False), "Rabatt"] = ""
    table.to_csv(folder / "kunden.csv", sep=";", index=False, encoding="cp1252")
    seconds, runs = with_advice("cluster kunden.csv -o labels.csv", folder)
    return {"runs": runs, "seconds": seconds, **judge(folder / "labels.csv", truth, known)}


def first_question(folder: Path, seed: int) -> dict[str, object]:
    """The first question about wines, at a terminal."""
    X, _ = load_wine(return_X_y=True, as_frame=True)
    X.to_csv(folder / "wine.csv", index=False)
    words = ["-m", "sidecut", "ask", "wine.csv", "-o", "labels.csv"]
    seconds, said, complaint = spend(words, folder, "q\n")
    if "together" not in said:
        raise RuntimeError(complaint)
    return {"runs": 1, "seconds": seconds, "right": float("nan")}


def twenty_answers(folder: Path, seed: int) -> dict[str, object]:
    """Twenty answers at a terminal about wines in three groups."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    kind = {f"B-{row:03}": kind for row, kind in enumerate(y)}
    X.insert(0, "bottle", list(kind))
    X.to_csv(folder / "wine.csv", index=False)
    words = f"-m sidecut ask wine.csv --id-column bottle --clusters 3 --seed {seed} -o labels.csv".split()
    before = spent()
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=ENVIRONMENT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as program:
        for _ in range(20):
            shown = read_until(program.stdout, "q(uit): ")
            left, right = re.findall(r"(B-\d{3}) +(B-\d{3})", shown)[-1]
            program.stdin.write("y\n" if kind[left] == kind[right] else "n\n")
            program.stdin.flush()
        program.communicate("q\n")
    seconds = spent() - before
    found = pd.read_csv(folder / "labels.csv")["label"]
    return {"runs": 1, "seconds": seconds, "right": clustering_accuracy(y, found)}


def read_until(stream: IO[str], end: str) -> str:
    """Return what a program writes, up to the words with which it waits for an answer."""
    said = ""
    while not said.endswith(end):
        more = stream.read(1)
        if not more:
            raise RuntimeError(f"the program ended: {said[-500:]}")
        said += more
    return said


def studio(folder: Path, seed: int) -> dict[str, object]:
    """Twenty answers to the studio about wines in three groups, by its interface for programs."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.to_csv(folder / "wine.csv", index=False)
    words = ["-m", "sidecut", "studio", "wine.csv", "--clusters", "3", "--no-browser"]
    before = spent()
    with subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE
    ) as server:
        address = re.findall(r"http://\S+", read_until(server.stdout, "/\n"))[0]
        state = request(address, "brief")
        for _ in range(20):
            left, right = (int(point["name"]) for point in state["question"]["points"])
            state = request(address, "answer", step=state["step"], said=bool(y[left] == y[right]), brief=True)
        found = np.empty(len(y), dtype=int)
        for one in state["clusters"]:
            members = request(address, "members", cluster=one["cluster"], n=one["size"])
            found[[member["point"] for member in members]] = one["cluster"]
        server.terminate()
    seconds = spent() - before
    return {"runs": 1, "seconds": seconds, "right": clustering_accuracy(y, found)}


def topics(folder: Path, seed: int) -> dict[str, object]:
    """BERTopic's clusterer on vectors; these are digits, since texts would need a model of language."""
    X, y = load_digits(return_X_y=True)
    known = choose_known(y, 4, seed)
    np.savez(folder / "vectors.npz", X=X, labels=np.where(known, y, -1))
    program = (
        "import numpy as np; from sidecut.integrations.bertopic import TopicClusterer; "
        "d = np.load('vectors.npz'); m = TopicClusterer().fit(d['X'], d['labels']); "
        "np.save('found.npy', [m.names_.get(c, -1) for c in m.labels_]); "
        "np.save('sure.npy', m.probabilities_)"
    )
    seconds = run_program(program, folder)
    return {"runs": 1, "seconds": seconds, **judge_arrays(folder, y, known)}


def figure(folder: Path, seed: int) -> dict[str, object]:
    """A figure of a paper, with all its draws; right is the share of its values within .01 of the page's."""
    name = "ncsc-fig1-iris"
    words = ["-m", "benchmarks.papers", "--only", name, "--results", str(folder)]
    root = str(Path(__file__).parents[2])
    before = spent()
    subprocess.run([sys.executable, *words], cwd=root, capture_output=True, check=True)
    seconds = spent() - before
    new, old = (pd.read_csv(where / "ncsc.csv") for where in (folder, stored.RESULTS / "papers"))
    both = new.merge(old, how="left", on=["experiment", "method", "setting", "size"])
    same = (both["ari_mean_x"] - both["ari_mean_y"]).abs() < 0.01
    return {"runs": 1, "seconds": seconds, "right": float(same.mean())}


def request(address: str, do: str, **values: Any) -> Any:
    """Send a request to the studio, and return its reply."""
    body = json.dumps({"do": do, **values}).encode()
    with urlopen(Request(address + "api", body, {"Content-Type": "application/json"})) as reply:
        return json.load(reply)["reply"]


def photograph(folder: Path, seed: int) -> dict[str, object]:
    """The flower of scikit-learn, 640 by 427 pixels, cut out by two boxes."""
    Image.fromarray(load_sample_image("flower.jpg")).save(folder / "flower.png")
    boxes = "--box flower,200,250,60,100 --box ground,20,20,60,100"
    command = f"-m sidecut segment flower.png {boxes} -o cut.png --labels labels.npy"
    seconds, _, _ = spend(command.split(), folder)
    labels = np.load(folder / "labels.npy")
    kept = (labels[200:260, 250:350] == 0).mean() / 2 + (labels[20:80, 20:120] == 1).mean() / 2
    return {"runs": 1, "seconds": seconds, "right": float(kept)}


USES: dict[str, Callable[[Path, int], dict[str, object]]] = {
    "embeddings and 20 labels in a notebook": in_a_notebook,
    "a clean table with 18 labels": clean_table,
    "a German table with 24 labels": german_table,
    "the first question of `ask`": first_question,
    "twenty answers to `ask`": twenty_answers,
    "CSP as published, in two clusters, on a graph of one's own": own_graph,
    "3,000 made-up cells with a graph, one in ten known": cells,
    "compared pairs of 12,000 made-up records": compared_records,
    "a photograph with two boxes": photograph,
    "the studio, and twenty answers": studio,
    "1,797 texts as vectors, one in fifty with a topic": topics,
    "a figure of a paper: NCSC on iris, figure 1": figure,
}


def make_table() -> str:
    """Return the table of the page: the mean over draws."""
    rows = pd.read_csv(STORED)
    lines = [
        "| use | commands | processor seconds | right | sure | date | commit |",
        "|---|---|---|---|---|---|---|",
    ]
    for use in USES:
        own = rows[rows["use"] == use]
        shares = [page_tables.short(float(own[name].mean()), 2) for name in ("right", "sure")]
        facts = (use, f"{own['runs'].mean():g}", f"{own['seconds'].mean():.1f}", *shares)
        lines.append(f"| {' | '.join(facts)} | {own['date'].iloc[-1]} | {own['commit'].iloc[-1]} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.code.uses", description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", default="", help="measure the uses whose name has this")
    parser.add_argument("--table", action="store_true", help="only write the page again")
    asked = parser.parse_args()
    if not asked.table:
        rows = []
        uses = {use: run for use, run in USES.items() if asked.only in use}
        for use, run in uses.items():
            for seed in range(asked.draws):
                with tempfile.TemporaryDirectory() as name:
                    rows.append({"use": use, "draw": seed, **run(Path(name), seed)})
                print(rows[-1], flush=True)
        stored.merge(rows, STORED, ["use", "draw"])
    page_tables.rewrite(PAGE, {"uses": make_table})


if __name__ == "__main__":
    main()
