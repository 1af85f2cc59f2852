import numpy as np
import pytest
from scipy.linalg import expm

from sidecut import Constraints
from sidecut.graphs import Neighbors
from sidecut.methods.poisson import descent, equation
from sidecut.methods.poisson.descent import Diffusion, descend, retained_share, size_rule, suitable_times
from sidecut.methods.poisson.equation import SignedGraph, diffusion_filter, source_filter


@pytest.fixture(scope="module")
def posed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2)) + 2.0 * rng.integers(0, 2, (150, 2))
    pairs = rng.integers(0, 150, (30, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    known = Constraints.from_pairs(150, pairs[:8], pairs[8:], on_conflict="weigh")
    signed = SignedGraph(Neighbors(8).build(X), known, link_weight=2.0)
    sources = np.zeros((150, 4))
    sources[[0, 1, 2, 3], [0, 1, 2, 3]] = 1.0
    return signed, sources, rng.integers(0, 4, 150)


SIZES = [None, [60, 40, 30, 20], [[10, 80], [10, 80], [30, 40], [20, 40]]]


@pytest.mark.parametrize("sizes", SIZES)
def test_the_energy_never_rises(posed, sizes):
    signed, sources, labels = posed
    rule = size_rule(sizes, 150, 4, 0.2)
    for seed in range(5):
        start = np.random.default_rng(seed).permutation(labels)
        path = descend(Diffusion(signed, sources), [start], [rule], (20.0, 5.0, 1.0), 40, 0.0)[0]
        for energies in path.energies:
            # A start outside the bounds has to be brought inside first.
            assert (np.diff(energies[1:]) <= 1e-9).all()
            assert energies[-1] < energies[1] + 1e-9
        assert path.n_iter == sum(map(len, path.energies)) - 3


@pytest.mark.parametrize("sizes", SIZES)
def test_the_energy_is_what_the_page_says(posed, sizes):
    """E = -½ <u, K u> - <φ_t(A) Y, u> + Σ h(n), with K and φ as whole matrices."""
    signed, sources, labels = posed
    rule = size_rule(sizes, 150, 4, 0.2)
    path = descend(Diffusion(signed, sources), [labels], [rule], (4.0,), 40, 0.0)[0]
    heat, unit = diffusion_filter(4.0), np.eye(150)
    K = heat(signed, unit) + heat.error * unit
    np.testing.assert_allclose(K, expm(-4.0 * signed.laplacian(unit)), atol=3e-3)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    u, start = np.eye(4)[path.labels], np.eye(4)[labels]
    chance = np.square(start.mean(axis=0)).sum()
    retained = ((start * (K @ start)).sum() / 150 - chance) / (1 - chance)
    assert path.penalties[0] == pytest.approx(0.2 * max(retained, 0.0))
    scaled = size_rule(sizes, 150, 4, path.penalties[0])
    received = source_filter(4.0)(signed, unit) @ sources
    expected = -0.5 * (u * (K @ u)).sum() - (received * u).sum()
    assert path.energy_without_sizes == pytest.approx(expected)
    expected += scaled.cost(np.bincount(path.labels, minlength=4))
    assert path.energies[0][-1] == pytest.approx(expected)


def test_nothing_moves_any_more_at_the_end(posed):
    signed, sources, labels = posed
    rule = size_rule(None, 150, 4, 0.2)
    path = descend(Diffusion(signed, sources), [labels], [rule], (4.0,), 100, 0.0)[0]
    again = descend(Diffusion(signed, sources), [path.labels], [rule], (4.0,), 100, 0.0)[0]
    np.testing.assert_array_equal(again.labels, path.labels)
    assert again.n_iter == 1


def test_scores_explain_the_labels(posed):
    signed, sources, labels = posed
    rule = size_rule(None, 150, 4, 0.2)
    path = descend(Diffusion(signed, sources), [labels], [rule], (4.0,), 100, 0.0)[0]
    assert np.mean(path.scores.argmax(axis=1) == path.labels) > 0.97


def test_times_are_shortened_where_labels_diffuse_everywhere():
    full = SignedGraph(Neighbors(59, weights="binary").build(np.random.default_rng(0).random((60, 2))))
    full = Diffusion(full, np.zeros((60, 2)))
    labels = np.arange(60) % 2
    assert retained_share(full.diffused(30.0, [labels])[0], labels) == pytest.approx(0.0, abs=1e-3)
    times = suitable_times(full, [labels], (30.0, 3.0))
    assert times[0] == pytest.approx(10 * times[1])
    assert retained_share(full.diffused(times[0], [labels])[0], labels) > 0.3


def test_descents_side_by_side_end_where_each_ends_alone(posed):
    signed, sources, labels = posed
    rule = size_rule(None, 150, 4, 0.2)
    starts = [np.random.default_rng(seed).permutation(labels) for seed in range(3)]
    together = descend(Diffusion(signed, sources), starts, [rule] * 3, (20.0, 5.0), 40, 0.0)
    for start, path in zip(starts, together, strict=True):
        alone = descend(Diffusion(signed, sources), [start], [rule], (20.0, 5.0), 40, 0.0)[0]
        np.testing.assert_array_equal(path.labels, alone.labels)
        np.testing.assert_allclose(path.scores, alone.scores, atol=1e-12)
        assert [len(energies) for energies in path.energies] == [len(energies) for energies in alone.energies]


def test_diffusion_is_that_of_each_clustering_however_many_flow_together(posed, monkeypatch):
    signed, sources, labels = posed
    starts = [np.random.default_rng(seed).permutation(labels) for seed in range(5)]
    heat = diffusion_filter(6.0)
    for columns in (1, 8, 64):
        monkeypatch.setattr(descent, "MAX_COLUMNS", columns)
        found = Diffusion(signed, sources).diffused(6.0, [*starts, starts[0]])
        for start, diffused in zip([*starts, starts[0]], found, strict=True):
            members = np.eye(4)[start]
            expected = heat(signed, members) + heat.error * members
            np.testing.assert_allclose(diffused, expected, atol=1e-12)


def test_what_was_computed_is_not_computed_again(posed, monkeypatch):
    signed, sources, labels = posed
    asked = []
    monkeypatch.setattr(
        descent, "diffusion_filter", lambda time: asked.append(time) or diffusion_filter(time)
    )
    monkeypatch.setattr(descent, "source_filter", lambda time: asked.append(-time) or source_filter(time))
    diffusion = Diffusion(signed, sources)
    for time in (6.0, 2.0):
        first, received = diffusion.diffused(time, [labels])[0], diffusion.received(time)
        assert diffusion.diffused(time, [labels.copy()])[0] is first
        assert diffusion.received(time) is received
    assert asked == [6.0, -6.0, 2.0, -2.0]
    diffusion.diffused(6.0, [1 - labels // 2])
    assert len(asked) == 5


def test_single_precision_changes_neither_labels_nor_the_fall_of_the_energy(posed, monkeypatch):
    signed, sources, labels = posed
    rule = size_rule(None, 150, 4, 0.2)
    exact = descend(Diffusion(signed, sources), [labels], [rule], (20.0, 5.0), 40, 0.0)[0]
    monkeypatch.setattr(equation, "SINGLE_NODES", 100)
    diffusion = Diffusion(signed, sources)
    single = descend(diffusion, [labels], [rule], (20.0, 5.0), 40, 0.0)[0]
    np.testing.assert_array_equal(single.labels, exact.labels)
    np.testing.assert_allclose(single.scores, exact.scores, atol=1e-5)
    assert (single.scores != exact.scores).any()
    for energies in single.energies:
        assert (np.diff(energies) <= 1e-6 * 150).all()
