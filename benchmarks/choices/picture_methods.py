"""Which method should cut marked pictures: the walk over regions, or an estimator on all pixels.

    python -m benchmarks.choices.picture_methods

Pictures that come with scikit-image and scikit-learn, on which constants may be set, made four times smaller
so that a graph of all pixels is cut in seconds. Mean intersection over union and processor seconds, one draw
of long strokes and of dots. All but the walk see position and colour alone, in the usual graph of pixels.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.quality.images.marks import draw_marks
from benchmarks.quality.images.pictures import Scene, bundled_scenes
from benchmarks.quality.images.scores import marks_kept, mean_iou
from sidecut import E2CP, NCSC, PoissonLearning, PoissonMBO
from sidecut.images import segment

RESULTS = stored.RESULTS / "choices" / "picture_methods.csv"
SCENES = ("coffee", "astronaut", "cameraman", "rocket", "one flower", "grass, gravel, brick", "cat")
SMALLER = 4
METHODS = {
    "walk over regions (the default)": {},
    "CSP": {"radius": 5},
    "E2CP": {"method": E2CP(random_state=0)},
    "NCSC": {"method": NCSC(random_state=0)},
    "PoissonLearning": {"method": PoissonLearning(random_state=0)},
    "PoissonMBO": {"method": PoissonMBO(random_state=0)},
}


def shrink(scene: Scene) -> Scene:
    """Return every fourth pixel, the mean colour of four by four."""
    height, width = (size // SMALLER * SMALLER for size in scene.truth.shape)
    blocks = (height // SMALLER, SMALLER, width // SMALLER, SMALLER)
    image = np.asarray(scene.image[:height, :width], dtype=np.float64)
    image = image.reshape(*blocks, *image.shape[2:]).mean(axis=(1, 3))
    return Scene(scene.name, image / image.max(), scene.truth[:height:SMALLER, :width:SMALLER])


def measure(scene: Scene, kind: str) -> list[dict]:
    """Return a row for every method."""
    marks = draw_marks(scene.truth, kind, 0)
    rows = []
    for name, settings in METHODS.items():
        start = time.process_time()
        labels = segment(scene.image, marks, **settings).labels
        seconds = time.process_time() - start
        scores = {"IoU": mean_iou(labels, scene.truth), "marks kept": marks_kept(labels, marks)}
        rows.append({"scene": scene.name, "marks": kind, "method": name, **scores, "seconds": seconds})
        print(*rows[-1].values(), flush=True)
    return rows


def main() -> None:
    """Cut, store, and print the means."""
    warnings.simplefilter("ignore")
    scenes = [shrink(scene) for scene in bundled_scenes() if scene.name in SCENES]
    table = [row for scene in scenes for kind in ("dots", "long") for row in measure(scene, kind)]
    frame = pd.DataFrame(table).round(4)
    stored.save(frame, RESULTS)
    print(frame.groupby("method")[["IoU", "marks kept", "seconds"]].mean().round(3))


if __name__ == "__main__":
    main()
