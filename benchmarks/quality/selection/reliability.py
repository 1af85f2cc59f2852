"""Whether AutoCut knows how sure it is, with few labels of every class, and PoissonMBO beside it.

    python -m benchmarks.quality.selection.reliability --data FOLDER --sets development [--draws 2]

Accuracy is the share of unlabelled points in a cluster that is called, by most labels in it, as their class
is. A row holds it, the mean confidence of the same points, and, for each tenth of confidence, how many points
have it and how many of them are right. With `--version` and the source of another release on the path, the
rows are that release's.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from benchmarks import stored
from benchmarks.choices.choice_sets import load_sets
from benchmarks.page_tables import DOCS, short
from benchmarks.quality.selection.data import REPORTED, load
from sidecut import AutoCut, Constraints, PoissonMBO

STORED = stored.RESULTS / "quality" / "selection_reliability.csv"
KEYS = ["group", "data", "points", "per_class", "draw", "method", "version"]
PER_CLASS = (1, 2, 3, 5, 10)
HERE = "here"
PICTURE = DOCS / "images" / "autocut-reliability.svg"
#: A mean confidence this near to the accuracy of a set is as wished.
NEAR = 0.05


def sets(group: str, data: Path, n_points: int, draw: int) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield the sets of a group; those of the larger size that have so many points."""
    if group == "development":
        yield from load_sets(data, n_points)
        return
    for name in REPORTED:
        yield name, *load(name, draw, data, n_points)
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(draw).permutation(len(y))[:n_points]
    yield "digits", X[rows], y[rows]


def label(y: np.ndarray, per_class: int, draw: int) -> np.ndarray:
    """Return labels of so many points of every class, -1 elsewhere; at most half of a class."""
    order, labels = np.random.default_rng([draw, per_class]).permutation(len(y)), np.full(len(y), -1)
    for number in np.unique(y):
        members = order[y[order] == number]
        labels[members[: min(per_class, max(len(members) // 2, 1))]] = number
    return labels


def measure(X: Any, y: np.ndarray, labels: np.ndarray, method: str) -> dict[str, Any]:
    """Fit, and return accuracy, confidence, and the counts of the diagram."""
    k, known = int(y.max()) + 1, Constraints.from_labels(labels)
    model: Any = PoissonMBO(k, random_state=0)
    if method != "PoissonMBO":
        model = AutoCut(k if method == "AutoCut" else "auto", random_state=0)
    start = time.process_time()
    model.fit(X, constraints=known)
    spent = time.process_time() - start
    free, given = np.flatnonzero(labels < 0), np.flatnonzero(labels >= 0)
    counts = np.zeros((model.labels_.max() + 1, k))
    np.add.at(counts, (model.labels_[given], labels[given]), 1)
    right = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)[model.labels_[free]] == y[free]
    sure = model.confidence_[free]
    tenth = np.minimum((10 * sure).astype(int), 9)
    return {
        "accuracy": right.mean(),
        "confidence": sure.mean(),
        "found": len(np.unique(model.labels_)),
        "seconds": round(spent, 2),
        "have": " ".join(map(str, np.bincount(tenth, minlength=10))),
        "are_right": " ".join(map(str, np.bincount(tenth[right], minlength=10))),
    }


def summary() -> str:
    """Return how far the mean confidence is from the accuracy, for each group, method and release."""
    rows = pd.read_csv(STORED)
    by_set = rows.groupby(["group", "per_class", "method", "version", "data"])[["accuracy", "confidence"]]
    means = by_set.mean().reset_index()
    means["error"] = (means["confidence"] - means["accuracy"]).abs()
    lines = [
        "| sets | labels per class | | how many | accuracy | confidence | mean error | within .05 | most |"
        " measured |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (group, per_class, method, version), some in means.groupby(
        ["group", "per_class", "method", "version"]
    ):
        mine = rows.query(
            "group == @group and per_class == @per_class and method == @method and version == @version"
        )
        name = method if version == HERE else f"{method}, {version}"
        shown = [short(value, 2) for value in some[["accuracy", "confidence", "error"]].mean()]
        worst = some.loc[some["error"].idxmax()]
        lines.append(
            f"| {group} | {per_class} | {name} | {len(some)} | {' | '.join(shown)} | "
            f"{(some['error'] <= NEAR).mean():.0%} | {short(worst['error'], 2)} ({worst['data']}) | "
            f"{stored.measured(mine)} |".replace("%", " %")
        )
    return "\n".join(lines)


def shares(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return how many points have each tenth of confidence, and how many of them are right, by set alike."""
    have, right = (
        np.array([np.array(text.split(), dtype=float) for text in rows[name]])
        for name in ("have", "are_right")
    )
    total = have.sum(axis=1, keepdims=True)
    return (have / total).sum(axis=0), (right / total).sum(axis=0)


def draw_picture() -> None:
    """Draw the share of right points for each tenth of confidence: three labels per class or more."""
    from sidecut.plots.canvas import (
        cluster_styles,
        new_figure,
        text_colour,
    )  # other releases have no such names

    rows = pd.read_csv(STORED).query("method == 'AutoCut' and per_class >= 3")
    versions = [name for name in rows["version"].unique() if name != HERE] + [HERE]
    figure = new_figure(9.0, 3.8)
    for version, axes in zip(versions, figure.subplots(1, len(versions), squeeze=False)[0], strict=True):
        axes.plot([0.0, 1.0], [0.0, 1.0], color=text_colour(), linewidth=0.8, linestyle="--")
        mine = rows[rows["version"] == version]
        for group, (colour, _), marker in zip(
            ("development", "reported"), cluster_styles(2), "os", strict=True
        ):
            have, right = shares(mine[mine["group"] == group])
            is_met = have > 0.005 * have.sum()
            axes.plot(
                (np.arange(10) + 0.5)[is_met] / 10,
                (right / np.maximum(have, 1e-12))[is_met],
                color=colour,
                marker=marker,
                label=f"{group} sets",
            )
        axes.set_title("this release" if version == HERE else version)
        axes.set_xlabel("confidence, in tenths")
        axes.set_ylabel("share of points that are right")
        axes.legend(frameon=False)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.savefig(PICTURE)


def main() -> None:
    """Measure what is missing, and show the means."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", choices=("development", "reported"), required=True)
    parser.add_argument("--names", nargs="+", help="sets whose names begin so")
    parser.add_argument("--points", type=int, default=600)
    parser.add_argument("--least", type=int, default=0, help="sets of so many points alone")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--per-class", type=int, nargs="+", default=PER_CLASS)
    parser.add_argument("--methods", nargs="+", default=["AutoCut", "PoissonMBO"])
    parser.add_argument("--version", default=HERE)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--store", type=Path, default=STORED)
    options = parser.parse_args()
    end, rows = time.monotonic() + 60 * options.minutes, []
    for draw in range(options.draws):
        for name, X, y in sets(options.sets, options.data, options.points, draw):
            if len(y) < options.least or (options.names and not name.startswith(tuple(options.names))):
                continue
            for per_class in options.per_class:
                labels = label(y, per_class, draw)
                for method in options.methods if time.monotonic() < end else ():
                    about = dict(
                        zip(KEYS, (options.sets, name, len(y), per_class, draw, method), strict=False)
                    )
                    rows.append({**about, "version": options.version, **measure(X, y, labels, method)})
                    print(
                        {name: rows[-1][name] for name in (*KEYS[1:6], "accuracy", "confidence")}, flush=True
                    )
    stored.merge(rows, options.store, KEYS)
    if options.version == HERE and options.store == STORED:
        draw_picture()


if __name__ == "__main__":
    main()
