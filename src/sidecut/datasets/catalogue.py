"""The data of the five papers: what each is, what its file is called, and where it can be had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine


@dataclass(frozen=True)
class Entry:
    """One data set of the papers.

    Parameters
    ----------
    description : str
        One sentence.
    shape : tuple of int
        Points, features and classes: what any copy must have.
    bundled : callable, optional
        The function of scikit-learn that returns it.
    openml : int, optional
        Its number at openml.org.
    checksum : str, optional
        `Dataset.checksum` of the copy that the stored results were made with.
    divisor : float
        What the numbers in the file are to be divided by.
    complete : bool
        Leave out rows with missing values.
    flipped : bool
        Class 0 of the bundled copy is class 1 here.
    """

    description: str
    shape: tuple[int, int, int]
    bundled: Callable | None = None
    openml: int | None = None
    checksum: str | None = None
    divisor: float = 1.0
    complete: bool = False
    flipped: bool = False


#: By name; the file of a data set in a folder is called <name>.npz.
CATALOGUE: dict[str, Entry] = {
    "iris": Entry(
        "Lengths and widths of sepals and petals of three species of iris (UCI).",
        (150, 4, 3),
        bundled=load_iris,
    ),
    "wine": Entry(
        "Chemical analysis of wines from three cultivars of one region (UCI).",
        (178, 13, 3),
        bundled=load_wine,
    ),
    "wdbc": Entry(
        "Cell nuclei of breast tumours: benign (0) or malignant (1) (UCI, Wisconsin, diagnostic).",
        (569, 30, 2),
        bundled=load_breast_cancer,
        flipped=True,
    ),
    "digits": Entry(
        "Handwritten digits as 8 x 8 images (UCI optical recognition, test part).",
        (1797, 64, 10),
        bundled=load_digits,
    ),
    "ionosphere": Entry(
        "Radar returns from the ionosphere, good or bad (UCI).",
        (351, 34, 2),
        openml=59,
        checksum="125d63088635dcac",
    ),
    "soybean_small": Entry(
        "Symptoms of soybean plants with four diseases (UCI).", (47, 35, 4), checksum="cdbbc859a0dc5b2b"
    ),
    "hepatitis": Entry(
        "Patients with hepatitis, those without missing values (UCI).",
        (80, 19, 2),
        openml=55,
        checksum="7abafa56dc0227f6",
        complete=True,
    ),
    "glass": Entry(
        "Chemical analysis of six types of glass (UCI).", (214, 9, 6), openml=41, checksum="66884ffc63a261a9"
    ),
    "sonar": Entry(
        "Sonar returns from mines and rocks (UCI).", (208, 60, 2), openml=40, checksum="3310402b8872a251"
    ),
    "segment": Entry(
        "Regions of outdoor images, hand-segmented into seven classes (UCI).",
        (2310, 19, 7),
        openml=36,
        checksum="9883cdeebd20de8f",
    ),
    "pendigits": Entry(
        "Digits written with a pen, as eight points each (UCI).",
        (10992, 16, 10),
        openml=32,
        checksum="17147845ca6d0696",
    ),
    "letter": Entry(
        "Capital letters in twenty fonts, distorted (UCI).",
        (20000, 16, 26),
        openml=6,
        checksum="8990c1257da28616",
    ),
    "covtype": Entry(
        "Forest cover of squares of 30 m, from maps (UCI).",
        (581012, 54, 7),
        openml=1596,
        checksum="f2b3475f6456439c",
    ),
    "usps": Entry(
        "Digits from envelopes as 16 x 16 images, grey values from -1 to 1.",
        (9298, 256, 10),
        openml=41082,
        checksum="09656b93b6d8a8a3",
        divisor=1000.0,
    ),
    "mnist": Entry(
        "Handwritten digits as 28 x 28 images.", (70000, 784, 10), openml=554, checksum="fcf004f68ceabcfe"
    ),
    "yaleb_32x32": Entry(
        "Faces of 38 people under many lights, 32 x 32 pixels (Extended Yale B, cropped).",
        (2414, 1024, 38),
        checksum="4938eae939e1827e",
    ),
    "scene8_features": Entry(
        "Eight kinds of outdoor scenes (MIT), as 119 global features of each image.",
        (2688, 119, 8),
        checksum="1ef009e75dc4cb23",
    ),
    "reuters_ml1200": Entry(
        "News in six topics, each in five languages of 2,000 words side by side, tf-idf.",
        (1200, 10000, 6),
        checksum="90e02e37dcf46e02",
    ),
    "20news_18828_different3": Entry(
        "Word counts of newsgroup posts on atheism, baseball and space.",
        (2780, 12413, 3),
        checksum="d5e4d9df71ff4394",
    ),
    "20news_18828_comp2": Entry(
        "Word counts of newsgroup posts on Windows and Macintosh.",
        (1946, 7325, 2),
        checksum="e1c0373893b1e13e",
    ),
    "20news_18828_politics3": Entry(
        "Word counts of newsgroup posts on politics: miscellaneous, guns, the Middle East.",
        (2625, 14775, 3),
        checksum="1f60db799bf71501",
    ),
}
