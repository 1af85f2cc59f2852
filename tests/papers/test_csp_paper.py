"""Numbers and pictures printed by Wang, Qian and Davidson (2014)."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.graphs import NormalizedAffinity, as_graph
from sidecut.methods.csp.cuts import feasible_cuts

# Section 4.4, figure 2.
TOY = np.array(
    [
        [0, 1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0, 0],
        [1, 1, 0, 1, 0, 0],
        [0, 0, 1, 0, 1, 1],
        [0, 0, 0, 1, 0, 1],
        [0, 0, 0, 1, 1, 0],
    ],
    dtype=float,
)
SIDES = np.array([0, 0, 0, 0, 1, 1])


@pytest.fixture
def toy():
    return as_graph(TOY), Constraints.from_labels(SIDES)


def test_the_beliefs_of_the_toy_have_two_eigenvalues(toy):
    graph, known = toy
    signs = 1 - 2 * SIDES
    np.testing.assert_array_equal(known.as_matrix().toarray(), np.outer(signs, signs))
    scale = NormalizedAffinity(graph).scale
    scaled = scale[:, None] * known.as_matrix().toarray() * scale
    np.testing.assert_allclose(np.linalg.eigvalsh(scaled), [0, 0, 0, 0, 0, 8 / 3], atol=1e-12)


@pytest.mark.parametrize(
    ("times", "indicator"),
    [(1, [1.491, 1.491, 1.206, 0.438, -0.205, -0.205]), (2, [1.336, 1.336, 1.004, 0.405, -0.915, -0.915])],
)
def test_the_indicators_of_figure_3(toy, times, indicator):
    graph, known = toy
    model = CSP(2, beta=times * graph.volume, affinity="precomputed").fit(TOY, constraints=known)
    np.testing.assert_allclose(model.indicator_, indicator, atol=5e-4)
    # To all digits: the one positive eigenvalue of eq. 13.
    root = np.sqrt(graph.degrees)
    scaled = known.as_matrix().toarray() / np.outer(root, root)
    laplacian = np.eye(6) - TOY / np.outer(root, root)
    values, vectors = scipy.linalg.eig(laplacian, scaled - times * np.eye(6))
    v = vectors[:, np.argmax(values.real)].real
    v *= np.sqrt(graph.volume) / np.linalg.norm(v) * np.sign(v[0])
    np.testing.assert_allclose(model.indicator_, v / root, atol=1e-6)


def test_node_4_is_dragged_away_from_5_and_6(toy):
    graph, known = toy
    places = []
    for times in (1, 2):
        u = CSP(2, beta=times * graph.volume, affinity="precomputed").fit(TOY, constraints=known).indicator_
        places.append((u[3] - u[4]) / (u[2] - u[4]))
    assert places == pytest.approx([0.456, 0.688], abs=1e-3)


def test_beta_must_stay_below_the_largest_eigenvalue(toy):
    graph, known = toy
    assert feasible_cuts(graph, known, 2.666 * graph.volume).n_feasible == 1
    with pytest.raises(ValueError, match="no feasible cut"):
        feasible_cuts(graph, known, 2.667 * graph.volume)


def noisy_moons(seed):
    """Section 7.2, figure 8: 500 points of two moons among 100 of uniform noise."""
    rng = np.random.default_rng(seed)
    moons, y = make_moons(500, noise=0.05, random_state=seed)
    low, high = moons.min(axis=0) - 0.3, moons.max(axis=0) + 0.3
    return np.vstack([moons, rng.uniform(low, high, size=(100, 2))]), y


def test_twenty_constraints_find_the_moons_in_noise():
    found, unconstrained = [], []
    for seed in range(5):
        X, y = noisy_moons(seed)
        pairs = sample_pairs(y, 20, random_state=seed)
        known = Constraints.from_pairs(600, must_link=pairs.must_link, cannot_link=pairs.cannot_link)
        # The pairs touch one point in fifteen, so that no partition can reach a large β.
        labels = CSP(2, beta=("fraction", 0.05)).fit_predict(X, constraints=known)
        found.append(adjusted_rand_score(y, labels[:500]))
        unconstrained.append(adjusted_rand_score(y, NormalizedCut(2, random_state=0).fit_predict(X)[:500]))
    assert np.mean(found) > 0.9
    assert np.mean(unconstrained) < 0.6


def test_more_constraints_lead_to_the_true_partition_of_sparse_moons():
    scores = []
    for n_labels in (0, 8, 20, 40, 100):
        row = []
        for seed in range(5):
            X, y = make_moons(100, noise=0.1, random_state=seed)
            known = sample_labels(y, n_labels, random_state=seed) if n_labels else None
            labels = CSP(2, beta="eq19", random_state=0).fit_predict(X, constraints=known)
            row.append(adjusted_rand_score(y, labels))
        scores.append(np.mean(row))
    assert np.all(np.diff(scores) > 0)
    assert scores[0] < 0.7
    assert scores[-1] == 1.0
