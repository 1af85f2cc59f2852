"""People who see two colours where others see three must be able to tell the clusters apart."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import sidecut.studio
from sidecut.studio.project import COLORS

SOURCE = (Path(sidecut.studio.__file__).parent / "static" / "palette.js").read_text()
#: Machado, Oliveira & Fernandes (2009), severity 1: protanopia, deuteranopia, tritanopia; linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def colors(name):
    found = re.search(rf"export const {name} = \[(.*?)\]", SOURCE, re.DOTALL).group(1)
    return re.findall(r"#[0-9a-f]{6}", found)


def linear(color):
    values = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", DEFICIENCIES)
@pytest.mark.parametrize("theme", ["LIGHT", "DARK"])
def test_any_two_colours_can_be_told_apart(theme, sight):
    seen = [lab(DEFICIENCIES[sight] @ linear(color)) for color in colors(theme)]
    nearest = min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))
    # A difference of 2.3 is just noticeable side by side; 13 is plain at a glance.
    assert nearest > 13


@pytest.mark.parametrize(("theme", "ground"), [("LIGHT", "#fbfcfd"), ("DARK", "#10151b")])
def test_colours_stand_out_from_the_ground(theme, ground):
    def luminance(color):
        return float(np.array([0.2126, 0.7152, 0.0722]) @ linear(color))

    for color in colors(theme):
        high, low = sorted((luminance(color), luminance(ground)), reverse=True)
        assert (high + 0.05) / (low + 0.05) > 2.0


def test_the_report_has_the_colours_of_the_page():
    assert list(COLORS) == colors("LIGHT")
