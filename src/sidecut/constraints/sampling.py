"""Constraints drawn from known labels, for experiments: uniformly, and never by listing all pairs.

Every scheme sorts the samples so that the partners of each one are a contiguous range of those after it. A
pair is then one number between 0 and the number of pairs, and drawing pairs is drawing numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sidecut.checks import IntArray
from sidecut.constraints.inputs import UNKNOWN, encode_clustering, read_labels
from sidecut.constraints.value import Constraints
from sidecut.exceptions import ConstraintError

RandomState = int | np.random.Generator | np.random.RandomState | None


def sample_pairs(
    y: ArrayLike,
    n_pairs: int,
    *,
    balanced: bool = False,
    noise: float = 0.0,
    random_state: RandomState = None,
    on_conflict: str = "weigh",
) -> Constraints:
    """Draw pairs of samples; those with one label become must-links, the others cannot-links.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true labels; samples without one (-1, None, NaN) are never drawn.
    n_pairs : int
        How many different pairs to draw, uniformly.
    balanced : bool
        Draw half of them among pairs with one label and half (the greater half) among the others.
    noise : float
        Probability with which each relation is reversed.
    random_state : int, Generator, RandomState or None
        Source of randomness; an int makes the draw repeatable.
    on_conflict : {"weigh", "raise", "drop"}
        What to do with contradictions that noise brings in; kept as they are by default.

    Returns
    -------
    Constraints
        With `n_pairs` pairs of strength 1.

    Raises
    ------
    ConstraintError
        If there are fewer pairs than asked for.

    Examples
    --------
    >>> sample_pairs([0, 0, 1, 1, 2, 2], 4, balanced=True, random_state=0)
    Constraints(n_samples=6, 2 must-links, 2 cannot-links)
    """
    codes, rng = read_labels(y)[0], _generator(random_state)
    known = np.flatnonzero(codes != UNKNOWN)
    order = known[np.argsort(codes[known], kind="stable")]
    n_pairs = _check_count(n_pairs, len(order) * (len(order) - 1) // 2, "pairs")
    end = _run_ends(codes[order])
    place = np.arange(len(order))
    if balanced:
        together = _PairRanges(order, place + 1, end).draw(n_pairs // 2, rng, "pairs with one label")
        apart = _PairRanges(order, end, np.full(len(order), len(order)))
        pairs = np.concatenate([together, apart.draw(n_pairs - n_pairs // 2, rng, "pairs with two labels")])
    else:
        pairs = _PairRanges(order, place + 1, np.full(len(order), len(order))).draw(n_pairs, rng, "pairs")
    return _make_constraints(codes, pairs, noise, rng, on_conflict)


def sample_wrong_pairs(
    y: ArrayLike,
    labels: ArrayLike,
    n_pairs: int,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
    on_conflict: str = "weigh",
) -> Constraints:
    """Draw pairs that a clustering got wrong, with their true relation (CSP, section 7.3).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true labels; samples without one are never drawn.
    labels : array-like of shape (n_samples,)
        The clustering to correct.
    n_pairs : int
        How many pairs to draw, uniformly among those that the clustering splits wrongly or joins wrongly.
    noise, random_state, on_conflict
        As in `sample_pairs`.

    Returns
    -------
    Constraints
        With `n_pairs` pairs of strength 1.

    Examples
    --------
    >>> c = sample_wrong_pairs([0, 0, 1], [0, 1, 1], 2, random_state=0)
    >>> c.must_link.tolist(), c.cannot_link.tolist()
    ([[0, 1]], [[1, 2]])
    """
    codes, rng = read_labels(y)[0], _generator(random_state)
    clusters = encode_clustering(labels, len(codes))
    known = np.flatnonzero(codes != UNKNOWN)
    split, joined = _within(known, codes, clusters), _within(known, clusters, codes)
    chosen = _draw_distinct(split.total + joined.total, n_pairs, rng, "pairs the clustering got wrong")
    pairs = np.concatenate(
        [split.pairs(chosen[chosen < split.total]), joined.pairs(chosen[chosen >= split.total] - split.total)]
    )
    return _make_constraints(codes, pairs, noise, rng, on_conflict)


def sample_labels(
    y: ArrayLike,
    n_labels: int,
    *,
    stratified: bool = False,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Constraints:
    """Draw samples and keep their labels.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true labels; samples without one are never drawn.
    n_labels : int
        How many samples to draw.
    stratified : bool
        Draw from each class in proportion to its size, and at least one of each if `n_labels` allows.
    noise : float
        Probability with which a label is replaced by another class.
    random_state : int, Generator, RandomState or None
        Source of randomness.

    Returns
    -------
    Constraints
        As from `Constraints.from_labels`.

    Examples
    --------
    >>> sample_labels([0, 0, 0, 0, 1, 1], 3, stratified=True, random_state=0)
    Constraints(n_samples=6, 3 labels (0: 2, 1: 1))
    """
    codes, rng = read_labels(y)[0], _generator(random_state)
    known = np.flatnonzero(codes != UNKNOWN)
    n_labels = _check_count(n_labels, len(known), "labelled samples")
    if stratified:
        quotas = _quotas(np.bincount(codes[known]), n_labels)
        classes = (known[codes[known] == k] for k in range(len(quotas)))
        draws = [rng.choice(members, q, replace=False) for members, q in zip(classes, quotas, strict=True)]
        chosen = np.concatenate(draws).astype(np.int64)
    else:
        chosen = rng.choice(known, n_labels, replace=False)
    given = codes[chosen]
    wrong = rng.random(len(given)) < _check_noise(noise)
    n_classes = int(codes.max()) + 1
    if n_classes >= 2:
        # A wrong label is any other class, all equally likely.
        step = rng.integers(1, n_classes, size=len(given))
        given = np.where(wrong, (given + step) % n_classes, given)
    labels = np.full(len(codes), UNKNOWN, dtype=np.int64)
    labels[chosen] = given
    return Constraints.from_labels(labels)


@dataclass(frozen=True, eq=False)
class _PairRanges:
    """Pairs (order[p], order[q]) with ``start[p] <= q < end[p]``, numbered from 0."""

    order: IntArray
    start: IntArray
    end: IntArray

    @property
    def total(self) -> int:
        return int((self.end - self.start).sum())

    def pairs(self, numbers: IntArray) -> IntArray:
        last = np.cumsum(self.end - self.start)
        p = np.searchsorted(last, numbers, side="right")
        q = self.end[p] - (last[p] - numbers)
        return np.column_stack([self.order[p], self.order[q]])

    def draw(self, n_pairs: int, rng: np.random.Generator, what: str) -> IntArray:
        return self.pairs(_draw_distinct(self.total, n_pairs, rng, what))


def _within(samples: IntArray, outer: IntArray, inner: IntArray) -> _PairRanges:
    """Pairs of samples equal in `outer` and different in `inner`."""
    order = samples[np.lexsort((inner[samples], outer[samples]))]
    runs = np.column_stack([outer[order], inner[order]])
    return _PairRanges(order, _run_ends(runs), _run_ends(outer[order]))


def _run_ends(values: IntArray) -> IntArray:
    """For each place, where the run of equal values (or rows) around it ends."""
    rows = values if values.ndim == 2 else values[:, None]
    breaks = np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1
    ends = np.append(breaks, len(rows))
    return np.repeat(ends, np.diff(np.append(0, ends)))


def _draw_distinct(total: int, count: int, rng: np.random.Generator, what: str) -> IntArray:
    """Draw `count` different numbers below `total`, every set of them equally likely."""
    count = _check_count(count, total, what)
    if count > total // 2:
        left_out = _draw_distinct(total, total - count, rng, what)
        return np.delete(np.arange(total), left_out)
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = np.concatenate([drawn, rng.integers(total, size=count + 10)])
        _, first = np.unique(more, return_index=True)
        drawn = more[np.sort(first)]  # in the order drawn: cutting a sorted array would favour small numbers
    return drawn[:count]


def _check_count(count: Any, total: int, what: str) -> int:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise ConstraintError(f"{count!r} {what} asked for: give a whole number, not negative")
    if count > total:
        raise ConstraintError(f"{count} {what} asked for, there are only {total}: ask for at most {total}")
    return int(count)


def _check_noise(noise: float) -> float:
    if not 0 <= noise <= 1:
        raise ConstraintError(f"noise = {noise!r}: it is a probability, between 0 and 1")
    return noise


def _make_constraints(
    codes: IntArray, pairs: IntArray, noise: float, rng: np.random.Generator, on_conflict: str
) -> Constraints:
    together = codes[pairs[:, 0]] == codes[pairs[:, 1]]
    together ^= rng.random(len(pairs)) < _check_noise(noise)
    return Constraints.from_pairs(len(codes), pairs[together], pairs[~together], on_conflict=on_conflict)


def _quotas(sizes: IntArray, n_labels: int) -> IntArray:
    """Share `n_labels` among classes in proportion to their sizes (largest remainders), at least one each."""
    share = n_labels * sizes / max(1, sizes.sum())
    quotas = np.floor(share).astype(np.int64)
    quotas[np.argsort(quotas - share, kind="stable")[: n_labels - quotas.sum()]] += 1
    if n_labels >= len(sizes):
        for empty in np.flatnonzero(quotas == 0):
            richest = np.argmax(np.where(quotas > 1, quotas - share, -np.inf))
            quotas[richest] -= 1
            quotas[empty] = 1
    return quotas


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)
