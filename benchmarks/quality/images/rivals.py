"""The rivals: a picture and marks in, a label image out."""

from __future__ import annotations

from functools import partial

import cv2
import numpy as np
from skimage import color, filters, segmentation, util


def random_walker(image: np.ndarray, marks: np.ndarray, beta: float) -> np.ndarray:
    """scikit-image's random walker with its own multigrid solver, the fastest it has.

    Colours are RGB between 0 and 1, as in its documentation.
    """
    axis = -1 if image.ndim == 3 else None
    return segmentation.random_walker(
        util.img_as_float(image), marks, beta=beta, mode="cg_mg", channel_axis=axis
    )


def grabcut(image: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """OpenCV's GrabCut, five iterations; class 2 is the foreground.

    Unmarked pixels are "probably background": with "probably foreground" it was worse by far.
    """
    mask = np.full(marks.shape, cv2.GC_PR_BGD, dtype=np.uint8)
    mask[marks == 1], mask[marks == 2] = cv2.GC_BGD, cv2.GC_FGD
    rgb = util.img_as_ubyte(color.gray2rgb(image) if image.ndim == 2 else image)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.setRNGSeed(0)
    cv2.setNumThreads(1)
    cv2.grabCut(np.ascontiguousarray(rgb[..., ::-1]), mask, None, *models, 5, cv2.GC_INIT_WITH_MASK)
    return 1 + np.isin(mask, (cv2.GC_FGD, cv2.GC_PR_FGD))


def watershed(image: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """scikit-image's watershed of the gradient."""
    grey = color.rgb2gray(image) if image.ndim == 3 else util.img_as_float(image)
    return segmentation.watershed(filters.sobel(grey), marks)


RIVALS = {
    "random walker": partial(random_walker, beta=130),
    "random walker 1000": partial(random_walker, beta=1000),
    "watershed": watershed,
    "GrabCut": grabcut,
}
#: Methods that know two classes only.
TWO_CLASSES = ("GrabCut",)
