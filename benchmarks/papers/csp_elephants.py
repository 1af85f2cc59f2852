"""Figure 5 of CSP (Wang, Qian & Davidson, 2014): two elephants, cut from the background and from each other.

    python -m benchmarks.papers.csp_elephants --data FOLDER [--pictures FOLDER] [--only reduced]

FOLDER holds images_bsds.npz with the picture 296059 of the Berkeley Segmentation Dataset and its human
segmentations. The picture is for research only, so pictures are written where you say and nowhere else; the
numbers go to results/csp_elephants.csv. "reduced" is the paper's size, 48 x 32 pixels, with its fully linked
grey RBF graph (it does not tell σ) or with the graph of `sidecut.images`; "full" is 481 x 321. Agreement is
with the human who agrees best, among those who drew each elephant as one segment: intersection over union of
the elephants, and the share of elephant pixels on the right side where the two are told apart. CPU
seconds are of the cut, without the graph.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from benchmarks import stored
from benchmarks.papers.signs import SignCut
from benchmarks.papers.tables import merge
from benchmarks.stored import facts
from sidecut import CSP
from sidecut.graphs import SparseGraph
from sidecut.images import Segmentation, as_pixels, pixel_graph, segment, write_image

RESULTS = stored.RESULTS / "papers" / "csp_elephants.csv"
NAME = "296059"
#: Upper left pixels of the marks, as rows and columns of the full picture.
HEADS, SKY, GROUND = [(50, 120), (80, 340)], (10, 430), (240, 420)
LEFT, RIGHT = (100, 120), (100, 220)


@dataclass(frozen=True)
class Scene:
    """The picture at one size: pixels, human segmentations, and the side of a mark."""

    name: str
    image: np.ndarray
    humans: np.ndarray
    shrink: int
    side: int

    def box(self, label: str, place: tuple[int, int]) -> tuple:
        """Return a square mark; `place` is in the full picture."""
        return (label, place[0] // self.shrink, place[1] // self.shrink, self.side, self.side)

    @property
    def tasks(self) -> dict[str, list[tuple] | None]:
        """Marks: none, elephants and background (fig. 5c), one elephant and the other (fig. 5d)."""
        elephants = [self.box("elephants", place) for place in HEADS]
        around = [self.box("background", place) for place in (SKY, GROUND)]
        return {
            "unconstrained": None,
            "isolate": [*around, *elephants],
            "separate": [self.box("left", LEFT), self.box("right", RIGHT)],
        }


def scenes(folder: Path) -> Iterator[Scene]:
    with np.load(folder / "images_bsds.npz") as data:
        photo, humans = data[f"img_{NAME}"], data[f"gt_{NAME}"]
    grey = Image.fromarray(photo).convert("L")
    small = np.asarray(grey.resize((48, 32), Image.Resampling.BOX))
    nearest = [np.asarray(Image.fromarray(h).resize((48, 32), Image.Resampling.NEAREST)) for h in humans]
    yield Scene("reduced", small, np.stack(nearest), 10, 5)
    yield Scene("full, marks 5 x 5", np.asarray(grey), humans, 1, 5)
    yield Scene("full, marks 50 x 50", np.asarray(grey), humans, 1, 50)


def graphs(scene: Scene) -> dict[str, SparseGraph]:
    built = {"radius 5": pixel_graph(scene.image)}
    if scene.name == "reduced":
        built["full RBF"] = pixel_graph(scene.image, radius=np.inf, sigma_position=10.0, sigma_color=0.1)
    else:
        built["radius 2"] = pixel_graph(scene.image, radius=2)
    return built


def methods(scene: Scene, graph: str, task: str) -> dict[str, Any]:
    is_reduced = scene.name == "reduced"
    if task == "unconstrained":
        # Minutes at full size and radius 5: eigenvalues crowd near zero, and no factorisation is affordable.
        return {"normalised cut": SignCut()} if is_reduced or graph == "radius 2" else {}
    literal = {"CSP, eq. 19": CSP(beta="eq19", tol=1e-5, random_state=0)}
    return {"CSP, attainable beta": None, **(literal if is_reduced else {})}


def elephants(scene: Scene) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the masks of the left and the right elephant, of every human who drew each as one segment."""
    pixels = [(row // scene.shrink, column // scene.shrink) for row, column in (LEFT, RIGHT)]
    pairs = [tuple(human == human[pixel] for pixel in pixels) for human in scene.humans]
    return [
        (left, right)
        for left, right in pairs
        if not (left & right).any() and min(left.mean(), right.mean()) > 0.2
    ]


def overlap(labels: np.ndarray, masks: tuple[np.ndarray, np.ndarray]) -> float:
    both = masks[0] | masks[1]
    return max((side & both).sum() / (side | both).sum() for side in (labels == 0, labels == 1))


def sides(labels: np.ndarray, masks: tuple[np.ndarray, np.ndarray]) -> float:
    both = masks[0] | masks[1]
    right = (labels[both] == masks[1][both]).mean()
    return max(right, 1 - right)


def rows(scene: Scene, pictures: Path | None) -> Iterator[dict]:
    humans = elephants(scene)
    for graph_name, graph in graphs(scene).items():
        for task, boxes in scene.tasks.items():
            for name, method in methods(scene, graph_name, task).items():
                start = time.process_time()
                result = segment(scene.image, boxes=boxes, n_segments=2, method=method, graph=graph)
                seconds = time.process_time() - start
                if pictures is not None:
                    save(result, scene, pictures / f"{scene.name}-{graph_name}-{task}-{name}.png")
                yield {
                    "size": scene.name,
                    "graph": graph_name,
                    "task": task,
                    "method": name,
                    "IoU of the elephants": round(float(max(overlap(result.labels, m) for m in humans)), 3),
                    "elephant pixels on the right side": round(
                        max(sides(result.labels, m) for m in humans), 3
                    ),
                    "constraints kept": round(result.constraints.satisfaction(result.labels.ravel()), 3),
                    "CPU seconds": round(seconds, 2),
                }


def save(result: Segmentation, scene: Scene, path: Path) -> None:
    enlarge = 8 if scene.name == "reduced" else 1
    shown = [result.overlay(scene.image, enlarge=enlarge), result.heat_map(enlarge=enlarge)]
    write_image(str(path).replace(" ", "_").replace(",", ""), np.hstack(shown))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of images_bsds.npz")
    parser.add_argument("--pictures", type=Path, help="folder to write pictures to")
    parser.add_argument("--only", default="", help="sizes whose name starts so")
    args = parser.parse_args()
    print(facts())
    table = []
    for scene in scenes(args.data):
        if not scene.name.startswith(args.only):
            continue
        print(f"{scene.name}: {as_pixels(scene.image).shape}, {len(elephants(scene))} humans")
        for row in rows(scene, args.pictures):
            table.append(row)
            print(row, flush=True)
    merge(pd.DataFrame(table), RESULTS, ["size", "graph", "task", "method"])


if __name__ == "__main__":
    main()
