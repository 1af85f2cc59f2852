"""Cut a photograph by a few boxes: two flowers from their background.

    python examples/segment_image.py [FOLDER]

Uses the photograph of a flower that comes with scikit-learn, at a quarter of its size. Without marks only the
large flower is found; a box on the small one at the lower edge joins it. Writes before.png (no marks),
after.png (four boxes) and heat.png (the relaxed indicator) to FOLDER, or to the working directory. Needs
``pip install "sidecut[images]"``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sklearn.datasets import load_sample_image

from sidecut.images import pixel_graph, segment, write_image

#: Class, row, column, height, width.
BOXES = [
    ("background", 5, 5, 8, 8),
    ("background", 85, 130, 8, 8),
    ("flowers", 45, 70, 10, 10),
    ("flowers", 99, 85, 6, 10),
]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    image = load_sample_image("flower.jpg")[::4, ::4]
    graph = pixel_graph(image, radius=3)
    before = segment(image, graph=graph)
    after = segment(image, boxes=BOXES, graph=graph)
    print("no marks:  ", before)
    print("four boxes:", after)
    write_image(folder / "before.png", before.overlay(image, enlarge=4))
    write_image(folder / "after.png", after.overlay(image, enlarge=4))
    write_image(folder / "heat.png", after.heat_map(enlarge=4))


if __name__ == "__main__":
    main()
