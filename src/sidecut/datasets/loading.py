"""The data of the papers: bundled, from a folder of .npz files, or from openml.org through scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import fetch_openml, load_breast_cancer, load_digits, load_iris, load_wine

from sidecut.checks import FloatArray, IntArray
from sidecut.datasets.dataset import Dataset, variant
from sidecut.exceptions import DatasetWarning, DataUnavailableError, warn

#: The environment variable that names a folder of data sets.
FOLDER = "SIDECUT_DATA"


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Return a data set of the papers by its name.

    It is looked for in this order: bundled with scikit-learn; as ``<name>.npz`` in a folder; at openml.org,
    whose data are kept once fetched. Features are as they come: see `Dataset.scaled`.

    Parameters
    ----------
    name : str
        A name of the catalogue, such as "wine" or "usps", or a subset of one after a slash:
        "iris/without-setosa", "wine/without-class-3", "glass/windows", "usps/first-300", "letter/classes-5",
        "usps/3-8", "20news_18828_comp2/even-1000".
    folder : str or Path, optional
        Where .npz files with X and y are; by default what the environment variable SIDECUT_DATA names.

    Returns
    -------
    Dataset
        The points and their classes, 0 to k - 1.

    Raises
    ------
    DataUnavailableError
        If it is to be had nowhere; the message says where it was looked for.
    ValueError
        If there is no data set or subset of that name, or a copy has another shape.

    Examples
    --------
    >>> from sidecut.datasets import load
    >>> load("wine/without-class-3")
    Dataset('wine/without-class-3', 130 points, 13 features, 2 classes)
    """
    base, _, which = name.partition("/")
    if base not in CATALOGUE:
        raise ValueError(f"there is no data set {base!r}; choose one of {', '.join(CATALOGUE)}")
    entry = CATALOGUE[base]
    X, y = _find(base, entry, folder)
    found = (*X.shape, len(np.unique(y)))
    if found != entry.shape or len(y) != X.shape[0]:
        wanted, got = ("{} points, {} features, {} classes".format(*shape) for shape in (entry.shape, found))
        raise ValueError(f"data set {base!r} must have {wanted}; this copy has {got}")
    data = Dataset(base, X, y, entry.description)
    return variant(data, which) if which else data


def _find(name: str, entry: Entry, folder: str | Path | None) -> tuple[Any, IntArray]:
    if entry.bundled is not None:
        X, y = entry.bundled(return_X_y=True)
        return X.astype(np.float64), (1 - y if entry.flipped else y).astype(np.intp)
    place = folder if folder is not None else os.environ.get(FOLDER)
    path = None if place is None else Path(place) / f"{name}.npz"
    if path is not None and path.exists():
        X, y = read_npz(path)
        return (X / entry.divisor if entry.divisor != 1 else X), y
    return _fetch(name, entry, path)


def _fetch(name: str, entry: Entry, path: Path | None) -> tuple[Any, IntArray]:
    looked = f"there is no {path}" if path is not None else f"no folder was given ({FOLDER} is not set)"
    way_out = f"put {name}.npz with X and y into a folder and name it by the argument or by {FOLDER}"
    if entry.openml is None:
        raise DataUnavailableError(f"data set {name!r}: {looked}, and it is not at openml.org; {way_out}")
    try:
        X, y = fetch(entry.openml, complete=entry.complete)
    except DataUnavailableError as error:
        raise DataUnavailableError(f"data set {name!r}: {looked}, and {error}; {way_out}") from error
    if entry.checksum is not None and Dataset(name, X, y, "").checksum != entry.checksum:
        warn(
            f"data set {name!r} from openml.org/d/{entry.openml} is not the copy that the stored results "
            "were made with (its checksum differs: another order of rows, scale or coding); expect small "
            "differences",
            DatasetWarning,
        )
    return X, y


def read_npz(path: Path) -> tuple[Any, IntArray]:
    """Read points and classes from a file."""
    try:
        file = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataUnavailableError(f"{path} cannot be read: {error}") from error
    with file:
        is_sparse = "indptr" in file
        missing = {"y"} - set(file) if is_sparse else {"X", "y"} - set(file)
        if missing:
            raise DataUnavailableError(
                f"{path} holds {', '.join(file) or 'nothing'}, but no {' and no '.join(sorted(missing))}; "
                "write it with np.savez(path, X=X, y=y)"
            )
        y = file["y"].astype(np.intp)
        if is_sparse:
            return sp.csr_array(sp.load_npz(path)).astype(np.float64), y
        X = file["X"]
        # Whole numbers of 16 bits are exact in single precision, which saves memory for large data.
        is_exact = X.dtype.itemsize <= 2 or X.dtype == np.float32
        precision = np.float32 if is_exact and X.size > 10_000_000 else np.float64
        return np.ascontiguousarray(X, dtype=precision), y


