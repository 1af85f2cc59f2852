"""What the user gives, checked: labels of which some are unknown, pairs, matrices of beliefs, rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sidecut.checks import BoolArray, FloatArray, IntArray, to_native
from sidecut.constraints.groups import Links, canonical, number_by_appearance, strongest
from sidecut.exceptions import ConstraintError, ConstraintWarning, warn

UNKNOWN = -1
#: Text that may mean unknown as well as a class, whatever its case.
ASKED_ABOUT = frozenset(
    "? - -1 -1.0 nan none null na n/a <na> nat unknown unlabeled unlabelled".split()  # noqa: SIM905
)


def read_labels(y: Any, name: str = "y", unknown: Any = None) -> tuple[IntArray, tuple[Any, ...]]:
    """Number the classes of partial labels by first appearance, and keep their names."""
    # Unknown are None, NaN, NaT, pandas.NA, masked entries, the empty text and the number -1. A value that
    # may mean unknown or be a class ("?", "unknown", "nan", "-1" as text, the largest number of an unsigned
    # type, which -1 becomes there) is refused unless `unknown` says what it means.
    labels = _one_per_sample(y, name)
    is_unknown = np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else np.zeros(len(y), dtype=bool)
    is_one = isinstance(unknown, str | bytes) or not isinstance(unknown, Iterable)
    meaning_unknown = () if unknown is None else (unknown,) if is_one else tuple(unknown)
    codes = np.full(len(labels), UNKNOWN, dtype=np.int64)
    if labels.dtype.kind in "iufb":
        is_unknown |= (labels != labels) | (labels == UNKNOWN) | np.isin(labels, meaning_unknown)
        known = labels[~is_unknown]
        codes[~is_unknown] = numbers = number_by_appearance(known)
        values = known[np.unique(numbers, return_index=True)[1]].tolist()
        if labels.dtype.kind == "f" and all(value.is_integer() for value in values):
            # A gap makes a column of whole numbers one of floats: 2.0 is the class 2.
            values = [int(value) for value in values]
    else:
        values, codes[~is_unknown] = _number_objects(labels[~is_unknown], name, meaning_unknown)
    if unknown is None:
        for number, value in enumerate(values):
            _refuse_unclear(value, labels.dtype, name, int(np.argmax(codes == number)))
    _warn_about_spellings(values)
    return codes, tuple(values)


def labels_from_text(cells: Sequence[str]) -> list[str | None]:
    """Return labels read from a text file, None for empty cells and, where all are numbers, for -1."""
    stripped = [cell.strip() for cell in cells]
    numeric = all(is_number_text(cell) for cell in stripped if cell)
    return [None if not cell or (numeric and float(cell) == UNKNOWN) else cell for cell in stripped]


def encode_clustering(labels: Any, n_samples: int) -> IntArray:
    """Number the clusters of a complete clustering; every value, -1 too, is a cluster of its own."""
    values = _one_per_sample(labels, "labels")
    if len(values) != n_samples:
        raise ConstraintError(
            f"labels has {len(values)} entries for constraints on {n_samples} samples: "
            "pass the labels of all samples"
        )
    return number_by_appearance(values)


def _number_objects(labels: NDArray[Any], name: str, unknown: tuple[Any, ...]) -> tuple[list[Any], IntArray]:
    numbers: dict[Any, int] = {}
    codes = np.full(len(labels), UNKNOWN, dtype=np.int64)
    for position, value in enumerate(labels):
        try:
            if not (is_missing(value) or value in unknown):
                codes[position] = numbers.setdefault(value, len(numbers))
        except TypeError as error:
            raise ConstraintError(f"{name}[{position}] = {value!r} cannot be a label") from error
    return list(numbers), codes


def _one_per_sample(y: Any, name: str) -> NDArray[Any]:
    if isinstance(y, Mapping):
        raise ConstraintError(
            f"{name} is a {type(y).__name__}, which does not say how many samples there are: give it to "
            "fit(X, constraints=...) as it is, or give one label per sample"
        )
    if isinstance(y, list | tuple) and not any(isinstance(value, list | tuple | np.ndarray) for value in y):
        # np.asarray would turn ["a", None, nan] into text and the unknowns into classes.
        labels: NDArray[Any] = np.empty(len(y), dtype=object)
        labels[:] = y
    else:
        labels = np.asarray(to_native(y))
    if labels.ndim != 1 or len(labels) == 0:
        raise ConstraintError(
            f"{name} has shape {labels.shape}: give one label per sample, an array of shape (n_samples,)"
        )
    return labels


def _refuse_unclear(value: Any, dtype: np.dtype, name: str, position: int) -> None:
    """Refuse a value that may mean unknown as well as a class."""
    if isinstance(value, str) and value.strip().lower() in ASKED_ABOUT:
        said = f"{name}[{position}] = {str(value)!r} is text"
    elif dtype.kind == "u" and value == np.iinfo(dtype).max:
        said = f"{name}[{position}] = {value} is what -1 becomes in {dtype}, a number"
    else:
        return
    raise ConstraintError(
        f"{said} that may mean unknown or be a class: put None there or say unknown={value!r} if it means "
        "unknown, or say unknown=() if it is a class"
    )


def _warn_about_spellings(values: Sequence[Any]) -> None:
    """Warn of classes that differ only in capitals and blanks: mostly they are meant to be one."""
    alike: dict[str, list[str]] = {}
    for value in values:
        if isinstance(value, str):
            alike.setdefault("".join(value.split()).casefold(), []).append(str(value))
    doubles = [spellings for spellings in alike.values() if len(spellings) > 1]
    if doubles:
        shown = "; ".join(" and ".join(repr(one) for one in spellings) for spellings in doubles[:3])
        more = f"; and {len(doubles) - 3} more" if len(doubles) > 3 else ""
        warn(
            f"Classes that differ only in capitals or blanks count as different ones: {shown}{more}. Write "
            "them alike if they are the same.",
            ConstraintWarning,
        )


def is_missing(value: Any) -> bool:
    """Return whether a value of any type means unknown."""
    try:
        if isinstance(value, str):
            return not value.strip()
        return value is None or bool(value != value) or bool(value == UNKNOWN)
    except (TypeError, ValueError):  # pandas.NA refuses to be compared
        return type(value).__name__ == "NAType"


def is_number_text(cell: str) -> bool:
    """Return whether a cell of text is a finite number."""
    try:
        return np.isfinite(float(cell))
    except ValueError:
        return False


def check_rows(indices: Any, n_samples: int) -> IntArray:
    """Return distinct row numbers from indices or a mask."""
    rows = np.asarray(indices)
    if rows.ndim != 1 or len(rows) == 0:
        raise ConstraintError(f"indices has shape {rows.shape}: give at least one row, in one dimension")
    if rows.dtype == bool:
        if len(rows) != n_samples or not rows.any():
            raise ConstraintError(
                f"the mask has {len(rows)} entries, {int(rows.sum())} of them True, for {n_samples} samples: "
                "give one entry per sample and keep at least one"
            )
        return np.flatnonzero(rows)
    if rows.dtype.kind not in "iu":
        raise ConstraintError(f"indices[0] = {rows[0]!r}: rows are whole numbers")
    outside = np.flatnonzero((rows < 0) | (rows >= n_samples))
    if len(outside):
        raise ConstraintError(f"indices[{outside[0]}] = {rows[outside[0]]}: rows are 0 to {n_samples - 1}")
    values, counts = np.unique(rows, return_counts=True)
    if counts.max() > 1:
        raise ConstraintError(
            f"indices holds row {values[counts.argmax()]} more than once: name each row once"
        )
    return rows.astype(np.int64)


def check_n_samples(n_samples: Any) -> int:
    """Return `n_samples` as an int, or say why it cannot be a number of samples."""
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ConstraintError(
            f"n_samples = {n_samples!r}: give the number of rows of X, an integer of at least 1"
        )
    return int(n_samples)


def check_positive(value: Any, name: str) -> float:
    """Return `value` as a float, provided it is positive and finite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise ConstraintError(f"{name} = {value!r}: it must be a positive, finite number")
    return number


