"""What else one would use, beside sidecut: `python -m benchmarks.quality.alternatives --data FOLDER`.

A classifier, label propagation and HDBSCAN. All are told the same labels. The others run with many settings,
and the best one of each set and amount of knowledge is taken in hindsight, which nobody can do who does not
know the answer. AutoCut chooses by itself.
Measured is the adjusted Rand index on points whose label was not told. Samples of 600 points; no constant of
AutoCut was set on these sets. Means over the draws are stored beside this file.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.alternatives.rivals import CLUSTERERS, RIVALS, fit_without_labels
from benchmarks.quality.selection.data import load
from benchmarks.stored import RESULTS, stamp
from sidecut import E2CP, AutoCut, Constraints, PoissonLearning

STORED = RESULTS / "quality" / "alternatives.csv"
SETS = ("glass", "letter", "mnist", "pendigits", "scene8_features", "segment", "usps")
KNOWLEDGE = ("two per class", "1 %", "5 %", "20 %", "5 %, one class never named")
FAMILIES = ("AutoCut", "sidecut, best of two", "classifier", "label propagation", "HDBSCAN", "k-means")


def main() -> None:
    """Run all sets and draws, store the means and show the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument(
        "--ours", action="store_true", help="measure only sidecut again, with the draws that are stored"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.ours:
        measure_ours(arguments.data)
        show(read_means())
        return
    rows = []
    for draw in range(arguments.draws):
        for name in SETS:
            X, y = load(name, draw, arguments.data)
            rows += [{"set": name, **row} for row in measure(X, y, draw)]
            print(draw, name, flush=True)
        store(pd.DataFrame(rows), draw + 1)
    show(read_means())


def measure(X: Any, y: np.ndarray, draw: int) -> list[dict[str, Any]]:
    """Every family and setting on one sample, with every amount of knowledge."""
    views = two_views(X)
    alone = [
        (family, f"{setting}, {view}", fit_without_labels(model, data))
        for family, settings in CLUSTERERS.items()
        for view, data in views.items()
        for setting, model in settings(len(set(y))).items()
    ]
    rows = []
    for known in KNOWLEDGE:
        told = choose_labels(y, known, draw)
        answers = alone + list(answer(X, views, told, len(set(y))))
        unseen = told < 0
        rows += [
            {"known": known, "family": f, "setting": s, "ari": adjusted_rand_score(y[unseen], labels[unseen])}
            for f, s, labels in answers
        ]
    return rows


def measure_ours(data: Path) -> None:
    """Measure sidecut again on the stored draws; what others answered does not depend on our code."""
    stored = pd.read_csv(STORED, index_col=["set", "known", "draws"])
    for name, known, n_draws in stored.index:
        found: dict[str, list[float]] = {}
        for draw in range(n_draws):
            X, y = load(name, draw, data)
            told = choose_labels(y, known, draw)
            for family, setting, labels in answer_ours(X, two_views(X), told, len(set(y))):
                score = adjusted_rand_score(y[told < 0], labels[told < 0])
                found.setdefault(f"{family}: {setting}", []).append(score)
        for method, scores in found.items():
            stored.loc[(name, known, n_draws), method] = np.mean(scores).round(3)
        print(name, known, flush=True)
    stored.assign(**stamp()).to_csv(STORED)


def two_views(X: Any) -> dict[str, Any]:
    """The features as they are, and scaled."""
    X = np.asarray(X, dtype=float).reshape(len(X), -1)
    return {"as given": X, "scaled": (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)}


def choose_labels(y: np.ndarray, known: str, draw: int) -> np.ndarray:
    """The labels that are told, -1 elsewhere; at least two classes are among them."""
    rng = np.random.default_rng([draw, KNOWLEDGE.index(known)])
    told = np.full(len(y), -1)
    allowed = y != rng.integers(y.max() + 1) if "never" in known else np.ones(len(y), dtype=bool)
    if known == "two per class":
        seen = np.concatenate(
            [rng.choice(np.flatnonzero(y == c), 2, replace=False) for c in range(y.max() + 1)]
        )
    else:
        share = int(known.split(" ")[0]) / 100
        seen = rng.permutation(np.flatnonzero(allowed))[: round(share * len(y))]
    if len(set(y[seen])) == 1:
        seen[0] = np.flatnonzero(allowed & (y != y[seen[0]]))[0]
    told[seen] = y[seen]
    return told


def answer(X: Any, views: dict[str, Any], told: np.ndarray, n_clusters: int) -> Any:
    """Yield family, setting and labels of everything that is told something."""
    yield from answer_ours(X, views, told, n_clusters)
    for view, data in views.items():
        for family, settings in RIVALS.items():
            for setting, model in settings().items():
                yield family, f"{setting}, {view}", model(data, told)


def answer_ours(X: Any, views: dict[str, Any], told: np.ndarray, n_clusters: int) -> Any:
    """Yield family, setting and labels of sidecut's methods."""
    known = Constraints.from_labels(told)
    yield "AutoCut", "", AutoCut(n_clusters=n_clusters, random_state=0).fit(X, constraints=known).labels_
    for view, data in views.items():
        for method in (E2CP, PoissonLearning):
            model = method(n_clusters=n_clusters, random_state=0).fit(data, constraints=known)
            yield "sidecut, best of two", f"{method.__name__}, {view}", model.labels_


def store(rows: pd.DataFrame, n_draws: int) -> None:
    """Write the means over the draws: a line for every set and knowledge, a column for every setting."""
    rows = rows.assign(method=rows.family + ": " + rows.setting, draws=n_draws)
    table = rows.pivot_table(index=["set", "known", "draws"], columns="method", values="ari").round(3)
    table.assign(**stamp()).to_csv(STORED)


def read_means() -> pd.DataFrame:
    """Return the stored means, a line for each score."""
    means = pd.read_csv(STORED).drop(columns=["date", "commit"])
    means = means.melt(["set", "known", "draws"], var_name="method", value_name="ari")
    return means.assign(family=means.method.str.split(": ").str[0])


def best_in_hindsight(means: pd.DataFrame) -> pd.DataFrame:
    """The score of each family's best setting, by set and knowledge in rows and by family in columns."""
    best = means.groupby(["set", "known", "family"]).ari.max().reset_index()
    return best.pivot_table(index=["set", "known"], columns="family", values="ari")[list(FAMILIES)]


def as_markdown(means: pd.DataFrame, by: str, names: tuple[str, ...]) -> str:
    """The table of the page, by knowledge or by set."""
    table = best_in_hindsight(means).groupby(by).mean().T[list(names)]
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for family, row in table.iterrows():
        lines.append(f"| {family} | " + " | ".join(f"{value:.2f}".lstrip("0") for value in row) + " |")
    return "\n".join(lines)


def show(means: pd.DataFrame) -> None:
    """Print the tables of the page, and how often AutoCut is below each of the others."""
    print(as_markdown(means, "known", KNOWLEDGE))
    print(as_markdown(means, "set", SETS))
    cells = best_in_hindsight(means)
    for family in FAMILIES[2:]:
        print(
            f"AutoCut below {family} by more than .02 in {np.mean(cells.AutoCut < cells[family] - 0.02):.0%}"
        )


if __name__ == "__main__":
    main()
