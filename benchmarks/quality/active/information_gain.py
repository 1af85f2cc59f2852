"""Joint expected information gain of correlation clustering (Aronsson & Chehreghani, arXiv 2402.03587).

Written from the paper's description, for comparison only. S holds a similarity for each pair. With the mean
field Q, of which row u is a softmax over k of β Σ_v S_uv Q_vk, two points are together with the chance
P_uv = Σ_k Q_uk Q_vk. The pair that is asked about maximises

    H(P_uv) - E[H(P'_uv)],

where P' is the same after answers to a random set of pairs, drawn in proportion to exp H, with answers drawn
by P. An answer of a pair makes S_uv the mean of its answers, as +1 and -1.

Not from the paper: S begins as ±`PRIOR` by a normalised cut in as many clusters as there are classes, so that
the method knows the features as ours does, and the number of classes, which ours does not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax, xlogy
from sklearn.metrics import adjusted_rand_score

from sidecut import NormalizedCut

#: Strength of the similarities at the start, the inverse temperature, and rounds of the mean field.
PRIOR, BETA, ROUNDS = 0.03, 3.0, 10
#: Sets of pairs that are drawn, and pairs in each.
SAMPLES, SET_SIZE = 10, 50


def entropy(chance: np.ndarray) -> np.ndarray:
    """Return the entropy of yes and no."""
    return -(xlogy(chance, chance) + xlogy(1.0 - chance, 1.0 - chance))


def mean_field(S: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return the probabilities of clusters, from others that are near."""
    for _ in range(ROUNDS):
        Q = softmax(BETA * (S @ Q), axis=1)
    return Q


def gains(S: np.ndarray, Q: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return H(P_uv) - E[H(P'_uv)] for all pairs."""
    n = len(S)
    P = np.clip(Q @ Q.T, 0.0, 1.0)
    now, after = entropy(P), np.zeros((n, n))
    rows, columns = np.triu_indices(n, 1)
    weights = np.exp(now[rows, columns])
    for _ in range(SAMPLES):
        at = rng.choice(len(rows), SET_SIZE, replace=False, p=weights / weights.sum())
        said = np.where(rng.rand(SET_SIZE) < P[rows[at], columns[at]], 1.0, -1.0)
        other = S.copy()
        other[rows[at], columns[at]] = other[columns[at], rows[at]] = said
        next_Q = mean_field(other, Q)
        after += entropy(np.clip(next_Q @ next_Q.T, 0.0, 1.0)) / SAMPLES
    return now - after


def run_information_gain(X, y, draw: int, error: float, budgets: tuple[int, ...]) -> dict:
    """Return the adjusted Rand index after each number of questions, of which some are answered wrongly."""
    rng = np.random.RandomState(draw)
    wrong = np.random.RandomState(1_000 + draw).rand(max(budgets)) < error
    k = len(np.unique(y))
    labels = NormalizedCut(k, random_state=draw).fit(X).labels_
    S = PRIOR * np.where(labels[:, None] == labels, 1.0, -1.0)
    np.fill_diagonal(S, 0.0)
    # Two clusters are left empty, for classes that were not found.
    Q = mean_field(S, softmax(3.0 * np.eye(k + 2)[labels] + 0.1 * rng.rand(len(y), k + 2), axis=1))
    said: dict[tuple[int, int], list[float]] = {}
    scores = {}
    for count in range(1, max(budgets) + 1):
        gain = np.triu(gains(S, Q, rng), 1)
        gain[np.tril_indices(len(y))] = -np.inf
        i, j = (int(at) for at in np.unravel_index(int(np.argmax(gain)), gain.shape))
        same = (y[i] == y[j]) != wrong[count - 1]
        answers = said.setdefault((i, j), [])
        answers.append(1.0 if same else -1.0)
        S[i, j] = S[j, i] = np.mean(answers)
        Q = mean_field(S, Q)
        if count in budgets:
            scores[count] = round(float(adjusted_rand_score(y, Q.argmax(axis=1))), 4)
    return {"ari": scores}
