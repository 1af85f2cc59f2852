"""One run: questions answered by the classes, and the agreement with them after so many."""

from __future__ import annotations

import time

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.active.sets import BUDGETS
from sidecut import E2CP
from sidecut.active import (
    ActiveClustering,
    default_strategy,
    expected_change,
    merge_classes,
    neighbourhoods,
    perturbation,
    random_pair,
    super_instances,
    uncertainty,
)
from sidecut.constraints import sample_pairs

STRATEGIES = {
    function.__name__: function
    for function in (
        default_strategy,
        super_instances,
        neighbourhoods,
        perturbation,
        uncertainty,
        expected_change,
        merge_classes,
        random_pair,
    )
}
E2CP_RANDOM = "E2CP, random pairs"


def run_curve(X, y, strategy: str, draw: int, error: float = 0.0, budgets=BUDGETS) -> dict:
    """Return the adjusted Rand index after each number of questions, and processor seconds per question.

    Parameters
    ----------
    X, y : arrays
        Points and their classes.
    strategy : str
        A name in STRATEGIES.
    draw : int
        The seed of the run, and of the wrong answers.
    error : float
        The chance that an answer is wrong; the run is told.
    budgets : tuple of int
        Numbers of questions.
    """
    wrong = np.random.RandomState(1_000 + draw).rand(max(budgets)) < error
    run = ActiveClustering(strategy=STRATEGIES[strategy], reliability=1.0 - error, random_state=draw)
    began = time.process_time()
    run.start(X)
    started = time.process_time() - began
    scores, waits = {}, []
    for count in range(1, max(budgets) + 1):
        began = time.process_time()
        question = run.question()
        if question is not None:
            same = bool(y[question.i] == y[question.j])
            run.answer(same != bool(wrong[count - 1]))
        waits.append(time.process_time() - began)
        if count in budgets:
            scores[count] = round(adjusted_rand_score(y, run.labels_), 4)
    return {
        "ari": scores,
        "start_seconds": round(started, 2),
        "median_seconds": round(float(np.median(waits)), 3),
        "longest_seconds": round(max(waits), 3),
        "n_clusters": run.n_clusters_,
    }


def run_e2cp(X, y, draw: int, budgets=BUDGETS) -> dict:
    """Return the adjusted Rand index of E2CP on random pairs; it is told the number of classes."""
    scores = {}
    for budget in budgets:
        pairs = sample_pairs(y, budget, random_state=draw)
        model = E2CP(n_clusters=len(np.unique(y)), random_state=draw).fit(X, constraints=pairs)
        scores[budget] = round(adjusted_rand_score(y, model.labels_), 4)
    return {"ari": scores}