def check_weights(weights: ArrayLike, name: str, n_pairs: int) -> FloatArray:
    """Return one positive weight per pair from a scalar or a sequence."""
    try:
        values = np.asarray(to_native(weights), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ConstraintError(f"{name} = {weights!r}: give a positive number, or one per pair") from error
    if values.ndim == 0:
        return np.full(n_pairs, check_positive(values.item(), name))
    if values.shape != (n_pairs,):
        raise ConstraintError(
            f"{name} has shape {values.shape} for {n_pairs} pairs: give one number, or one for each pair"
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise ConstraintError(
            f"{name}[{bad[0]}] = {values[bad[0]]}: a weight must be positive and finite; "
            "leave out pairs you know nothing about"
        )
    return values


def read_links(pairs: Any, weights: ArrayLike, name: str, weight_name: str, n_samples: int) -> Links:
    """Check the user's pairs and weights, and keep each pair once."""
    raw = _as_two_columns(to_native(pairs), name)
    rule, kind = "indices must be whole numbers", raw.dtype.kind
    if kind == "O":
        wrong = [not all(isinstance(index, int | np.integer) for index in row) for row in raw]
        _refuse_first(raw, np.array(wrong), name, rule)
    elif kind == "f":
        with np.errstate(invalid="ignore"):
            _refuse_first(raw, ((raw != np.round(raw)) | ~np.isfinite(raw)).any(axis=1), name, rule)
    elif kind not in "iu":
        _refuse_first(raw, np.ones(len(raw), dtype=bool), name, f"{rule}, not {raw.dtype.name}")
    raw = raw if kind in "iu" else raw.astype(np.int64)
    rule = f"points are numbered 0 to {n_samples - 1} (n_samples={n_samples}); correct the index"
    _refuse_first(raw, np.asarray(((raw < 0) | (raw >= n_samples)).any(axis=1)), name, rule)
    _refuse_first(raw, raw[:, 0] == raw[:, 1], name, "a point cannot be linked with itself; remove the pair")
    return strongest(raw.astype(np.int64), check_weights(weights, weight_name, len(raw)))


def _as_two_columns(pairs: Any, name: str) -> NDArray[Any]:
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    if not hasattr(pairs, "__array__"):
        if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
            raise ConstraintError(f"{name} = {pairs!r}: give pairs (i, j), an array of shape (m, 2)")
        pairs = list(pairs)
        for position, row in enumerate(pairs):
            if not hasattr(row, "__len__") or isinstance(row, str) or len(row) != 2:
                raise ConstraintError(
                    f"{name}[{position}] = {row!r}: each link is a pair (i, j) of two points"
                )
    array = np.asarray(pairs)
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ConstraintError(f"{name} has shape {array.shape}: give pairs (i, j), an array of shape (m, 2)")
    return array


def _refuse_first(raw: NDArray[Any], bad: BoolArray, name: str, rule: str) -> None:
    if bad.any():
        position = int(np.flatnonzero(bad)[0])
        i, j = raw[position]
        raise ConstraintError(f"{name}[{position}] = ({i}, {j}): {rule}")


def check_belief_matrix(matrix: Any, name: str = "Q") -> sparse.csr_array:
    """Return a real symmetric matrix in canonical sparse form."""
    matrix = to_native(matrix)
    array = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] == 0:
        raise ConstraintError(f"{name} has shape {array.shape}: it must be square, one row per sample")
    if array.dtype.kind not in "biuf":
        raise ConstraintError(f"{name} holds {array.dtype.name} values: beliefs must be real numbers")
    result = canonical(array)
    coo = result.tocoo()
    bad = np.flatnonzero(~np.isfinite(coo.data))
    if len(bad):
        row, column = coo.row[bad[0]], coo.col[bad[0]]
        raise ConstraintError(
            f"{name}[{row}, {column}] = {coo.data[bad[0]]}: beliefs must be finite; put 0 where unknown"
        )
    return _symmetric(result, name)


def check_graph(graph: Any, name: str = "A") -> sparse.csr_array:
    """Return the adjacency matrix of an undirected graph with nonnegative weights."""
    if hasattr(graph, "nodes") and hasattr(graph, "adjacency"):
        import networkx

        if len(graph) == 0:
            raise ConstraintError(f"{name} is a graph without nodes: it must have one node per sample")
        graph = networkx.to_scipy_sparse_array(graph)
    matrix = check_belief_matrix(graph, name)
    negative = matrix.tocoo()
    bad = np.flatnonzero(negative.data < 0)
    if len(bad):
        row, column = negative.row[bad[0]], negative.col[bad[0]]
        raise ConstraintError(
            f"{name}[{row}, {column}] = {negative.data[bad[0]]}: weights of a graph cannot be negative; "
            "use Constraints.from_matrix for beliefs of both signs"
        )
    return matrix


def _symmetric(matrix: sparse.csr_array, name: str) -> sparse.csr_array:
    difference = sparse.coo_array(matrix - matrix.T)
    if difference.nnz == 0 or not np.any(difference.data):
        return matrix
    worst = int(np.argmax(np.abs(difference.data)))
    if np.abs(difference.data[worst]) > 1e-10 * np.abs(matrix.data).max():
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise ConstraintError(
            f"{name}[{i}, {j}] = {matrix[i, j]} but {name}[{j}, {i}] = {matrix[j, i]}: "
            f"the matrix must be symmetric; pass ({name} + {name}.T) / 2 if that is what you mean"
        )
    return canonical((matrix + matrix.T) / 2)
