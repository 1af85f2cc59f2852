"""What a method is given and what it gives back, `_solve(task) -> Answer`, and how a fit reads its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, TypeVar

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sidecut.checks import FloatArray, IntArray, check_n_clusters, check_parameters, to_native, to_points
from sidecut.constraints import Constraints
from sidecut.constraints.closure import warn_about_too_few_clusters
from sidecut.constraints.inputs import is_number_text
from sidecut.exceptions import (
    ConflictError,
    ConstraintError,
    LabellingWarning,
    SidecutWarning,
    warn,
)
from sidecut.graphs import Graph, SparseGraph, as_graph, average_along
from sidecut.graphs.both import AveragedExtension, read_graph_of_points

Made = TypeVar("Made")
FLOATS = (np.float64, np.float32)
ONE_FOR_EACH = "give one label for each row of X, None where the class is unknown, or a dict of row and label"
FROM_PAIRS = (
    "Pairs become constraints by Constraints.from_pairs(n_samples, must_link=..., cannot_link=...), "
    "labels by Constraints.from_labels(y)."
)


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is asked to do; everything is checked.

    Parameters
    ----------
    data : array, sparse matrix, RowCodes or None
        The points; their codes, for a method on landmarks; None where X was the graph.
    graph : Graph or None
        The graph of the points, without constraints.
    constraints : Constraints
        The constraints; empty ones where there are none.
    n_clusters : int
        The number of clusters.
    seed : int
        Where every stream of random numbers begins.
    start : Answer, optional
        The answer of an earlier fit, for `warm_start`.
    plain : Answer, optional
        The answer to the same task without constraints, where it is known already.
    sample : array of int, optional
        Only the labels of these points are needed, and roughly: the guard compares answers by them.
    is_trial : bool
        The answer may not be kept: the certificate of its eigenvectors can wait.
    given_graph : Graph, optional
        The graph that was given beside the points.
    """

    data: Any
    graph: Any
    constraints: Constraints
    n_clusters: int
    seed: int
    start: Any = None
    plain: Any = None
    sample: IntArray | None = None
    is_trial: bool = False
    given_graph: Graph | None = None

    @property
    def n_points(self) -> int:
        """The number of points."""
        return self.constraints.n_samples

    @property
    def accuracy(self) -> str:
        """How sure the eigenvectors have to be, see `laplacian_eigenpairs`."""
        return "pending" if self.is_trial else "certified"

    def rng(self) -> np.random.RandomState:
        """Return the stream of random numbers, from its beginning."""
        return np.random.RandomState(self.seed)

    def given(self, constraints: Constraints, **changes: Any) -> Task:
        """Return the same task with other constraints."""
        return replace(self, constraints=constraints, **changes)

    def without_constraints(self) -> Task:
        """Return the same task without constraints."""
        return replace(self, constraints=Constraints.none(self.n_points), plain=None)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a fit leaves behind.

    Parameters
    ----------
    labels : array of shape (n_points,)
        The cluster of every point.
    embedding : array of shape (n_points, m), optional
        The rows that were labelled.
    graph : Graph, optional
        The graph that was cut.
    solution : Eigenpairs, optional
        The eigenvectors of the cut.
    confidence : array of shape (n_points,), optional
        How sure each label is, where the method measures that itself.
    extend : callable, optional
        Returns the labels of new points, given their weights to the old ones.
    results : dict of str to object
        The method's own results. Those whose names end with an underscore become attributes.
    decision : Decision, optional
        What the guard decided.
    unsure : array of shape (n_points,), optional
        The confidence of points in parts of the graph about which nothing is known, NaN elsewhere.
    nodes : array of int, optional
        The points of which `results` speak, where these are not all.
    """

    labels: IntArray
    embedding: Any = None
    graph: Any = None
    solution: Any = None
    confidence: FloatArray | None = None
    extend: Any = None
    results: dict[str, Any] = field(default_factory=dict)
    decision: Decision | None = None
    unsure: FloatArray | None = None
    nodes: IntArray | None = None

    def on_all_points(self, rows: Any) -> Any:
        """Return an array with a row for each of `nodes` as one with a row for each point, else zero."""
        has_rows = isinstance(rows, np.ndarray) and rows.ndim > 0
        if self.nodes is None or not has_rows or len(rows) != len(self.nodes):
            return rows
        everyone = np.zeros((len(self.labels), *rows.shape[1:]), dtype=rows.dtype)
        everyone[self.nodes] = rows
        return everyone

    def because(self, decision: Decision) -> Answer:
        """Return the same answer with what the guard decided."""
        return replace(self, decision=decision)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a result that is made when it is first asked for."""
        if name not in self.results:
            self.results[name] = make()
        return self.results[name]

    def with_results(self, **results: Any) -> Answer:
        """Return the same answer with more results."""
        return replace(self, results={**self.results, **results})


