"""Entity resolution: which records are the same person, company or thing.

splink, dedupe and others compare pairs of records and say how likely each pair is a match. What remains is
to turn pairs into entities. Connected components do it badly: one wrong match glues two entities together,
and a chain of them makes one giant. Here the pairs that are unlikely, or were never compared, speak against a
cluster as the likely ones speak for it, and what a person has decided is kept to the letter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.labels import number_by_appearance
from sidecut.exceptions import ConflictError, ConstraintError
from sidecut.integrations._correlation import Evidence, find_clusters, measure_confidence
from sidecut.integrations._record_tables import EdgeTable, RecordIds, number_records, read_edges

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
        node[np.asarray(known.contracted().witnesses).reshape(-1, 2)],
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
