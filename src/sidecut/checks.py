"""Types of arrays, conversion of other libraries' data, and checks of parameters in one wording."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]


def to_native(data: Any) -> Any:
    """Return PyTorch tensors, igraph graphs and lazy polars frames as arrays, sparse arrays and frames."""
    # Everything else is returned as it is. No library is imported for it.
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library == "torch" and hasattr(data, "detach"):
        return _from_tensor(data)
    if library == "igraph" and hasattr(data, "get_edgelist"):
        return _from_igraph(data)
    if library == "polars" and kind == "LazyFrame":
        return data.collect()
    return data


def to_points(data: Any) -> Any:
    """Return points as `to_native` does, and refuse graphs of other libraries: their nodes are no points."""
    library = type(data).__module__.partition(".")[0]
    if library in ("networkx", "igraph"):
        raise ValueError(
            f'X is a {library} graph, not points: use affinity="precomputed", if the method has `affinity`.'
        )
    return to_native(data)


def _from_tensor(tensor: Any) -> Any:
    """Return a tensor of any device without its gradient, sparse where it is sparse."""
    tensor = tensor.detach().cpu()
    is_dense = str(tensor.layout) == "torch.strided"
    if not is_dense:
        tensor = tensor.to_sparse_coo().coalesce()
    values = tensor if is_dense else tensor.values()
    # NumPy has no bfloat16; float32 holds all of its values.
    values = (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
    if is_dense:
        return values
    return sp.coo_array((values, tuple(tensor.indices().numpy())), shape=tuple(tensor.shape)).tocsr()


def _from_igraph(graph: Any) -> sp.csr_array:
    """Return the weights of an undirected graph; edges without a weight count 1, parallel ones add up."""
    if graph.is_directed():
        raise ValueError("A directed igraph graph cannot be cut; use graph.as_undirected().")
    n, edges = graph.vcount(), np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = np.asarray(graph.es["weight"] if "weight" in graph.es.attributes() else np.ones(len(edges)))
    # Self-loops lie on the diagonal and are there once.
    is_loop = edges[:, 0] == edges[:, 1]
    both = np.concatenate([edges, edges[~is_loop][:, ::-1]])
    values = np.concatenate([weights, weights[~is_loop]]).astype(np.float64)
    return sp.coo_array((values, (both[:, 0], both[:, 1])), shape=(n, n)).tocsr()


def refuse_nonfinite(rows: Any, start: int, name: str = "X") -> None:
    """Refuse rows of X with NaN or infinity in them, naming the first, counted from `start`."""
    values = rows.data if sp.issparse(rows) else rows
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum is faster than a look at every value. One that is finite has finite terms.
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size == 0:
        return
    if sp.issparse(rows):
        places = rows.tocoo()
        row, column = places.row[bad[0]], places.col[bad[0]]
    else:
        row, column = np.unravel_index(bad[0], rows.shape)
    raise ValueError(
        f"{name}[{start + row}, {column}] = {values.ravel()[bad[0]]}: every value must be finite, not NaN or "
        "infinity. Impute missing values or leave the row out."
    )


def is_number(value: Any) -> bool:
    """Return whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: Any) -> int:
    """Return a positive whole number, or say what was given instead."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number, at least 1.")
    return int(value)


def check_not_negative(name: str, value: Any) -> None:
    """Refuse a parameter that is not a finite number of at least 0."""
    if not is_number(value) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number, not negative.")


def check_positive(name: str, value: Any) -> None:
    """Refuse a parameter that is not a positive finite number."""
    if not is_number(value) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number, more than 0.")


def check_flag(name: str, value: Any) -> None:
    """Refuse a parameter that is neither True nor False: "no" would count as yes."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} must be True or False.")


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """Return the number of clusters, or say why it cannot be one."""
    n_clusters = check_count("n_clusters", n_clusters)
    if n_clusters > n_samples:
        raise ValueError(f"n_clusters={n_clusters} is more than the n_samples={n_samples} points there are.")
    return n_clusters


def check_count_or_bounds(name: str, value: Any) -> None:
    """Refuse a number of clusters that is neither a count, nor bounds, nor "auto"."""
    if isinstance(value, str) and value != "auto":
        raise ValueError(
            f"{name}={value!r} must be a whole number, at least 1, bounds such as (2, 6), or 'auto'."
        )
    if not isinstance(value, tuple):
        return
    are_counts = [isinstance(one, int | np.integer) and not isinstance(one, bool) for one in value]
    if len(value) != 2 or not all(are_counts) or not 1 <= value[0] <= value[1]:
        raise ValueError(
            f"{name}={value!r}: bounds are two whole numbers, such as (2, 6), the smaller one first and "
            "at least 1."
        )


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of its choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r}: choose one of {', '.join(map(repr, choices))}.")


def check_tolerance(name: str, tol: Any) -> None:
    """Refuse a tolerance that is not a number between 0 and 1."""
    if not is_number(tol) or not 0 <= tol < 1:
        raise ValueError(f"{name}={tol!r} must be at least 0, as exact as rounding allows, and below 1.")


#: A check of a parameter: called with its name and its value, it raises a ValueError that names both.
Rule = Callable[[str, Any], Any]


def one_of(*choices: str) -> Rule:
    """Return the rule that a parameter is one of some words."""
    return lambda name, value: check_choice(name, value, choices)


def optional(rule: Rule) -> Rule:
    """Return the rule that a parameter is None, or as another rule says."""
    return lambda name, value: None if value is None else rule(name, value)


def unless(word: str, rule: Rule) -> Rule:
    """Return the rule that a parameter is a word, or as another rule says."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, str) and value == word:
            return
        try:
            rule(name, value)
        except (TypeError, ValueError) as error:
            raise type(error)(f'{str(error).rstrip(".")}, or "{word}".') from None

    return check


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator by its `rules`, before any data are read."""
    for owner in reversed(type(estimator).__mro__):
        for name, rule in vars(owner).get("rules", {}).items():
            rule(name, getattr(estimator, name))
