"""Draw the picture of docs/poisson.md: `python -m benchmarks.quality.few_labels.picture`.

Left, potentials of two labels on two moons; in the middle, uneven clusters that PoissonMBO finds without
being given sizes; right, accuracy against labels per class, from the stored results.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.datasets import make_blobs, make_moons

from benchmarks import stored
from sidecut import Constraints, PoissonLearning, PoissonMBO

TARGET = Path(__file__).parents[3] / "docs" / "images" / "few-labels.png"
COLOURS = np.array(["#1f6fb2", "#e8743b", "#3a9a5b"])
#: The methods of the right-hand picture, in their colours.
SHOWN = {
    "PoissonMBO, sizes given": "#3a9a5b",
    "PoissonMBO": "#1f6fb2",
    "PoissonLearning": "#e8743b",
    "LabelSpreading .99": "0.45",
    "CSP": "0.7",
}


def draw_potentials(ax: Axes) -> None:
    """Two moons, one label each, coloured by the difference of the two potentials."""
    X, y = make_moons(400, noise=0.06, random_state=0)
    known = np.full(len(y), -1)
    first = [int(np.flatnonzero(y == c)[0]) for c in range(2)]
    known[first] = y[first]
    model = PoissonLearning(2, n_neighbors=10, safe=False).fit(X, constraints=Constraints.from_labels(known))
    potential = model.embedding_[:, 0] - model.embedding_[:, 1]
    # Potentials have a peak at their label: ranks show the rest.
    side = np.sign(potential) * (0.3 + 0.7 * np.abs(potential).argsort().argsort() / len(potential))
    ax.scatter(*X.T, c=side, cmap="RdBu", s=12)
    ax.scatter(*X[first].T, c="black", marker="*", s=160)
    ax.set_title("two labels as charges, and their potential", fontsize=11)
    ax.axis("off")


def draw_sizes(ax: Axes) -> None:
    """Uneven clusters that touch, three labels each, as PoissonMBO finds them without sizes."""
    X, y = make_blobs([400, 90, 60], centers=[[0, 0], [4.6, 0], [0, 4.6]], cluster_std=1.1, random_state=0)
    known = np.full(len(y), -1)
    first = np.concatenate([np.flatnonzero(y == c)[:3] for c in range(3)])
    known[first] = y[first]
    model = PoissonMBO(3).fit(X, constraints=Constraints.from_labels(known))
    ax.scatter(*X.T, c=COLOURS[model.labels_], s=12)
    ax.scatter(*X[first].T, c="black", marker="*", s=160)
    sizes = ", ".join(map(str, model.sizes_))
    ax.set_title(f"sizes found: {sizes} (true: 400, 90, 60)", fontsize=11)
    ax.axis("off")


def draw_accuracy(ax: Axes, data: str = "mnist") -> None:
    """Accuracy against labels per class."""
    rows = pd.read_csv(stored.RESULTS / "quality" / "few_labels.csv")
    rows = rows[(rows.experiment == "labels") & (rows.data == data)]
    amounts = np.unique(rows.amount)
    for method, colour in SHOWN.items():
        means = rows[rows.method == method].groupby("amount").accuracy.mean()
        places = np.searchsorted(amounts, means.index)
        ax.plot(places, means.to_numpy(), "o-", color=colour, label=method)
    ax.set_xticks(range(len(amounts)), amounts)
    ax.set(xlabel="labels per class", ylabel="accuracy on unlabelled points")
    ax.set_title(f"{data.upper()}, 70,000 digits", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)


def main() -> None:
    """Draw all three."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8))
    draw_potentials(axes[0])
    draw_sizes(axes[1])
    draw_accuracy(axes[2])
    figure.tight_layout()
    figure.savefig(TARGET, dpi=90)


if __name__ == "__main__":
    main()
