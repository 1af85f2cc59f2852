"""Run the tasks and store what came out.

    python -m benchmarks.quality.images --data FOLDER [--set berkeley] [--scenes plane] [--methods sidecut]

FOLDER holds images_bsds.npz. Every scene is marked in seven ways and several draws (the seed of a draw is its
number), see `benchmarks.quality.images.marks`. Rows go to images_<set>.csv and replace rows of the same task
and method. Seconds are CPU seconds of one thread, so that they mean the same on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.quality.images.marks import KINDS, draw_marks
from benchmarks.quality.images.pictures import Scene, berkeley_scenes, bundled_scenes
from benchmarks.quality.images.rivals import RIVALS, TWO_CLASSES
from benchmarks.quality.images.scores import boundary_f, marks_kept, mean_iou
from benchmarks.stored import facts
from sidecut.images import segment

RESULTS = stored.RESULTS / "quality"
KEYS = ["scene", "marks", "draw", "method"]


def cut_with_sidecut(image: np.ndarray, marks: np.ndarray) -> np.ndarray:
    return segment(image, marks).labels


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {"sidecut": cut_with_sidecut, **RIVALS}


def rows(scene: Scene, kinds: list[str], draws: list[int], names: list[str]) -> Iterator[dict]:
    for kind in kinds:
        for draw in draws:
            marks = draw_marks(scene.truth, kind, draw)
            for name in names:
                if scene.n_classes == 2 or name not in TWO_CLASSES:
                    task = {"scene": scene.name, "marks": kind, "draw": draw, "method": name}
                    yield {**task, **measure(METHODS[name], scene, marks)}


def measure(method: Callable, scene: Scene, marks: np.ndarray) -> dict[str, float]:
    start = time.process_time()
    labels = method(scene.image, marks)
    seconds = time.process_time() - start
    return {
        "IoU": round(mean_iou(labels, scene.truth), 4),
        "boundary F": round(boundary_f(labels, scene.truth), 4),
        "marks kept": round(marks_kept(labels, marks), 4),
        "CPU seconds": round(seconds, 3),
    }


def store(table: list[dict], path: Path) -> None:
    """Add rows to a stored table; the newer of two rows of one task and method stays."""
    frame = pd.DataFrame(table).assign(**stored.stamp())
    if path.exists():
        frame = pd.concat([pd.read_csv(path), frame]).drop_duplicates(KEYS, keep="last")
    frame.sort_values(KEYS).to_csv(path, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of images_bsds.npz")
    parser.add_argument("--set", choices=["berkeley", "bundled"], default="berkeley")
    parser.add_argument("--scenes", nargs="*", help="names of scenes; by default all")
    parser.add_argument("--marks", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--draws", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    print(facts())
    scenes = berkeley_scenes(args.data) if args.set == "berkeley" else bundled_scenes()
    for scene in scenes:
        if args.scenes and scene.name not in args.scenes:
            continue
        table = []
        for row in rows(scene, args.marks, args.draws, args.methods):
            table.append(row)
            print(*row.values(), flush=True)
        store(table, args.output / f"{args.set}.csv")


if __name__ == "__main__":
    main()
