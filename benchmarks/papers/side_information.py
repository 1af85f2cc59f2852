"""Side information drawn as the papers draw it."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
import scipy.sparse as sp

from benchmarks.papers.experiment import Experiment
from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs, sample_wrong_pairs


def draw(
    experiment: Experiment, y: np.ndarray, unconstrained: np.ndarray, amount: int, seed: list[int]
) -> Constraints:
    """Draw what is known, by the kind the experiment names.

    "pairs": uniformly from all. "wrong pairs": from those the unconstrained clustering got wrong; all of them
    if there are fewer than asked for (CSP). "pairs among few": from the pairs of as few random points as
    have that many pairs (E2CP: 2,400 pairs from 2.6 % of 2,688 images). "labels": of so many points (SCACS).
    "must-links vary", "cannot-links vary": so many of one, and `fixed` of the other (NCSC, fig. 2).
    """
    rng = np.random.default_rng(seed)
    kind, noise = experiment.kind, experiment.protocol.noise
    if kind == "labels":
        return sample_labels(y, amount, noise=noise, random_state=rng)
    if kind in ("must-links vary", "cannot-links vary"):
        counts = (amount, experiment.fixed)
        return two_counts(y, *(counts if kind == "must-links vary" else counts[::-1]), rng)
    if kind == "pairs" or experiment.protocol.pairs == "random":
        return sample_pairs(y, amount, noise=noise, random_state=rng)
    if kind == "pairs among few":
        return sample_pairs(known_to_few(y, amount, rng), amount, noise=noise, random_state=rng)
    amount = min(amount, n_wrong_pairs(y, unconstrained))
    return sample_wrong_pairs(y, unconstrained, amount, noise=noise, random_state=rng)


def known_to_few(y: np.ndarray, n_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Return the labels of as few random points as have `n_pairs` pairs, and -1 for all others."""
    n_points = min(ceil((1 + sqrt(1 + 8 * n_pairs)) / 2), len(y))
    chosen = rng.choice(len(y), n_points, replace=False)
    known = np.full(len(y), -1)
    known[chosen] = y[chosen]
    return known


def two_counts(y: np.ndarray, n_must: int, n_cannot: int, rng: np.random.Generator) -> Constraints:
    """Draw so many must-links and so many cannot-links."""
    both = sample_pairs(y, 2 * max(n_must, n_cannot), balanced=True, random_state=rng)
    must, cannot = (
        rng.permutation(links)[:count]
        for links, count in ((both.must_link, n_must), (both.cannot_link, n_cannot))
    )
    return Constraints.from_pairs(len(y), must, cannot)


def n_wrong_pairs(y: np.ndarray, labels: np.ndarray) -> int:
    """Count the pairs that a clustering joins or splits wrongly."""

    def pairs(*codes: np.ndarray) -> int:
        counts = np.unique(np.column_stack(codes), axis=0, return_counts=True)[1]
        return int((counts * (counts - 1) // 2).sum())

    return pairs(y) + pairs(labels) - 2 * pairs(y, labels)


def held_out(
    constraints: Constraints, seed: list[int], share: float = 0.3
) -> tuple[Constraints, Constraints]:
    """Split constraints into those to learn from and those to judge by."""
    rng = np.random.default_rng(seed)
    is_out = rng.random(len(constraints.pairs)) < share
    parts = []
    for chosen in (~is_out, is_out):
        pairs, together = constraints.pairs[chosen], constraints.strengths[chosen] > 0
        parts.append(
            Constraints.from_pairs(
                constraints.n_samples, pairs[together], pairs[~together], on_conflict="weigh"
            )
        )
    return parts[0], parts[1]


def with_printed_diagonal(known: Constraints) -> Constraints:
    """Return constraints with Q_ii = 1 for all points, as eq. 20 is printed.

    Every cut then satisfies them to 1 by itself, so that with β < 1 they change nothing.
    """
    return known | Constraints.from_matrix(sp.eye_array(known.n_samples))
