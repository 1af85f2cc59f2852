"""Draw the pictures that the README and the first pages show: `python docs/draw_pictures.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.preprocessing import StandardScaler

from sidecut import AutoCut, Constraints, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.labelling import satisfy_links
from sidecut.plots import (
    align_clusters,
    plot_before_after,
    plot_embedding,
    plot_n_clusters,
    plot_update,
    project_for_picture,
)
from sidecut.plots.canvas import cluster_styles

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


def draw_lasting() -> None:
    """One picture for each idea of "Clusters that last": update, corrections, groups, stream, number."""
    centres = np.array([[0, 0], [7, 0], [0, 7], [6, 6]])
    X, _ = make_blobs([150, 150, 150], centers=centres[:3], cluster_std=1.2, random_state=0)
    new, _ = make_blobs([10, 10, 10, 30], centers=centres, cluster_std=1.2, random_state=1)
    model = NormalizedCut(3, random_state=0).fit(X)
    before, everything = model.labels_.copy(), np.vstack([X, new])
    after = model.update(new).labels_.copy()
    axes = plot_update(everything, before, after, doubtful=model.changes_.points("doubtful"))
    _save(axes[0].figure, "lasting-update")

    fixes = model.corrections().split(1).merge(0, 2).name(3, "Ann")
    model.apply(fixes)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5))
    plot_embedding(everything, after, ax=left, title="Before")
    plot_embedding(everything, model.labels_, ax=right, title="Split, merged, named", names=fixes.names)
    _save(figure, "lasting-corrections")

    rng = np.random.default_rng(0)
    crowd, y = make_blobs([60, 60, 60], centers=[[0, 0], [2.5, 0], [1.2, 2.2]], random_state=3)
    photo = np.empty(180, dtype=int)
    for c in range(3):
        photo[y == c] = rng.permutation(60)
    apart = Constraints.from_groups(photo, apart=True)
    cut = NormalizedCut(3, random_state=0).fit(crowd)
    kept = satisfy_links(cut.labels_, crowd, apart, 3)[0]
    figure, axes = plt.subplots(1, 2, figsize=(11, 5))
    for ax, labels, title in zip(
        axes, (cut.labels_, kept), ("Nothing known", "Apart in each photograph"), strict=True
    ):
        plot_embedding(crowd, labels, ax=ax, title=title)
        for number in range(5):
            some = np.flatnonzero(photo == number)
            ends = np.vstack([crowd[some], crowd[some[:1]]])
            ax.plot(*ends.T, color="0.25", linewidth=1.0, zorder=3)
    _save(figure, "lasting-groups")

    stream = NormalizedCut(3, random_state=0).fit(X).stream(n_kept=200)
    seen, sizes = [stream.n_seen_], [np.append(stream.sizes_, 0)]
    for day in range(1, 11):
        counts = [40, 25, 15] if day < 5 else [40, 25, 15, 20]
        stream.partial_fit(make_blobs(counts, centers=centres[: len(counts)], random_state=day)[0])
        seen.append(stream.n_seen_)
        sizes.append(np.pad(stream.sizes_, (0, 4 - len(stream.sizes_))))
    figure, ax = plt.subplots(figsize=(9, 3.4))
    colours = [style[0] for style in cluster_styles(4)]
    ax.stackplot(range(11), np.array(sizes).T, colors=colours, labels=[f"cluster {c}" for c in range(4)])
    ax.axhline(stream.n_stored, color="white", linewidth=1.5, linestyle="--")
    ax.text(9.8, stream.n_stored + 20, f"{stream.n_stored} rows are kept", ha="right", color="white")
    ax.set(xlabel="day", ylabel="rows that have come", xlim=(0, 10))
    ax.legend(loc="upper left", frameon=False)
    _save(figure, "lasting-stream")

    groups, _ = make_blobs(
        500, centers=[[0, 0], [4, 0], [14, 0], [18, 0], [9, 12]], cluster_std=0.8, random_state=0
    )
    model = AutoCut((2, 8), random_state=0).fit(groups)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
    plot_embedding(groups, model.labels_, ax=left, title="Two to eight were allowed")
    plot_n_clusters(model.n_clusters_curve_, ax=right)
    _save(figure, "lasting-number")


def _save(figure, name: str) -> None:
    figure.tight_layout()
    figure.savefig(FOLDER / f"{name}.png", dpi=80)


if __name__ == "__main__":
    draw_moons()
    draw_wine()
    draw_lasting()