@dataclass(frozen=True)
class Decision:
    """Which answer the guard kept, and why."""

    kept: str
    reason: str

    def __str__(self) -> str:
        return self.reason


def read_task(estimator: Any, X: Any, y: Any, constraints: Constraints | None, graph: Any = None) -> Task:
    """Return what an estimator is asked to do; refuse what makes no sense before anything is computed."""
    check_parameters(estimator)
    check_y(y, estimator)
    found = check_data(estimator, X)
    n_samples = n_points(found)
    given = None if graph is None else check_given_graph(estimator, found, graph)
    constraints = check_constraints(constraints, n_samples, estimator.n_clusters, X)
    if estimator.hard:
        refuse_contradictions(constraints)
    # AutoCut and Layers find the number of clusters themselves.
    asked = estimator.n_clusters
    finds_number = estimator.takes_bounds and (isinstance(asked, tuple) or asked == "auto")
    if isinstance(asked, tuple) and finds_number:
        check_n_clusters(int(asked[0]), n_samples)
    if not finds_number and (isinstance(asked, tuple) or asked == "auto"):
        raise ValueError(
            f"n_clusters={asked!r} must be a whole number, at least 1: AutoCut and Layers find the number, "
            "within bounds such as (2, 6), too."
        )
    n_clusters = 0 if finds_number else check_n_clusters(asked, n_samples)
    warn_about_duplicates(found, n_clusters)
    seed = draw_seed(estimator.random_state)
    if given is None:
        data, graph = estimator._build(found, seed)
    else:
        data, graph = build_on_averages(estimator, found, given, seed)
    start = getattr(estimator, "_answer", None) if estimator.warm_start else None
    if start is not None and len(start.labels) != n_samples:
        start = None
    return Task(data, graph, constraints, n_clusters, seed, start, given_graph=given)


def check_given_graph(estimator: Any, found: Any, graph: Any) -> Graph:
    """Return the graph that was given beside the points, or say why there can be none."""
    name = type(estimator).__name__
    if not estimator.takes_graph:
        raise ValueError(f"graph=... is for methods that cut a graph, and {name} does not: choose another.")
    if isinstance(found, Graph):
        raise ValueError(
            'graph=... is a second source beside points, but X is a graph itself, by affinity="precomputed". '
            "Give the points as X and the graph as graph=..., or leave one out."
        )
    return read_graph_of_points(graph, n_points(found))


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that is given, or one that is drawn."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_y(y: Any, estimator: Any) -> None:
    """Refuse constraints and partial labels given as y: a clusterer does not read y."""
    if isinstance(y, Constraints):
        raise ConstraintError(
            "constraints were given by position, as y, which is not read: write fit(X, constraints=...)."
        )
    if y is not None and _are_partial_labels(y):
        raise ConstraintError(
            "y has unknown entries (-1, None or NaN), so it holds labels of some points, and y is not read. "
            f"To use them write {type(estimator).__name__}(...).fit(X, constraints=y)."
        )


def _are_partial_labels(y: Any) -> bool:
    """Tell whether y has classes and unknown entries."""
    y = to_native(y)
    if np.ndim(y) != 1:
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


def check_data(estimator: Any, X: Any) -> Any:
    """Return the points X as an array or sparse matrix, or the graph X where it is one."""
    is_graph = isinstance(X, Graph) and isinstance(affinity := getattr(estimator, "affinity", None), str)
    if not is_precomputed(estimator) and not (is_graph and affinity == "auto"):
        return check_points(estimator, X, **estimator.accepts)
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
    """Return points as finite numbers whose squares neither overflow nor vanish."""
    X = to_points(X)
    refuse_text(X)
    at_least = {"ensure_min_samples": 2} if reset else {}
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=accept_sparse,
        dtype=dtype,
        ensure_all_finite=False,
        **at_least,
    )
    refuse_gaps(X, getattr(estimator, "feature_names_in_", None))
    if reset:
        estimator._exponent = _find_scale(X)
    return X * 2.0**-estimator._exponent if estimator._exponent else X


