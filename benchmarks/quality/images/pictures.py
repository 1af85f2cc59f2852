"""Pictures whose classes are known.

Constants of `sidecut.images` were set on `bundled_scenes` (pictures that come with scikit-image and
scikit-learn, outlined by hand, and two made ones) and on two of the pictures of `berkeley_scenes`, those in
`SEEN`; results are reported on the others, whose classes come from human segmentations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import ndimage
from skimage import data, draw
from sklearn.datasets import load_sample_image

from sidecut.images import touching_discs

Outline = list[tuple[int, int]]


@dataclass(frozen=True)
class Scene:
    """A picture and the class of every pixel, from 1."""

    name: str
    image: np.ndarray
    truth: np.ndarray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.truth.max())


#: Segments of the first human who drew the picture, by class; all others join their longest neighbour.
BERKELEY: dict[str, tuple[str, list[list[int]]]] = {
    "elephants": ("296059", [[1, 9], [2, 3]]),
    "one elephant": ("296059", [[1, 9, 3], [2]]),
    "left, right, sky, grass": ("296059", [[2], [3], [1], [9]]),
    "bird": ("135069", [[1], [2, 3, 4]]),
    "plane": ("3096", [[1], [2]]),
    "hawk and branches": ("42049", [[1, 3, 6, 12, 15], [2, 4]]),
    "hawk, branches, sky": ("42049", [[4], [2], [1, 3, 6, 12, 15]]),
    "starfish": ("12003", [[1, 3, 4, 5, 6], [2]]),
}

#: Pictures on which constants were set: the hawk and the starfish.
SEEN = ("42049", "12003")

# Outlines as columns and rows, drawn by hand.
SPOON: Outline = [(396, 70), (410, 66), (424, 72), (423, 80), (412, 115), (405, 125)]
ASTRONAUT: Outline = [
    *((153, 85), (153, 72), (160, 58), (175, 45), (187, 38), (195, 28), (215, 18), (235, 15), (255, 20)),
    *((275, 32), (290, 48), (299, 68), (300, 90), (296, 110), (287, 128), (277, 135), (268, 137)),
    *((262, 160), (255, 172), (275, 185), (290, 202), (302, 220), (305, 235), (322, 243), (340, 262)),
    *((350, 285), (355, 305), (361, 335), (363, 348), (375, 345), (400, 343), (430, 350), (460, 370)),
    *((480, 395), (490, 420), (495, 450), (505, 465), (512, 480), (512, 512), (45, 512), (28, 460)),
    *((22, 430), (18, 400), (24, 370), (26, 340), (35, 310), (45, 280), (55, 255), (70, 240), (95, 225)),
    *((112, 208), (120, 202), (115, 190), (122, 185), (126, 175), (135, 162), (150, 152), (170, 148)),
    *((185, 149), (183, 132), (172, 125), (162, 115), (155, 100)),
]
CAMERAMAN: Outline = [
    *((0, 258), (25, 225), (45, 190), (60, 165), (80, 142), (105, 128), (130, 122), (145, 108), (160, 106)),
    *((170, 85), (190, 70), (205, 63), (230, 68), (250, 80), (268, 105), (270, 122), (265, 132)),
    *((262, 140), (322, 139), (324, 155), (318, 158), (318, 170), (326, 170), (330, 185), (328, 198)),
    *((308, 228), (300, 245), (304, 273), (288, 287), (270, 303), (247, 312), (225, 303), (207, 293)),
    *((195, 315), (170, 350), (141, 380), (147, 420), (150, 470), (151, 512), (140, 512), (130, 480)),
    *((98, 447), (95, 470), (90, 512), (0, 512)),
]
ROCKET: Outline = [
    *((311, 145), (316, 133), (322, 127), (328, 132), (333, 145), (334, 170), (330, 180), (331, 405)),
    *((312, 405), (313, 180), (310, 170)),
]
LARGE_FLOWER: Outline = [
    *((210, 122), (225, 112), (245, 103), (265, 96), (285, 95), (300, 88), (315, 85), (335, 91), (350, 92)),
    *((365, 100), (385, 105), (400, 115), (411, 128), (420, 140), (428, 155), (433, 172), (437, 190)),
    *((445, 210), (445, 232), (438, 255), (430, 280), (422, 300), (410, 320), (395, 332), (380, 340)),
    *((360, 350), (345, 356), (320, 358), (295, 359), (270, 350), (250, 350), (235, 338), (215, 325)),
    *((200, 310), (190, 290), (180, 275), (172, 258), (172, 240), (170, 218), (172, 200), (178, 185)),
    *((176, 172), (188, 168), (188, 150), (195, 140), (205, 133)),
]
SMALL_FLOWER: Outline = [
    *((290, 412), (288, 408), (300, 395), (325, 393), (340, 380), (350, 375), (368, 390), (372, 395)),
    *((395, 379), (415, 382), (430, 382), (440, 395), (441, 418), (460, 420), (470, 427), (295, 427)),
]
PAGODA: Outline = [
    *((197, 30), (207, 28), (216, 34), (216, 52), (220, 66), (235, 85), (262, 108), (300, 114), (318, 122)),
    *((314, 130), (296, 135), (296, 160), (308, 168), (330, 174), (328, 184), (320, 190), (322, 225)),
    *((330, 240), (352, 250), (348, 262), (340, 268), (343, 305), (352, 322), (370, 336), (365, 348)),
    *((340, 372), (330, 392), (325, 428), (285, 428), (282, 405), (215, 382), (210, 365), (165, 340)),
    *((120, 336), (76, 340), (80, 300), (65, 272), (68, 258), (100, 240), (105, 225), (100, 188)),
    *((85, 182), (86, 172), (110, 160), (118, 140), (95, 132), (98, 112), (120, 105), (160, 85)),
    *((188, 65), (196, 52)),
]
CAT: Outline = [
    *((62, 0), (400, 0), (385, 40), (368, 70), (356, 90), (367, 110), (367, 135), (355, 165), (350, 200)),
    *((343, 225), (328, 250), (318, 300), (0, 300), (0, 150), (22, 140), (40, 112), (35, 60), (45, 25)),
]


def berkeley_scenes(folder: Path) -> Iterator[Scene]:
    """Yield pictures of the Berkeley Segmentation Dataset from images_bsds.npz."""
    with np.load(folder / "images_bsds.npz") as stored:
        for name, (number, classes) in BERKELEY.items():
            truth = merge_segments(stored[f"gt_{number}"][0], classes)
            yield Scene(name, stored[f"img_{number}"], truth)


def bundled_scenes() -> Iterator[Scene]:
    """Yield pictures that everybody has."""
    coffee, flower = data.coffee(), load_sample_image("flower.jpg")
    dish = _ellipse((222, 278, 168, 201), coffee) | _inside(SPOON, coffee)
    cup = _ellipse((112, 291, 95, 118), coffee)
    yield Scene("coffee", coffee, 1 + (dish | cup))
    yield Scene("cup, dish, table", coffee, np.where(cup, 3, 1 + dish))
    yield Scene("astronaut", data.astronaut(), 1 + _inside(ASTRONAUT, data.astronaut()))
    yield Scene("cameraman", data.camera(), 1 + _inside(CAMERAMAN, data.camera()))
    yield Scene("rocket", data.rocket(), 1 + _inside(ROCKET, data.rocket()))
    large, small = _inside(LARGE_FLOWER, flower), _inside(SMALL_FLOWER, flower)
    yield Scene("flowers", flower, 1 + (large | small))
    yield Scene("one flower", flower, 1 + large)
    yield Scene("grass, gravel, brick", *_mosaic())
    image, truth = touching_discs(321, 481, random_state=0)
    yield Scene("discs", image, 1 + truth)
    china, cat = load_sample_image("china.jpg"), data.chelsea()
    yield Scene("pagoda", china, 1 + _inside(PAGODA, china))
    yield Scene("cat", cat, 1 + _inside(CAT, cat))
    eyes = _ellipse((118, 171, 31, 34), cat) | _ellipse((137, 317, 28, 23), cat)
    yield Scene("eyes", cat, 1 + eyes)
    yield Scene("motorcycle", *_motorcycle())
    garage = data.stereo_motorcycle()[0]
    yield _horse("horse of fur in trees", cat[:, 40:], china[100:, 240:])
    yield _horse("horse of table on cat", data.coffee(), cat[:, 30:])
    yield _horse("horse of flowers in the garage", flower[60:, 120:], garage[100:, 300:])


def merge_segments(human: np.ndarray, classes: list[list[int]]) -> np.ndarray:
    """Return classes from 1; a segment of none joins the class with which it shares the longest border."""
    lookup = np.zeros(int(human.max()) + 1, dtype=np.intp)
    for number, segments in enumerate(classes, start=1):
        lookup[segments] = number
    truth = lookup[human]
    pieces, n_pieces = ndimage.label(truth == 0)
    for piece in range(1, n_pieces + 1):
        rim = ndimage.binary_dilation(pieces == piece) & (truth > 0)
        truth[pieces == piece] = np.bincount(truth[rim]).argmax() if rim.any() else 1
    return truth


def _inside(outline: Outline, image: np.ndarray) -> np.ndarray:
    return draw.polygon2mask(image.shape[:2], np.array(outline)[:, ::-1])


def _ellipse(place: tuple[int, int, int, int], image: np.ndarray) -> np.ndarray:
    mask = np.zeros(image.shape[:2], dtype=bool)
    mask[draw.ellipse(*place, shape=mask.shape)] = True
    return mask


def _mosaic() -> tuple[np.ndarray, np.ndarray]:
    """Return three textures side by side, as grey as each other."""
    textures = [texture()[:320, :480] / 255.0 for texture in (data.grass, data.gravel, data.brick)]
    level = [0.5 + (texture - texture.mean()) / (6 * texture.std()) for texture in textures]
    truth = np.ones((320, 480), dtype=np.intp)
    truth[draw.ellipse(150, 170, 90, 110, shape=truth.shape)] = 2
    truth[120:280, 320:440] = 3
    return np.clip(np.choose(truth - 1, level), 0, 1), truth


def _motorcycle() -> tuple[np.ndarray, np.ndarray]:
    """Return a garage and what stands nearer than the floor beside it: the measured depth is known."""
    image, _, depth = data.stereo_motorcycle()
    depth = np.where(np.isfinite(depth), depth, 0.0)
    floor = [np.median(row[row > 0]) if (row > 0).any() else 0.0 for row in depth[:, :80]]
    nearest = np.where(np.arange(depth.shape[0]) < 370, 42.0, np.array(floor) + 2.5)
    near = ndimage.median_filter(depth > nearest[:, None], 7)
    near[465:] = False
    pieces = ndimage.label(near)[0]
    return image, 1 + (pieces == np.bincount(pieces[near]).argmax())


def _horse(name: str, inside: np.ndarray, outside: np.ndarray) -> Scene:
    """Return one photograph in the shape of a horse on another."""
    horse = ~data.horse()
    share = ndimage.gaussian_filter(horse.astype(float), 0.7)[..., None]
    mixed = share * _fitted(inside, horse.shape) + (1 - share) * _fitted(outside, horse.shape)
    return Scene(name, np.round(mixed).astype(np.uint8), 1 + horse)


def _fitted(image: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    cropped = image[: shape[0], : shape[1]]
    missing = [(0, size - have) for size, have in zip(shape, cropped.shape, strict=False)]
    return np.pad(cropped, (*missing, (0, 0)), mode="reflect")
