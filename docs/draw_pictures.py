"""Draw the pictures that the README and the first pages show: `python docs/draw_pictures.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine, make_moons
from sklearn.preprocessing import StandardScaler

from sidecut import AutoCut, Constraints, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.plots import align_clusters, plot_before_after, project_for_picture

FOLDER = Path(__file__).parent / "_static"
COLOURS = np.array(["#1f6fb2", "#e8743b"])


def draw_moons() -> None:
    """Two moons: what a spectral cut makes of them, ten labels, and what they make of the cut."""
    X, y = make_moons(400, noise=0.1, random_state=0)
    known = sample_labels(y, 10, random_state=0)
    seen = known.constrained_points
    before = align_clusters(NormalizedCut(n_clusters=2, random_state=0).fit_predict(X), y)
    after = align_clusters(AutoCut(n_clusters=2, random_state=0).fit(X, constraints=known).labels_, y)
    scores = [adjusted_rand_index(y, labels, constraints=known) for labels in (before, after)]
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.5))
    axes[1].scatter(*X.T, c="0.82", s=14)
    for ax, labels in zip(axes[::2], (before, after), strict=True):
        ax.scatter(*X.T, c=COLOURS[labels], s=14)
    axes[1].scatter(*X[seen].T, c=COLOURS[y[seen]], s=110, edgecolors="white", linewidths=1.5)
    titles = (
        f"spectral clustering: {scores[0]:.2f}",
        "what you know: 10 labels",
        f"sidecut: {scores[1]:.2f}",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=15, color="0.25")
        ax.axis("off")
    figure.tight_layout()
    figure.savefig(FOLDER / "moons.png", dpi=100)


def draw_wine() -> None:
    """The picture at the end of "Getting started", by the lines of that page."""
    X = load_wine(as_frame=True).data
    known = np.full(len(X), None, dtype=object)
    for name, rows in (
        ("Barolo", slice(0, 49, 12)),
        ("Grignolino", slice(60, 117, 14)),
        ("Barbera", slice(131, 176, 11)),
    ):
        known[rows] = name
    constraints = Constraints.from_labels(known)
    after = AutoCut(random_state=0).fit(X, constraints=constraints)
    before = NormalizedCut(n_clusters=3, random_state=0).fit(X)
    flat = project_for_picture(StandardScaler().fit_transform(X))
    left, _ = plot_before_after(flat, before.labels_, after.labels_, constraints)
    left.figure.savefig(FOLDER / "wine.png", dpi=90)


if __name__ == "__main__":
    draw_moons()
    draw_wine()
