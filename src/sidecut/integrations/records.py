"""Entity resolution: which records are the same person, company or thing.

splink, dedupe and others compare pairs of records and say how likely each pair is a match. What remains is
to turn pairs into entities. Connected components do it badly: one wrong match glues two entities together,
and a chain of them makes one giant. Here the pairs that are unlikely, or were never compared, speak against a
cluster as the likely ones speak for it, and what a person has decided is kept to the letter.
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

__all__ = ["cluster_records"]


#: No comparison counts as more certain than this: models of matching are often far too sure.
LIMIT = 0.999


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
        What a person has decided: pairs that are one, and pairs that are not. They hold whatever the
        probabilities say. With sources, an id is a tuple ``(source, id)``.
    records : iterable of ids, optional
        All records, so that those without a compared pair are in the result, too; it has this order.
    absent : float, default=0.35
        The match probability of pairs that are not among the edges: below 1/2. Less where nearly all pairs
        of an entity were compared (0.2), more where many were not (0.4).
    one_per_source : bool, default=False
        Let no cluster hold two records of the same source, where sources have no duplicates.
    left, right, probability : str
        The columns, by default as splink names them.

    Returns
    -------
    data frame or table
        `unique_id`, `source_dataset` where there are sources, `cluster_id` from 0, and `confidence`: the
        chance that the record is in the right cluster rather than in the next best. A polars frame for a
        polars frame, an Arrow table for an Arrow table, else pandas.

    Raises
    ------
    ConstraintError
        If a probability is none, an id is not among the records, or what a person decided contradicts itself.

    Notes
    -----
    A million compared pairs take about 25 seconds: parts of the graph that no likely match connects are
    treated one by one, and parts in which all pairs are likely matches need no work. Nothing bounds the
    size of a cluster but the evidence: among s records only compared along a chain, the (s-1)(s-2)/2 other
    pairs speak against it.

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

    A person who knows better is believed:

    >>> cluster_records(edges, must_link=[("a3", "b1")])["cluster_id"].tolist()
    [0, 0, 1, 1, 1, 1]
    """
    table = read_edges(edges, left, right, probability)
    check_absent(absent)
    ids = number_records(table, records)
    knowledge = _read_decisions(ids, must_link, cannot_link)
    evidence, node = _weigh(table, ids, knowledge, absent, one_per_source)
    clusters = find_clusters(evidence)
    confidence = measure_confidence(evidence, clusters)
    return ids.as_table(number_by_appearance(clusters[node]), confidence[node], edges)


def check_absent(absent: Any) -> None:
    """Refuse a probability of pairs that were not compared which would speak for them."""
    if not (isinstance(absent, int | float) and 0 < absent < 0.5):
        raise ValueError(
            f"absent={absent!r}: the match probability of pairs that were not compared lies between 0 and "
            "1/2, or everything would be one cluster."
        )


def _read_decisions(ids: RecordIds, must_link: Any, cannot_link: Any) -> Constraints:
    """Return what a person decided, by the numbers of the records."""
    numbers = {ids.key(number): number for number in range(len(ids))} if _any(must_link, cannot_link) else {}
    must = _as_numbers(must_link, numbers, "must_link")
    cannot = _as_numbers(cannot_link, numbers, "cannot_link")
    known = Constraints.from_pairs(max(len(ids), 1), must, cannot, on_conflict="weigh")
    # Pairs said to be both cancel in a sum of beliefs; here they contradict.
    both = {frozenset(pair) for pair in must} & {frozenset(pair) for pair in cannot}
    chains = [tuple(pair) for pair in both] + [conflict.chain for conflict in known.conflicts(1)]
    if chains:
        chain = " - ".join(ids.shown(number) for number in chains[0])
        raise ConflictError(
            f"cannot_link ({ids.shown(chains[0][0])}, {ids.shown(chains[0][-1])}) contradicts the must-links "
            f"{chain}: take one of them back.",
            known.conflicts(),
        )
    return known


def _any(*pairs: Any) -> bool:
    return any(links is not None and len(links) > 0 for links in pairs)


def _as_numbers(links: Any, numbers: dict[Any, int], name: str) -> list[tuple[int, int]]:
    if not _any(links):
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


def _weigh(
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
    p = np.clip(probability, 1 - LIMIT, LIMIT)
    return np.log(p / (1 - p))


def _between_nodes(
    node: IntArray, n_nodes: int, pairs: IntArray, weights: FloatArray
) -> tuple[IntArray, FloatArray, IntArray]:
    """Add up what was compared between two nodes; a pair compared twice counts with its mean."""
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


# Tables of compared pairs: reading them, numbering the records, and giving the result back.


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
