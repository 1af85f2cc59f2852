"""Entity resolution: which records are the same person, company or thing.

splink, dedupe and others give a match probability for pairs of records. This module turns pairs into
entities. With connected components, one wrong match joins two entities, and a chain of them makes one giant.
Here unlikely pairs, and pairs that were not compared, count against a cluster as likely ones count for it.
Must-links and cannot-links always hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.checks import FloatArray, IntArray, to_native
from sidecut.constraints import Constraints
from sidecut.constraints.groups import number_by_appearance
from sidecut.exceptions import ConflictError, ConstraintError
from sidecut.integrations._entities import Evidence, find_clusters, measure_confidence

#: Match probabilities above this count as this, and below 1 minus this: models of matching are overconfident.
MAX_PROBABILITY = 0.999


def cluster_records(
    edges: Any,
    *,
    must_link: Any = (),
    cannot_link: Any = (),
    records: Any = None,
    absent: float = 0.35,
    one_per_source: bool = False,
    left: str = "unique_id_l",
    right: str = "unique_id_r",
    probability: str = "match_probability",
) -> Any:
    """Turn pairs of records with match probabilities into entities.

    Parameters
    ----------
    edges : data frame, table, dict of columns, splink's predictions or dedupe's scores
        One row per compared pair. splink's result of ``predict`` is taken as it is, and so is the array of
        ``(pairs, score)`` that dedupe's ``score`` returns. Where there are columns `source_dataset_l` and
        `source_dataset_r`, a record is known by its source and its id.
    must_link, cannot_link : iterable of pairs of ids, optional
        Pairs that are one entity, and pairs that are not. They hold whatever the probabilities are. With
        sources, an id is a tuple ``(source, id)``.
    records : iterable of ids, optional
        All records, so that those without a compared pair are in the result, too; it has this order.
    absent : float, default=0.35
        The match probability of pairs that are not among the edges: below 1/2. Use less if nearly all pairs
        of an entity were compared (0.2), more if many were not (0.4).
    one_per_source : bool, default=False
        Let no cluster hold two records of the same source, where sources have no duplicates.
    left, right, probability : str
        The columns, by default as splink names them.

    Returns
    -------
    data frame or table
        `unique_id`, `source_dataset` where there are sources, `cluster_id` from 0, and `confidence`: the
        probability of the record's cluster against the next best one. A polars frame for a
        polars frame, an Arrow table for an Arrow table, else pandas.

    Raises
    ------
    ConstraintError
        If a probability is not between 0 and 1, an id is not among the records, or links contradict.

    Notes
    -----
    A million compared pairs take about 25 seconds: parts of the graph that no likely match connects are
    treated one by one, and parts in which all pairs are likely matches need no work. The size of a cluster
    is not bounded, but among s records only compared along a chain, the (s-1)(s-2)/2 other pairs count
    against it.

    References
    ----------
    N. Bansal, A. Blum, S. Chawla. Correlation clustering. Machine Learning 56, 2004.

    M. Keuper, E. Levinkov, N. Bonneel, G. Lavoué, T. Brox, B. Andres. Efficient decomposition of image and
    mesh graphs by lifted multicuts. ICCV, 2015.

    Examples
    --------
    Two people of three records each, and one wrong match between them:

    >>> import pandas as pd
    >>> from sidecut.integrations.records import cluster_records
    >>> edges = pd.DataFrame(
    ...     [("a1", "a2", 0.99), ("a2", "a3", 0.9), ("a1", "a3", 0.8), ("b1", "b2", 0.95), ("b2", "b3", 0.9),
    ...      ("b1", "b3", 0.7), ("a3", "b1", 0.85)],
    ...     columns=["unique_id_l", "unique_id_r", "match_probability"],
    ... )
    >>> cluster_records(edges).round(2)
      unique_id  cluster_id  confidence
    0        a1           0        1.00
    1        a2           0        1.00
    2        a3           0        0.96
    3        b1           1        0.96
    4        b2           1        0.99
    5        b3           1        0.95

    A must-link always holds:

    >>> cluster_records(edges, must_link=[("a3", "b1")])["cluster_id"].tolist()
    [0, 0, 1, 1, 1, 1]
    """
    table = read_edges(edges, left, right, probability)
    if not (isinstance(absent, int | float) and 0 < absent < 0.5):
        raise ValueError(
            f"absent={absent!r}: the match probability of pairs that were not compared lies between 0 and "
            "1/2, or everything would be one cluster."
        )
    ids = number_records(table, records)
    links = _read_links(ids, must_link, cannot_link)
    evidence, node = _add_up(table, ids, links, absent, one_per_source)
    clusters = find_clusters(evidence)
    confidence = measure_confidence(evidence, clusters)
    return ids.as_table(number_by_appearance(clusters[node]), confidence[node], edges)


def _read_links(ids: RecordIds, must_link: Any, cannot_link: Any) -> Constraints:
    """Return the links between the numbers of the records."""
    is_linked = any(links is not None and len(links) > 0 for links in (must_link, cannot_link))
    numbers = {ids.key(number): number for number in range(len(ids))} if is_linked else {}
    must = _as_numbers(must_link, numbers, "must_link")
    cannot = _as_numbers(cannot_link, numbers, "cannot_link")
    known = Constraints.from_pairs(max(len(ids), 1), must, cannot, on_conflict="weigh")
    # A must-link and a cannot-link of the same pair cancel in Q; here they are a contradiction.
    both = {frozenset(pair) for pair in must} & {frozenset(pair) for pair in cannot}
    chains = [tuple(pair) for pair in both] + [conflict.chain for conflict in known.conflicts(1)]
    if chains:
        names = [repr(ids.key(number)) for number in chains[0]]
        raise ConflictError(
            f"cannot_link ({names[0]}, {names[-1]}) contradicts the must-links {' - '.join(names)}: take one "
            "of them back.",
            known.conflicts(),
        )
    return known


def _as_numbers(links: Any, numbers: dict[Any, int], name: str) -> list[tuple[int, int]]:
    if links is None or len(links) == 0:
        return []
    rows = links.iter_rows() if hasattr(links, "iter_rows") else links
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    found = []
    for row in rows:
        a, b = (_as_key(value) for value in row)
        for key in (a, b):
            if key not in numbers:
                raise ConstraintError(f"{name} ({a!r}, {b!r}): there is no record {key!r} among the edges.")
        found.append((numbers[a], numbers[b]))
    return found


def _as_key(value: Any) -> Any:
    if isinstance(value, list | np.ndarray):
        return tuple(value)
    return value.item() if isinstance(value, np.generic) else value


def _add_up(
    table: EdgeTable, ids: RecordIds, known: Constraints, absent: float, one_per_source: bool
) -> tuple[Evidence, IntArray]:
    """Return the log-odds between nodes, and the node of every record."""
    node = np.asarray(known.must_link_components())[: len(ids)]
    n_nodes = int(node.max(initial=-1)) + 1
    pairs, weights, counts = _between_nodes(node, n_nodes, ids.pairs, _log_odds(table.probability))
    evidence = Evidence(
        np.bincount(node, minlength=n_nodes),
        pairs,
        weights,
        counts,
        float(_log_odds(np.array([absent]))[0]),
        node[np.asarray(known.components.example_pairs).reshape(-1, 2)],
        _sources_of(ids, node, n_nodes, one_per_source),
    )
    return evidence, node


def _log_odds(probability: FloatArray) -> FloatArray:
    p = np.clip(probability, 1 - MAX_PROBABILITY, MAX_PROBABILITY)
    return np.log(p / (1 - p))


def _between_nodes(
    node: IntArray, n_nodes: int, pairs: IntArray, weights: FloatArray
) -> tuple[IntArray, FloatArray, IntArray]:
    """Add up the compared pairs between two nodes; a pair compared twice counts with its mean."""
    low, high = np.sort(pairs, axis=1).T
    n = max(len(node), 1)
    once, inverse = np.unique(low * n + high, return_inverse=True)
    means = np.bincount(inverse, weights, len(once)) / np.bincount(inverse, minlength=len(once))
    ends = np.sort(node[np.stack([once // n, once % n], axis=1)], axis=1)
    differ = ends[:, 0] != ends[:, 1]
    keys, inverse = np.unique(ends[differ, 0] * n_nodes + ends[differ, 1], return_inverse=True)
    return (
        np.stack([keys // n_nodes, keys % n_nodes], axis=1),
        np.bincount(inverse, means[differ], len(keys)).astype(np.float64),
        np.bincount(inverse, minlength=len(keys)),
    )


def _sources_of(ids: RecordIds, node: IntArray, n_nodes: int, one_per_source: bool) -> list[frozenset[int]]:
    if not one_per_source:
        return [frozenset()] * n_nodes
    if ids.sources is None:
        raise ConstraintError(
            "one_per_source=True needs the columns source_dataset_l and source_dataset_r in edges."
        )
    import pandas

    codes = pandas.factorize(ids.sources)[0]
    held: list[set[int]] = [set() for _ in range(n_nodes)]
    for number, source in zip(node.tolist(), codes.tolist(), strict=True):
        held[number].add(source)
    return [frozenset(sources) for sources in held]


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """The compared pairs: ids and, if there are any, sources of both sides, with the probability."""

    left: NDArray[Any]
    right: NDArray[Any]
    probability: FloatArray
    sources: tuple[NDArray[Any], NDArray[Any]] | None


def read_edges(edges: Any, left: str, right: str, probability: str) -> EdgeTable:
    """Read a table of any library with one row per compared pair."""
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
            f"edges has no column {missing[0]!r}; it has {', '.join(map(repr, columns))}. Name the "
            "columns by left=, right= and probability=."
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
        repeated = np.flatnonzero(np.bincount(codes[: len(given)]) > 1)
        if len(repeated):
            raise ConstraintError(
                f"the record {found[repeated[0]]!r} is in records twice; ids must be unique."
            )
        if len(found) > len(given):
            raise ConstraintError(f"the record {found[len(given)]!r} of edges is not among records.")
        codes = codes[len(given) :]
    sides = codes.reshape(2, n_pairs).T if table.sources is not None else codes.reshape(n_pairs, 2)
    loops = np.flatnonzero(sides[:, 0] == sides[:, 1])
    if len(loops):
        raise ConstraintError(
            f"row {loops[0]} of edges compares {found[sides[loops[0], 0]]!r} with itself; leave it out."
        )
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
