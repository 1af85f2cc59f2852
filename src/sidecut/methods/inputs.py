"""The front door of every method: what may be handed to fit."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from numbers import Integral
from typing import Any, TypeVar

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from sidecut.arrays import FloatArray, to_native, to_points
from sidecut.constraints import Constraints
from sidecut.constraints.closure import warn_about_too_few_clusters
from sidecut.exceptions import (
    ConflictError,
    ConstraintError,
    KnowledgeWarning,
    LabellingWarning,
    ParameterWarning,
    SidecutWarning,
    warn,
)
from sidecut.graphs import Graph, as_graph, recipe
from sidecut.parameters import check_flag, check_n_clusters
from sidecut.progress import stage

Made = TypeVar("Made")
FLOATS = (np.float64, np.float32)


def check_y(y: Any) -> None:
    """Refuse constraints given as y, and warn about partial labels there: a clusterer does not read y.

    Raises
    ------
    ConstraintError
        If y is a Constraints value, as in ``fit(X, known)``.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.methods.inputs import check_y
    >>> check_y(Constraints.from_labels([0, -1, 1]))
    Traceback (most recent call last):
    ...
    sidecut.exceptions.ConstraintError: constraints were given by position, as y, which is not read: write
    fit(X, constraints=...).
    """
    if isinstance(y, Constraints):
        raise ConstraintError(
            "constraints were given by position, as y, which is not read: write fit(X, constraints=...)."
        )
    if _are_partial_labels(y):
        warn(
            "y has unknown entries (-1, None or NaN), so it looks like partial labels; y is not read. Write "
            "fit(X, constraints=Constraints.from_labels(y)) to use them.",
            KnowledgeWarning,
        )


def _are_partial_labels(y: Any) -> bool:
    """Tell whether y has classes and unknown entries."""
    y = to_native(y)
    if y is None or np.ndim(y) != 1:
        return False
    labels = np.asarray(y)
    if labels.dtype.kind in "if":
        return _has_unknown(labels.astype(float))
    if labels.dtype.kind != "O":
        return False
    unknown = np.array([value is None or str(value) in ("nan", "NaT", "<NA>") for value in labels])
    return bool(unknown.any() and not unknown.all())


def _has_unknown(numbers: FloatArray) -> bool:
    """Tell partial class numbers from all others; -1 and 1 alone are two classes."""
    unknown = np.isnan(numbers) | (numbers == -1)
    known = numbers[~unknown]
    is_two_classes = not np.isnan(numbers).any() and set(np.unique(known)) == {1.0}
    is_classes = known.size > 0 and bool(np.all((known >= 0) & (known == np.round(known))))
    return bool(unknown.any() and is_classes and not is_two_classes)


def check_data(estimator: BaseEstimator, X: Any) -> Any:
    """Return the points X as an array or sparse matrix, or the graph X where it is one.

    Parameters
    ----------
    estimator : BaseEstimator
        Its `affinity` says what X is; it learns `n_features_in_`.
    X : array, sparse matrix, tensor, data frame or table; with affinity="precomputed" also a Graph or a
        networkx or igraph graph
        The data.
    """
    if not is_precomputed(estimator):
        return check_points(estimator, X)
    X = to_native(X)
    is_matrix = not isinstance(X, Graph) and (hasattr(X, "shape") or isinstance(X, list | tuple))
    if is_matrix:
        X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    graph = as_graph(X)
    if not is_matrix:
        estimator.n_features_in_ = graph.n_nodes
    return graph


def check_points(
    estimator: BaseEstimator, X: Any, *, reset: bool = True, dtype: Any = FLOATS, accept_sparse: Any = "csr"
) -> Any:
    """Return points as finite numbers whose squares neither overflow nor vanish.

    Parameters
    ----------
    estimator : BaseEstimator
        Learns the number of features and, where points must be scaled, by how much.
    X : array, sparse matrix, tensor, data frame or table of shape (n_samples, n_features)
        The points.
    reset : bool
        Whether this is `fit`; in `predict` points are scaled as they were in `fit`.
    dtype, accept_sparse
        As in `sklearn.utils.validation.validate_data`.
    """
    at_least = {"ensure_min_samples": 2} if reset else {}
    X = validate_data(
        estimator,
        to_points(X),
        reset=reset,
        accept_sparse=accept_sparse,
        dtype=dtype,
        ensure_all_finite=False,
        **at_least,
    )
    refuse_gaps(X)
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X holds {X.dtype}, not numbers: text and categories must become numbers first, for example by "
            "sklearn.preprocessing.OneHotEncoder, or be left out."
        )
    if reset:
        estimator.__dict__.pop("_exponent", None)
        _learn_scale(estimator, X)
    exponent = getattr(estimator, "_exponent", 0)
    return X * 2.0**-exponent if exponent else X


def refuse_gaps(X: Any) -> None:
    """Refuse points with values that are missing or infinite, and say where the first one is.

    Raises
    ------
    ValueError
        If there is a NaN or an infinite value.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.inputs import refuse_gaps
    >>> refuse_gaps(np.array([[1.0, 2.0], [np.nan, 4.0]]))
    Traceback (most recent call last):
    ...
    ValueError: X contains NaN in 1 of 2 rows, the first at row 1, column 0. Fill the gaps, for example by
    sklearn.impute.SimpleImputer, or leave these rows or columns out.
    """
    entries = X.data if sp.issparse(X) else X
    if entries.dtype.kind != "f" or np.isfinite(entries).all():
        return
    places = sp.coo_array(X)
    bad = ~np.isfinite(places.data)
    row, column = min(zip(places.row[bad].tolist(), places.col[bad].tolist(), strict=True))
    n_rows, is_missing = len(np.unique(places.row[bad])), bool(np.isnan(entries).any())
    way_out = "Fill the gaps, for example by sklearn.impute.SimpleImputer," if is_missing else "Replace them,"
    raise ValueError(
        f"X contains {'NaN' if is_missing else 'infinity'} in {n_rows} of {X.shape[0]} rows, "
        f"the first at row {row}, column {column}. {way_out} or leave these rows or columns out."
    )


def _learn_scale(estimator: BaseEstimator, X: Any) -> None:
    """Remember by which power of two to divide points whose squares overflow or vanish; most need none."""
    if X.dtype.kind != "f":
        return
    entries = X.data if sp.issparse(X) else X
    largest, limits = float(np.abs(entries).max(initial=0.0)), np.finfo(X.dtype)
    if largest == 0 or 1e4 * np.sqrt(limits.tiny) < largest < 1e-4 * np.sqrt(limits.max):
        return
    # Within what is a number itself: 2**1024 is none.
    estimator._exponent = int(np.clip(np.frexp(largest)[1], -1000, 1000))
    warn(
        f"The largest value of X is {largest:.3g}, whose square is beyond {X.dtype}: X was divided by "
        f"2**{estimator._exponent}. Labels are not affected; centres and widths are those of the scaled X.",
        SidecutWarning,
    )


def build_graph(estimator: BaseEstimator, data: Any) -> Graph:
    """Return the graph an estimator is to cut, from what `check_data` let in.

    Parameters
    ----------
    estimator : BaseEstimator
        Its `affinity` and `n_neighbors` say how; with `warm_start`, where it has one, the graph is kept and
        used again for the same data.
    data : array, sparse matrix or Graph
        The points, or the graph itself, returned unchanged.
    """
    warn_about_unused_neighbors(estimator)
    if isinstance(data, Graph):
        return data
    how = recipe(estimator.affinity, estimator.n_neighbors)
    with stage("graph"):
        return make_once(estimator, (type(how), how.get_params()), data, lambda: how.build(data))


def warn_about_unused_neighbors(estimator: BaseEstimator) -> None:
    """Warn where `n_neighbors` was chosen though the affinity does not look at it."""
    default = signature(type(estimator)).parameters["n_neighbors"].default
    is_used = isinstance(estimator.affinity, str) and estimator.affinity in ("knn", "nearest_neighbors")
    if is_used or estimator.n_neighbors == default:
        return
    named = estimator.affinity if isinstance(estimator.affinity, str) else type(estimator.affinity).__name__
    warn(
        f"n_neighbors={estimator.n_neighbors} has no effect with affinity={named!r}: it is for 'knn'. Leave "
        "it out, or set it in the recipe, as in affinity=Neighbors(15).",
        ParameterWarning,
    )


def make_once(estimator: BaseEstimator, settings: tuple, data: Any, make: Callable[[], Made]) -> Made:
    """Return what is made of data; with `warm_start`, what a fit before made of them with the same settings.

    Parameters
    ----------
    estimator : BaseEstimator
        Keeps what was made, if its `warm_start` says so.
    settings : tuple
        Everything but the data that what is made depends on.
    data : array or sparse matrix
        The points, told from others by their values and not by where they are.
    make : callable
        Makes it.
    """
    if not getattr(estimator, "warm_start", False):
        estimator.__dict__.pop("_kept", None)
        return make()
    # joblib tells apart the same values in another memory layout. Processors have instructions for SHA-1.
    points = data if sp.issparse(data) else np.ascontiguousarray(data)
    fingerprint = (joblib.hash(settings), joblib.hash(points, hash_name="sha1"))
    kept: tuple[Any, Any] = getattr(estimator, "_kept", (None, None))
    if kept[0] != fingerprint:
        kept = estimator._kept = (fingerprint, make())
    return kept[1]


def is_precomputed(estimator: BaseEstimator) -> bool:
    """Tell whether X is the graph itself."""
    return isinstance(estimator.affinity, str) and estimator.affinity == "precomputed"


def n_points(data: Any) -> int:
    """Return how many points there are in what `check_data` let in."""
    return data.n_nodes if isinstance(data, Graph) else int(data.shape[0])


def check_task(estimator: BaseEstimator, data: Any, constraints: Constraints | None) -> Constraints:
    """Return the constraints; refuse, before anything is computed, what cannot be clustered as asked.

    Parameters
    ----------
    estimator : BaseEstimator
        Its `n_clusters` and `hard` say what is asked for.
    data : array, sparse matrix or Graph
        What `check_data` or `check_points` let in.
    constraints : Constraints or None
        What is known.

    Raises
    ------
    ConstraintError
        If the constraints are for other data, or contradict each other where all must be satisfied.
    ValueError
        If there are more clusters than points.
    """
    constraints = check_constraints(constraints, n_points(data), estimator.n_clusters)
    refuse_contradictions(estimator, constraints)
    n_clusters = check_n_clusters(estimator.n_clusters, n_points(data))
    warn_about_duplicates(data, n_clusters)
    return constraints


def check_constraints(constraints: Constraints | None, n_samples: int, n_clusters: Any = None) -> Constraints:
    """Return the constraints, or empty ones for None; refuse those made for other data.

    Where `n_clusters` is given, warn if it is less than the constraints need.

    Raises
    ------
    ConstraintError
        If they are not a Constraints value or not for `n_samples` samples.
    """
    refuse_other_than_constraints(constraints)
    if constraints is None:
        return Constraints.none(n_samples)
    constraints.check_matches(n_samples)
    if isinstance(n_clusters, Integral) and constraints.most_apart > n_clusters:
        warn_about_too_few_clusters(constraints, int(n_clusters))
    return constraints


def refuse_other_than_constraints(constraints: Any) -> None:
    """Refuse what is neither None nor a Constraints value; the data need not be known for it.

    Raises
    ------
    ConstraintError
        Naming the type and how to make constraints.
    """
    if constraints is not None and not isinstance(constraints, Constraints):
        raise ConstraintError(
            f"constraints is a {type(constraints).__name__}; pairs become constraints by "
            "Constraints.from_pairs(n_samples, must_link=..., cannot_link=...), labels by "
            "Constraints.from_labels(y)."
        )


def warn_about_duplicates(data: Any, n_clusters: int) -> bool:
    """Warn where equal points would have to be told apart to make `n_clusters` clusters.

    Eigenvectors separate equal points by nothing but rounding, yet k-means would find its clusters in that.
    Returns whether there was anything to warn about.
    """
    if isinstance(data, Graph):
        return False
    n_distinct = _count_distinct(data, n_clusters)
    if n_distinct < n_clusters:
        warn(
            f"n_clusters={n_clusters} is more than the number of different points in X, {n_distinct}: equal "
            f"points are told apart by chance. Choose n_clusters <= {n_distinct}.",
            LabellingWarning,
        )
    return n_distinct < n_clusters


def _count_distinct(points: Any, enough: int) -> int:
    """Count different rows, but no further than `enough`: in most data the first few rows suffice."""
    seen: set[bytes] = set()
    for row in range(points.shape[0]):
        # Adding zero turns -0.0 into 0.0, which is equal but has other bytes.
        seen.add((_dense_row(points, row) + 0.0).tobytes())
        if len(seen) >= enough:
            break
    return len(seen)


def _dense_row(points: Any, row: int) -> np.ndarray:
    return points[[row]].toarray() if sp.issparse(points) else points[row]


# The last step of a fit where the links are to be satisfied, whatever the method made of them.


def refuse_contradictions(estimator: Any, constraints: Constraints) -> None:
    """Refuse, before anything is computed, links that no labels satisfy where all must be satisfied.

    Raises
    ------
    ConflictError
        With the chain of must-links that contradicts a cannot-link, if the estimator is `hard`.
    """
    check_flag("hard", estimator.hard)
    if not estimator.hard or constraints.is_empty:
        return
    conflicts = constraints.conflicts(max_chains=1)
    if conflicts:
        raise ConflictError(
            f"hard=True, but {conflicts[0]} ({constraints.n_conflicts} such in all): no labels satisfy both. "
            "Correct them, call constraints.without_conflicts(), or use hard=False.",
            conflicts,
        )