def refuse_text(X: Any) -> None:
    """Refuse columns of text, categories or dates, and name the first one and its first such value."""
    kinds = getattr(X, "dtypes", None)
    names = list(getattr(X, "columns", ()))
    if kinds is None or not names or len(names) != len(kinds):
        return
    for place, kind in enumerate(kinds):
        if getattr(kind, "kind", "O") in "fiub":
            continue
        values = X.iloc[:, place] if hasattr(X, "iloc") else X[names[place]]
        bad = next((row for row, value in enumerate(values) if not _is_number(value)), None)
        if bad is not None:
            raise ValueError(
                f"Column {names[place]!r} of X holds no numbers: row {bad} has {list(values)[bad]!r}. Text, "
                "categories and dates must become numbers first, for example by "
                "sklearn.preprocessing.OneHotEncoder, or be left out, as in "
                f"X.drop(columns={names[place]!r})."
            )


def _is_number(value: Any) -> bool:
    """Tell whether a cell of a frame is a number, or a gap."""
    if isinstance(value, str | bytes):
        return is_number_text(value) if isinstance(value, str) else False
    return value is None or hasattr(value, "__float__") or type(value).__name__ == "NAType"


def refuse_gaps(X: Any, names: Any = None) -> None:
    """Refuse points with values that are missing or infinite, and say where the first one is."""
    entries = X.data if sp.issparse(X) else X
    if entries.dtype.kind != "f" or np.isfinite(entries).all():
        return
    places = sp.coo_array(X)
    bad = ~np.isfinite(places.data)
    row, column = min(zip(places.row[bad].tolist(), places.col[bad].tolist(), strict=True))
    where = column if names is None else repr(str(names[column]))
    n_rows, is_missing = len(np.unique(places.row[bad])), bool(np.isnan(entries).any())
    way_out = "Fill the gaps, for example by sklearn.impute.SimpleImputer," if is_missing else "Replace them,"
    raise ValueError(
        f"X contains {'NaN' if is_missing else 'infinity'} in {n_rows} of {X.shape[0]} rows, "
        f"the first at row {row}, column {where}. {way_out} or leave these rows or columns out."
    )


def _find_scale(X: Any) -> int:
    """Return by which power of two to divide points whose squares overflow or vanish; most need none."""
    if X.dtype.kind != "f":
        return 0
    entries = X.data if sp.issparse(X) else X
    largest, limits = float(np.abs(entries).max(initial=0.0)), np.finfo(X.dtype)
    if largest == 0 or 1e4 * np.sqrt(limits.tiny) < largest < 1e-4 * np.sqrt(limits.max):
        return 0
    # Within what is a number itself: 2**1024 is none.
    exponent = int(np.clip(np.frexp(largest)[1], -1000, 1000))
    warn(
        f"The largest value of X is {largest:.3g}, whose square is beyond {X.dtype}: X was divided by "
        f"2**{exponent}. Labels are not affected; centres and widths are those of the scaled X.",
        SidecutWarning,
    )
    return exponent


def build_on_averages(estimator: Any, points: Any, given: Graph, seed: int) -> tuple[Any, Graph | None]:
    """Return the points, and the graph of their features averaged along a graph that was given."""
    averages = average_along(given, points)
    graph = estimator._build(averages, seed)[1]
    if isinstance(graph, SparseGraph) and graph.extension is not None:
        graph.extension = AveragedExtension(graph.extension, averages)
    return points, graph


def make_once(estimator: BaseEstimator, settings: tuple, data: Any, make: Callable[[], Made]) -> Made:
    """Return what is made of data; with `warm_start`, what an earlier fit made of them."""
    if not estimator.warm_start:
        estimator._made = (None, None)
        return make()
    # joblib tells apart the same values in another memory layout. Processors have instructions for SHA-1.
    points = data if sp.issparse(data) else np.ascontiguousarray(data)
    fingerprint = (joblib.hash(settings), joblib.hash(points, hash_name="sha1"))
    made: tuple[Any, Any] = getattr(estimator, "_made", (None, None))
    if made[0] != fingerprint:
        made = estimator._made = (fingerprint, make())
    return made[1]


def is_precomputed(estimator: Any) -> bool:
    """Tell whether X is the graph itself."""
    affinity = getattr(estimator, "affinity", None)
    return isinstance(affinity, str) and affinity == "precomputed"


def n_points(data: Any) -> int:
    """Return how many points there are in what `check_data` let in."""
    return data.n_nodes if isinstance(data, Graph) else int(data.shape[0])


def check_constraints(constraints: Any, n_samples: int, n_clusters: Any = None, X: Any = None) -> Constraints:
    """Return the constraints, or those that labels stand for; refuse those made for other data."""
    # Where `n_clusters` is given, warn if it is less than the constraints need.
    constraints = as_constraints(constraints, n_samples, X)
    constraints.check_matches(n_samples)
    if isinstance(n_clusters, Integral) and constraints.clique_bound > n_clusters:
        warn_about_too_few_clusters(constraints, int(n_clusters))
    return constraints


