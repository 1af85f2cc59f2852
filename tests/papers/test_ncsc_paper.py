"""What section 5 says of Iris: each kind of link helps by itself, and many cannot-links reach 100 %."""

import numpy as np
import pytest

from sidecut import LCSC, NCSC, Constraints, NormalizedCut
from sidecut.datasets import make_example
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Neighbors

IRIS = make_example("iris")
#: The graph of section 5: 20 neighbours, self-tuning.
GRAPH = Neighbors(20).build(IRIS.X)
COMMON = {"n_clusters": 3, "affinity": "precomputed", "random_state": 0}
#: As the paper has them: links are followed, however few.
PRINTED = {**COMMON, "safe": False}
N_DRAWS = 4


def draw(n_together, n_apart, seed):
    """Pairs drawn from those of one class, and from those of two."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(150, k=1)
    same = IRIS.y[i] == IRIS.y[j]
    together = rng.choice(np.flatnonzero(same), n_together, replace=False)
    apart = rng.choice(np.flatnonzero(~same), n_apart, replace=False)
    return Constraints.from_pairs(
        150, np.column_stack([i[together], j[together]]), np.column_stack([i[apart], j[apart]])
    )


def accuracy(estimator, n_together, n_apart):
    """The mean over draws."""
    found = [
        estimator.fit(GRAPH, constraints=draw(n_together, n_apart, seed)).labels_ for seed in range(N_DRAWS)
    ]
    return np.mean([clustering_accuracy(IRIS.y, labels) for labels in found])


def test_many_cannot_links_reach_all_of_iris():
    for n_apart in (1000, 2000, 4000):
        assert accuracy(NCSC(**PRINTED), 0, n_apart) == 1.0


def test_cannot_links_help_by_themselves():
    """Figure 2 (a)."""
    plain = clustering_accuracy(IRIS.y, NormalizedCut(**COMMON).fit(GRAPH).labels_)
    curve = [accuracy(NCSC(**PRINTED), 0, n_apart) for n_apart in (100, 500)]
    assert plain == pytest.approx(0.9, abs=0.02)
    assert plain + 0.04 < curve[0] < curve[1] > 0.99


def test_must_links_help_as_much_as_in_lcsc():
    """Figure 2 (b): without cannot-links NCSC is close to LCSC."""
    for n_together in (50, 200):
        ours = accuracy(NCSC(**PRINTED), n_together, 0)
        assert ours == pytest.approx(accuracy(LCSC(**PRINTED), n_together, 0), abs=0.01)
        assert ours >= 0.97


def test_both_kinds_are_better_than_must_links_alone():
    both = accuracy(NCSC(**PRINTED), 100, 500)
    alone = accuracy(LCSC(**COMMON, cannot_links="ignore"), 100, 500)
    assert both > alone


def test_the_printed_updates_reach_it_too_at_a_price_that_lets_them_move():
    """γ_m = 10 and γ_c = 5, k-means start: eq. 11 as printed, in thousands of iterations."""
    slow = NCSC(
        **COMMON,
        solver="multiplicative",
        init="kmeans",
        gamma_must=10.0,
        gamma_cannot=5.0,
        max_iter=20_000,
        tol=1e-3,
    )
    found = slow.fit(GRAPH, constraints=draw(0, 1000, 0))
    assert clustering_accuracy(IRIS.y, found.labels_) == 1.0
    assert found.n_iter_ > 500
