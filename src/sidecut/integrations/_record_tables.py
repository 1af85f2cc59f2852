"""Tables of compared pairs: reading them, numbering the records, and giving the result back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.arrays import FloatArray, IntArray, to_native
from sidecut.exceptions import ConstraintError


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """The compared pairs: ids and, where there are any, sources of both sides, with the probability."""

    left: NDArray[Any]
    right: NDArray[Any]
    probability: FloatArray
    sources: tuple[NDArray[Any], NDArray[Any]] | None


def read_edges(edges: Any, left: str, right: str, probability: str) -> EdgeTable:
    """Read a table with one row per compared pair, of whatever library."""
    edges = to_native(edges)
    if hasattr(edges, "as_pandas_dataframe"):
        edges = edges.as_pandas_dataframe()
    names = getattr(getattr(edges, "dtype", None), "names", None)
    if names and {"pairs", "score"} <= set(names):
        pairs = np.asarray(edges["pairs"])
        return EdgeTable(pairs[:, 0], pairs[:, 1], _check_probability(edges["score"]), None)
    columns = _names_of(edges)
    missing = [name for name in (left, right, probability) if name not in columns]
    if missing:
        raise ConstraintError(
            f"edges has no column {missing[0]!r}; it has {', '.join(map(repr, columns))}. Say which is "
            "which by left=, right= and probability=."
        )
    sided = [f"source_dataset_{side}" for side in "lr"]
    sources = tuple(np.asarray(edges[name]) for name in sided) if set(sided) <= set(columns) else None
    return EdgeTable(
        np.asarray(edges[left]),
        np.asarray(edges[right]),
        _check_probability(edges[probability]),
        None if sources is None else (sources[0], sources[1]),
    )


def _names_of(edges: Any) -> list[str]:
    """Return the names of the columns: of a frame, an Arrow table or a dict."""
    for attribute in ("column_names", "columns"):
        if hasattr(edges, attribute):
            return list(getattr(edges, attribute))
    if hasattr(edges, "keys"):
        return list(edges)
    raise ConstraintError(
        f"edges is a {type(edges).__name__}: give a data frame, an Arrow table or a dict of columns with one "
        "row per compared pair, splink's predictions or dedupe's scores."
    )


def _check_probability(values: Any) -> FloatArray:
    probability = np.asarray(values, dtype=np.float64)
    bad = np.flatnonzero(~((probability >= 0) & (probability <= 1)))
    if len(bad):
        raise ConstraintError(
            f"the match probability of row {bad[0]} is {probability[bad[0]]}: it must lie between 0 and 1. "
            "Match weights w become probabilities by 2**w / (1 + 2**w)."
        )
    return probability


@dataclass(frozen=True, eq=False)
class RecordIds:
    """The records by number: their ids, their sources if any, and the two sides of every pair."""

    ids: Any
    sources: Any
    pairs: IntArray

    def __len__(self) -> int:
        return len(self.ids)

    def shown(self, number: int) -> str:
        """Return how a user calls a record."""
        return repr(self.key(number))

    def key(self, number: int) -> Any:
        """Return the id of a record, or its source and its id."""
        plain = self.ids[number].item() if isinstance(self.ids[number], np.generic) else self.ids[number]
        return plain if self.sources is None else (self.sources[number], plain)

    def as_table(self, clusters: IntArray, confidence: FloatArray, like: Any) -> Any:
        """Return the result as a table of the kind the edges were."""
        columns: dict[str, Any] = {"unique_id": self.ids}
        if self.sources is not None:
            columns["source_dataset"] = self.sources
        columns |= {"cluster_id": clusters, "confidence": confidence}
        library = type(like).__module__.partition(".")[0]
        if library == "polars":
            import polars

            return polars.DataFrame({name: list(column) for name, column in columns.items()})
        if library == "pyarrow":
            import pyarrow  # type: ignore[import-untyped]

            return pyarrow.table({name: list(column) for name, column in columns.items()})
        import pandas

        return pandas.DataFrame(columns)


def number_records(table: EdgeTable, records: Any) -> RecordIds:
    """Number the records, in the order of `records` or as the pairs meet them."""
    import pandas

    keys, n_pairs = np.concatenate([table.left, table.right]), len(table.left)
    if table.sources is not None:
        keys = _as_keys(zip(np.concatenate(table.sources), keys, strict=True))
    else:
        # The two sides in turn, so that records are met pair by pair.
        keys = np.stack([table.left, table.right], axis=1).reshape(-1)
    given = _as_keys(records) if records is not None else keys[:0]
    codes, found = pandas.factorize(np.concatenate([given, keys]) if len(given) else keys)
    if len(given):
        _refuse_repeated(codes[: len(given)], found)
        _refuse_foreign(codes, len(given), found)
        codes = codes[len(given) :]
    sides = codes.reshape(2, n_pairs).T if table.sources is not None else codes.reshape(n_pairs, 2)
    _refuse_loops(sides, found)
    if table.sources is None:
        return RecordIds(found, None, sides)
    return RecordIds(
        np.array([key[1] for key in found], dtype=object), np.array([key[0] for key in found], object), sides
    )


def _as_keys(values: Iterable[Any]) -> NDArray[Any]:
    """Return ids as an array, tuples as objects."""
    values = list(values)
    if not any(isinstance(value, tuple) for value in values):
        return np.asarray(values)
    keys: NDArray[Any] = np.empty(len(values), dtype=object)
    keys[:] = values
    return keys


def _refuse_repeated(codes: IntArray, found: Any) -> None:
    if len(np.unique(codes)) < len(codes):
        twice = int(np.argmax(np.bincount(codes) > 1))
        raise ConstraintError(f"the record {found[twice]!r} is in records twice; ids must be unique.")


def _refuse_foreign(codes: IntArray, n_records: int, found: Any) -> None:
    foreign = np.flatnonzero(codes >= n_records)
    if len(foreign):
        raise ConstraintError(f"the record {found[codes[foreign[0]]]!r} of edges is not among records.")


def _refuse_loops(sides: IntArray, found: Any) -> None:
    loops = np.flatnonzero(sides[:, 0] == sides[:, 1])
    if len(loops):
        raise ConstraintError(
            f"row {loops[0]} of edges compares {found[sides[loops[0], 0]]!r} with itself; leave it out."
        )