def warn_about_duplicates(data: Any, n_clusters: int) -> None:
    """Warn where equal points must be separated to make `n_clusters` clusters."""
    # Eigenvectors separate equal points by rounding alone, yet k-means finds clusters in that.
    n_distinct = n_clusters if isinstance(data, Graph) else _count_distinct(data, n_clusters)
    if n_distinct < n_clusters:
        warn(
            f"n_clusters={n_clusters} is more than the number of different points in X, {n_distinct}: equal "
            f"points are separated by chance. Choose n_clusters <= {n_distinct}.",
            LabellingWarning,
        )


def _count_distinct(points: Any, enough: int) -> int:
    """Count different rows, but no further than `enough`: in most data the first few rows suffice."""
    seen: set[bytes] = set()
    for row in range(points.shape[0]):
        dense = points[[row]].toarray() if sp.issparse(points) else points[row]
        # Adding zero turns -0.0 into 0.0, which is equal but has other bytes.
        seen.add((dense + 0.0).tobytes())
        if len(seen) >= enough:
            break
    return len(seen)


def refuse_contradictions(constraints: Constraints) -> None:
    """Refuse links that no labels satisfy."""
    conflicts = constraints.conflicts(max_chains=1)
    if conflicts:
        raise ConflictError(
            f"hard=True, but {conflicts[0]} ({constraints.n_conflicts} such in all): no labels satisfy both. "
            "Correct them, call constraints.without_conflicts(), or use hard=False.",
            conflicts,
        )


def as_constraints(given: Any, n_samples: int, X: Any = None) -> Constraints:
    """Return constraints that are given as they are, or as labels of rows; empty ones for None."""
    # A dictionary or a series names rows by the index of X, where X is a frame that has one.
    if given is None:
        return Constraints.none(n_samples)
    if isinstance(given, Constraints):
        return given
    given = to_native(given)
    index = getattr(X, "index", None) if hasattr(X, "iloc") else None
    if isinstance(given, Mapping):
        return Constraints.from_labels(_placed(list(given), list(given.values()), n_samples, index))
    if index is not None and hasattr(given, "index") and hasattr(given, "iloc") and given.ndim == 1:
        placed = _placed(list(given.index), given.tolist(), n_samples, index)
        # Whole numbers with gaps are floats in pandas: 3.0 is the class 3.
        return Constraints.from_labels(placed.astype(float) if given.dtype.kind == "f" else placed)
    refuse_other_forms(given)
    if len(given) != n_samples:
        raise ConstraintError(
            f"constraints has {len(given)} labels for {n_samples} rows of X: {ONE_FOR_EACH}. {FROM_PAIRS}"
        )
    return Constraints.from_labels(given)


def refuse_other_forms(given: Any) -> None:
    """Refuse what is neither constraints nor labels of rows; how many rows there are need not be known."""
    if given is None or isinstance(given, Constraints | Mapping):
        return
    if isinstance(given, str | bytes) or np.ndim(given) != 1:
        shape = getattr(given, "shape", None)
        said = type(given).__name__ if shape is None else f"{type(given).__name__} of shape {tuple(shape)}"
        raise ConstraintError(f"constraints is a {said}: {ONE_FOR_EACH}. {FROM_PAIRS}")


def _placed(names: list[Any], labels: list[Any], n_samples: int, index: Any) -> NDArray[np.object_]:
    """Return labels in the order of the rows that they name, None for all other rows."""
    rows = list(range(n_samples)) if index is None else list(index)
    place = {name: row for row, name in enumerate(rows)}
    whose = "rows of X are numbered from 0" if index is None else "rows are called by the index of X"
    if len(place) < len(rows):
        twice = next(name for row, name in enumerate(rows) if place[name] != row)
        raise ConstraintError(
            f"The index of X has {twice!r} more than once, so that labels cannot be given by it: give an "
            "array in the order of the rows, as series.to_numpy()."
        )
    placed: NDArray[np.object_] = np.full(n_samples, None, dtype=object)
    for name, label in zip(names, labels, strict=True):
        if name not in place:
            some = ", ".join(repr(one) for one in rows[:3])
            raise ConstraintError(
                f"constraints has a label for {name!r}, but no row of X is called so; {whose} ({some}, ...). "
                f"An array goes by the order of the rows. {FROM_PAIRS}"
            )
        placed[place[name]] = label
    if len(set(names)) < len(names):
        raise ConstraintError("constraints names a row more than once: keep one label for each.")
    return placed