def fetch(number: int, *, complete: bool = False) -> tuple[FloatArray, IntArray]:
    """Fetch points and classes from openml.org, or from the cache of scikit-learn."""
    try:
        # This parser numbers categories and needs nothing that is not installed.
        X, classes = fetch_openml(
            data_id=number, return_X_y=True, as_frame=False, parser="liac-arff", cache=True
        )
    except Exception as error:
        raise DataUnavailableError(f"openml.org/d/{number} could not be fetched: {error}") from error
    points = np.asarray(X, dtype=np.float64)
    kept = ~np.isnan(points).any(axis=1) if complete else np.full(len(points), True)
    values = np.asarray(classes)[kept]
    # Numbers are sorted as numbers, "10" after "2"; other names as text.
    try:
        values = values.astype(np.float64)
    except ValueError:
        values = values.astype(str)
    return points[kept], np.unique(values, return_inverse=True)[1].astype(np.intp)


@dataclass(frozen=True)
class Entry:
    """One data set of the papers: its number at openml.org and its checksum, or how it is loaded."""

    description: str
    shape: tuple[int, int, int]
    openml: int | None = None
    checksum: str | None = None
    bundled: Callable | None = None
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
        "Radar returns from the ionosphere, good or bad (UCI).", (351, 34, 2), 59, "125d63088635dcac"
    ),
    "soybean_small": Entry(
        "Symptoms of soybean plants with four diseases (UCI).", (47, 35, 4), None, "cdbbc859a0dc5b2b"
    ),
    "hepatitis": Entry(
        "Patients with hepatitis, those without missing values (UCI).",
        (80, 19, 2),
        55,
        "7abafa56dc0227f6",
        complete=True,
    ),
    "glass": Entry("Chemical analysis of six types of glass (UCI).", (214, 9, 6), 41, "66884ffc63a261a9"),
    "sonar": Entry("Sonar returns from mines and rocks (UCI).", (208, 60, 2), 40, "3310402b8872a251"),
    "segment": Entry(
        "Regions of outdoor images, hand-segmented into seven classes (UCI).",
        (2310, 19, 7),
        36,
        "9883cdeebd20de8f",
    ),
    "pendigits": Entry(
        "Digits written with a pen, as eight points each (UCI).", (10992, 16, 10), 32, "17147845ca6d0696"
    ),
    "letter": Entry(
        "Capital letters in twenty fonts, distorted (UCI).", (20000, 16, 26), 6, "8990c1257da28616"
    ),
    "covtype": Entry(
        "Forest cover of squares of 30 m, from maps (UCI).", (581012, 54, 7), 1596, "f2b3475f6456439c"
    ),
    "usps": Entry(
        "Digits from envelopes as 16 x 16 images, grey values from -1 to 1.",
        (9298, 256, 10),
        41082,
        "09656b93b6d8a8a3",
        divisor=1000.0,
    ),
    "mnist": Entry("Handwritten digits as 28 x 28 images.", (70000, 784, 10), 554, "fcf004f68ceabcfe"),
    "yaleb_32x32": Entry(
        "Faces of 38 people under many lights, 32 x 32 pixels (Extended Yale B, cropped).",
        (2414, 1024, 38),
        None,
        "4938eae939e1827e",
    ),
    "scene8_features": Entry(
        "Eight kinds of outdoor scenes (MIT), as 119 global features of each image.",
        (2688, 119, 8),
        None,
        "1ef009e75dc4cb23",
    ),
    "reuters_ml1200": Entry(
        "News in six topics, each in five languages of 2,000 words side by side, tf-idf.",
        (1200, 10000, 6),
        None,
        "90e02e37dcf46e02",
    ),
    "20news_18828_different3": Entry(
        "Word counts of newsgroup posts on atheism, baseball and space.",
        (2780, 12413, 3),
        None,
        "d5e4d9df71ff4394",
    ),
    "20news_18828_comp2": Entry(
        "Word counts of newsgroup posts on Windows and Macintosh.", (1946, 7325, 2), None, "e1c0373893b1e13e"
    ),
    "20news_18828_politics3": Entry(
        "Word counts of newsgroup posts on politics: miscellaneous, guns, the Middle East.",
        (2625, 14775, 3),
        None,
        "1f60db799bf71501",
    ),
}
