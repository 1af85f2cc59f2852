"""The picture of a whole dialogue, docs/images/dialogue.svg: `python -m benchmarks.quality.active.picture`.

Two moons of 200 points, no number of clusters given, answers by the true classes. Above: the clusters before
the first answer and after 4, 10 and 20; solid lines are pairs said to be together, dashed ones apart. Below:
what each answer changed, and the adjusted Rand index after it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut.active import ActiveClustering
from sidecut.plots import align_clusters, plot_dialogue
from sidecut.plots.canvas import CANNOT, cluster_styles, new_figure, text_colour

PICTURE = Path(__file__).parents[3] / "docs" / "images" / "dialogue.svg"
SHOWN = (0, 4, 10, 20)


def talk(X: Any, y: Any, n_answers: int) -> ActiveClustering:
    """Ask so many questions, answered by the classes."""
    run = ActiveClustering(random_state=0).start(X)
    for _ in range(n_answers):
        question = run.question()
        run.answer(y[question.i] == y[question.j])
    return run


def draw_clusters(ax: Any, X: Any, labels: Any, answers: list[Any], title: str) -> None:
    """Draw the clusters, and a line for every answer."""
    for cluster, (colour, marker) in enumerate(cluster_styles(int(labels.max()) + 1)):
        here = labels == cluster
        ax.scatter(X[here, 0], X[here, 1], c=colour, marker=marker, s=9, linewidths=0)
    for answer in answers:
        ends = X[[answer.i, answer.j]]
        color, style = (text_colour(), "-") if answer.same else (CANNOT, "--")
        ax.plot(ends[:, 0], ends[:, 1], linewidth=1.1, color=color, linestyle=style)
    ax.set_title(title, fontsize="medium")
    ax.set_axis_off()


def main() -> None:
    X, y = make_moons(200, noise=0.13, random_state=3)
    run = talk(X, y, max(SHOWN))
    labels = list(run.replay())
    scores = [adjusted_rand_score(y, found) for found in labels]
    figure = new_figure(10.0, 5.4)
    grid = figure.add_gridspec(2, len(SHOWN), height_ratios=(1.0, 1.1))
    for place, count in enumerate(SHOWN):
        drawn = align_clusters(labels[count], np.asarray(y))
        words = f"after {count} answers:\n{labels[count].max() + 1} groups, ARI {scores[count]:.2f}"
        draw_clusters(figure.add_subplot(grid[0, place]), X, drawn, run.history_[:count], words)
    plot_dialogue(run.history_, scores, figure.add_subplot(grid[1, :]))
    figure.savefig(PICTURE)
    print([round(score, 3) for score in scores])


if __name__ == "__main__":
    main()
