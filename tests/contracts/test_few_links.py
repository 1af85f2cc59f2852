"""Correct knowledge, however little, costs no estimator much against its own unconstrained form.

`test_knowledge_never_harms` has a stricter contract for CSP and SCACS.
`python -m benchmarks.choices.harm` measures all estimators here.
"""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.preprocessing import StandardScaler

from sidecut import (
    CCSR,
    CSAP,
    LCSC,
    NCSC,
    SSKK,
    ConstrainedGMM,
    COPKMeans,
    MetricKMeans,
    SpectralLearning,
)
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import SidecutWarning

#: Add an estimator here, and the contract holds for it.
ESTIMATORS = [CSAP, NCSC, LCSC, CCSR, SpectralLearning, SSKK, COPKMeans, ConstrainedGMM, MetricKMeans]
KNOWLEDGE = [(sample_labels, 2), (sample_labels, 10), (sample_pairs, 1), (sample_pairs, 20)]
N_DRAWS = 3


def data_sets():
    wine, classes = load_wine(return_X_y=True)
    return [
        load_iris(return_X_y=True),
        (StandardScaler().fit_transform(wine), classes),
        make_blobs([100, 30, 20], n_features=4, cluster_std=1.8, random_state=3),
    ]


def losses(estimator):
    """How much less the constrained fit agrees with the classes, on points without constraints."""
    found = []
    for X, y in data_sets():
        model = estimator(n_clusters=len(np.unique(y)), random_state=0)
        alone = model.fit(X).labels_
        for sample, count in KNOWLEDGE:
            for draw in range(N_DRAWS):
                known = sample(y, count, random_state=draw)
                told = model.fit(X, constraints=known).labels_
                before, after = (
                    adjusted_rand_index(y, labels, constraints=known) for labels in (alone, told)
                )
                found.append(before - after)
    return np.array(found)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_knowing_more_does_not_harm(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = losses(estimator)
    assert found.mean() <= 0.02
    assert np.mean(found > 0.05) <= 0.06


def test_pairs_on_two_moons_do_not_break_csap():
    moons, side = make_moons(600, noise=0.1, random_state=0)
    for draw in range(3):
        known = sample_pairs(side, 60, random_state=draw)
        model = CSAP(2, random_state=0)
        with warnings.catch_warnings(action="ignore", category=SidecutWarning):
            alone, told = model.fit(moons).labels_, model.fit(moons, constraints=known).labels_
        before, after = (adjusted_rand_index(side, labels, constraints=known) for labels in (alone, told))
        assert after >= before - 0.02
