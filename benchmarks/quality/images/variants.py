"""Constants of the cut one by one, on the pictures they were set on.

    python -m benchmarks.quality.images.variants --data FOLDER [--only base "regions of 45 pixels"]

Every variant changes one constant of `sidecut.images` and cuts the pictures of `bundled_scenes` and the two
of `SEEN` with seven kinds of marks, draw 0. Prints the mean IoU, how far it is from that of the
constants as they are, and the standard error of this difference over the scenes. Means by scene go to
images_variants.csv. images_berkeley_45.csv has regions of 45 pixels on the reported pictures.
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.quality.images.__main__ import RESULTS
from benchmarks.quality.images.marks import KINDS, draw_marks
from benchmarks.quality.images.pictures import BERKELEY, SEEN, Scene, berkeley_scenes, bundled_scenes
from benchmarks.quality.images.scores import mean_iou
from sidecut.images import segment

DRAWS = (0,)
FILE = "images_variants.csv"
#: What is changed: module, constant, value.
VARIANTS: dict[str, list[tuple[str, str, float]]] = {
    "base": [],
    "regions of 45 pixels": [
        ("region_graph", "PIXELS_PER_REGION", 45),
        ("region_graph", "MAX_REGIONS", 8_000),
    ],
    "regions of 30 pixels": [
        ("region_graph", "PIXELS_PER_REGION", 30),
        ("region_graph", "MAX_REGIONS", 12_000),
    ],
    "looks count half": [("marked_cut", "LOOK_WEIGHT", 1.0)],
    "looks do not count": [("marked_cut", "LOOK_WEIGHT", 0.0)],
    "barriers count 2.5 times": [("marked_cut", "BARRIER_WEIGHT", 1.5)],
    "pixels: colours count 3 times": [("marked_cut", "COLOR_PRIOR_WEIGHT", 1.0)],
}


@contextmanager
def changed(constants: list[tuple[str, str, float]]) -> Iterator[None]:
    """Set constants for a while."""
    modules = [importlib.import_module(f"sidecut.images.{module}") for module, _, _ in constants]
    before = [getattr(module, name) for module, (_, name, _) in zip(modules, constants, strict=True)]
    try:
        for module, (_, name, value) in zip(modules, constants, strict=True):
            setattr(module, name, value)
        yield
    finally:
        for module, (_, name, _), value in zip(modules, constants, before, strict=True):
            setattr(module, name, value)


def measure(scene: Scene, drawn: list[np.ndarray]) -> dict[str, float]:
    """Return the mean over all marks of one scene, and the median time of a cut on a graph that is there."""
    graph, scores, seconds = None, [], []
    for marks in drawn:
        start = time.process_time()
        result = segment(scene.image, marks, graph=graph)
        labels, graph = result.labels, result.graph
        seconds.append(time.process_time() - start)
        scores.append(mean_iou(labels, scene.truth))
    return {"IoU": float(np.mean(scores)), "CPU seconds, more strokes": float(np.median(seconds))}


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return the means by variant, and the difference from the base with its standard error over scenes."""
    by_scene = table.pivot_table(index="scene", columns="variant", values="IoU")
    gaps = by_scene.sub(by_scene["base"], axis=0)
    means = table.groupby("variant")[["IoU", "CPU seconds, more strokes"]].mean()
    means["gain"], means["its standard error"] = gaps.mean(), gaps.sem()
    return means.loc[[name for name in VARIANTS if name in means.index]].round(3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of images_bsds.npz")
    parser.add_argument("--only", nargs="*", choices=VARIANTS, default=list(VARIANTS))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    seen = [scene for scene in berkeley_scenes(args.data) if BERKELEY[scene.name][0] in SEEN]
    rows = []
    for scene in [*bundled_scenes(), *seen]:
        drawn = [draw_marks(scene.truth, kind, draw) for kind in KINDS for draw in DRAWS]
        for name in args.only:
            with changed(VARIANTS[name]):
                rows.append({"variant": name, "scene": scene.name, **measure(scene, drawn)})
            print(*rows[-1].values(), flush=True)
    table = pd.DataFrame(rows).round(4)
    if set(args.only) == set(VARIANTS):
        stored.save(table, RESULTS / FILE)
    if "base" in args.only:
        print(summary(table).to_string())


if __name__ == "__main__":
    main()
