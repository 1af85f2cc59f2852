"""How time and memory grow with the picture.

    python -m benchmarks.quality.images.sizes --data FOLDER

The starfish of images_bsds.npz, enlarged 1, 3, 4 and 9 times (0.15, 1.4, 2.5 and 12.5 megapixels), smoothed
as a lens does and with noise of two grey levels. Three long strokes per class, then one more on the same
graph; strokes are a label image of 8 bits, as a file holds them. Every size is measured in a process of its
own: CPU seconds of one thread, with the label image made, the median of seven such pairs after one that does
not count, and the peak of memory. Rows go to images_sizes.csv.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import ndimage

from benchmarks import stored
from benchmarks.quality.images.__main__ import RESULTS
from benchmarks.quality.images.marks import draw_marks
from benchmarks.quality.images.pictures import berkeley_scenes
from sidecut.images import segment

FACTORS = (1, 3, 4, 9)
PAIRS = 7


def enlarged(folder: Path, factor: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the picture, its truth, the first strokes, and these with more of them."""
    scene = next(scene for scene in berkeley_scenes(folder) if scene.name == "starfish")
    square = np.ones((factor, factor), dtype=np.uint8)
    image = np.kron(scene.image, square[..., None]).astype(np.float32)
    if factor > 1:
        image = ndimage.gaussian_filter(image, (factor / 3, factor / 3, 0))
        image += np.random.default_rng(0).normal(0.0, 2.0, image.shape).astype(np.float32)
    first, more = draw_marks(scene.truth, "long", 0), draw_marks(scene.truth, "short", 3)
    parts = (scene.truth, first, np.maximum(first, more))
    truth, first, more = (np.kron(part.astype(np.uint8), square) for part in parts)
    return np.clip(image, 0, 255).astype(np.uint8), truth, first, more


def measure(folder: Path, factor: int) -> dict[str, float]:
    image, truth, first, more = enlarged(folder, factor)
    seconds = []
    for _ in range(1 + PAIRS):
        result = None
        for marks in (first, more):
            start = time.process_time()
            result = segment(image, marks, graph=None if result is None else result.graph)
            labels = result.labels
            seconds.append(time.process_time() - start)
    fresh, again = np.median(np.reshape(seconds, (-1, 2))[1:], axis=0)
    return {
        "megapixels": round(truth.size / 1e6, 2),
        "first cut, CPU seconds": round(fresh, 3),
        "more strokes, CPU seconds": round(again, 3),
        "share": round(again / fresh, 3),
        "peak GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "pixels right": round(float((labels == truth).mean()), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of images_bsds.npz")
    parser.add_argument("--factor", type=int, help="measure this one and print it")
    args = parser.parse_args()
    if args.factor is not None:
        print(json.dumps(measure(args.data, args.factor)))
        return
    rows = []
    for factor in FACTORS:
        command = [sys.executable, "-m", "benchmarks.quality.images.sizes", "--data", str(args.data)]
        done = subprocess.run([*command, "--factor", str(factor)], check=True, capture_output=True, text=True)
        rows.append(json.loads(done.stdout))
        print(rows[-1], flush=True)
    stored.save(pd.DataFrame(rows), RESULTS / "images_sizes.csv")


if __name__ == "__main__":
    main()
