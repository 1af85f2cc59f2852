"""From evidence to the chance of being wrong."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sidecut.diagnostics import suspects as calibration
from sidecut.diagnostics.suspects import chance_links_wrong, chances_of_classes


def chance_labels_wrong(views, classes):
    return 1.0 - chances_of_classes(views, classes)[np.arange(len(classes)), classes]


def likelihood_of_labels(shares, said, sharpness, rate):
    """The model written out, label by label, times the priors of ε and of β."""
    off = np.log((sharpness + 0.05) / 1.05)
    total, chances = np.log(rate) + 12 * np.log(1 - rate) - 0.3 * off**2, []
    for row, one in zip(shares, said, strict=True):
        powers = [(share + 1e-3 / len(row)) ** sharpness for share in row]
        p = 0.99 * powers[one] / sum(powers) + 0.01 / len(row)  # one point in a hundred may be anything
        wrong = rate * (1 - p) / (len(row) - 1)
        total += np.log((1 - rate) * p + wrong)
        chances.append(wrong / ((1 - rate) * p + wrong))
    return total, chances


def test_labels_against_the_model_written_out():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([0.4, 0.4, 0.4], size=25)
    said = shares.argmax(axis=1)
    said[:4] = (said[:4] + 1) % 3
    fits = [
        likelihood_of_labels(shares, said, sharpness, rate)
        for sharpness in calibration.SHARPNESS
        for rate in calibration.ERROR_RATES
    ]
    expected = max(fits, key=lambda fit: fit[0])[1]
    np.testing.assert_allclose(chance_labels_wrong([[shares]], said), expected, atol=1e-12)
    # Of the variants of a view the best is taken.
    worse = np.full_like(shares, 1 / 3)
    np.testing.assert_allclose(chance_labels_wrong([[worse, shares]], said), expected, atol=1e-12)


def best_chances(shares, said):
    """The sharpened chances of one view, and their likelihood."""
    fits = [
        (likelihood_of_labels(shares, said, sharpness, rate)[0], sharpness)
        for sharpness in calibration.SHARPNESS
        for rate in calibration.ERROR_RATES
    ]
    likelihood, sharpness = max(fits)
    powers = (shares + 1e-3 / shares.shape[1]) ** sharpness
    return likelihood, powers / powers.sum(axis=1, keepdims=True)


def test_views_are_mixed_by_their_likelihood_and_by_the_labels_per_class():
    rng = np.random.default_rng(2)
    first, second = rng.dirichlet([0.4] * 3, size=45), rng.dirichlet([0.4] * 3, size=45)
    said = np.where(np.arange(45) < 25, first.argmax(axis=1), second.argmax(axis=1))
    one, other = best_chances(first, said), best_chances(second, said)
    odds = np.exp(0.1 * (other[0] - one[0])) * (45 / 3) / 60
    mixed = (one[1] + odds * other[1]) / (1 + odds)
    p = 0.99 * best_chances(mixed, said)[1][np.arange(45), said] + 0.01 / 3
    fits = []
    for rate in calibration.ERROR_RATES:
        wrong = rate * (1 - p) / 2
        total = np.log((1 - rate) * p + wrong).sum() + np.log(rate) + 12 * np.log(1 - rate)
        fits.append((total, wrong / ((1 - rate) * p + wrong)))
    expected = max(fits, key=lambda fit: fit[0])[1]
    np.testing.assert_allclose(chance_labels_wrong([[first], [second]], said), expected, atol=1e-12)


def test_links_against_the_model_written_out():
    rng = np.random.default_rng(1)
    truth = rng.random(80) < 0.4
    views = np.column_stack([np.where(truth, 1.0, -1.0) * rng.gamma(2.0, 0.5, 80), rng.normal(size=80)])
    said = truth ^ (np.arange(80) < 6)

    def cost(weights, rate):
        total = 0.3 * np.sum((weights[:2] - 1.5) ** 2) + 0.03 * weights[2] ** 2
        for view, is_must in zip(views, said, strict=True):
            p = 1 / (1 + np.exp(-(view @ weights[:2] + weights[2])))
            p = 0.99 * (p if is_must else 1 - p) + 0.01 / 2
            total -= np.log((1 - rate) * p + rate * (1 - p))
        return total - np.log(rate) - 12 * np.log(1 - rate)

    bounds = [(0, None), (0, None), (None, None)]
    fits = [
        (minimize(cost, [1.5, 1.5, 0.0], args=(rate,), bounds=bounds), rate)
        for rate in calibration.ERROR_RATES
    ]
    best, rate = min(fits, key=lambda fit: fit[0].fun)
    p = 1 / (1 + np.exp(-(views @ best.x[:2] + best.x[2])))
    p = 0.99 * np.where(said, p, 1 - p) + 0.01 / 2
    expected = rate * (1 - p) / ((1 - rate) * p + rate * (1 - p))
    np.testing.assert_allclose(chance_links_wrong(views, said), expected, atol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_evidence_that_says_nothing_makes_nothing_suspicious(seed):
    rng = np.random.default_rng(seed)
    assert chance_labels_wrong([[rng.dirichlet([1.0, 1.0], size=100)]], rng.integers(0, 2, 100)).max() < 0.5
    views = rng.normal(size=(100, 2))
    assert chance_links_wrong(views, rng.random(100) < 0.5).max() < 0.5


def test_chances_are_calibrated_on_what_the_model_says():
    """Of labels drawn from the model itself, as many are wrong as the chances say."""
    rng = np.random.default_rng(3)
    shares = rng.dirichlet([0.3] * 4, size=4000)
    truth = np.array([rng.choice(4, p=row) for row in shares])
    is_wrong = rng.random(4000) < 0.15
    said = np.where(is_wrong, (truth + rng.integers(1, 4, size=4000)) % 4, truth)
    chances = chance_labels_wrong([[shares]], said)
    for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
        here = (chances >= low) & (chances <= high)
        assert is_wrong[here].mean() == pytest.approx(chances[here].mean(), abs=0.06)


def test_chances_of_all_classes_by_the_rule_of_bayes():
    rng = np.random.default_rng(4)
    shares = rng.dirichlet([0.4] * 3, size=30)
    said = shares.argmax(axis=1)
    said[:3] = (said[:3] + 1) % 3
    p = 0.99 * best_chances(shares, said)[1] + 0.01 / 3
    found = chances_of_classes([[shares]], said)
    rates = []
    for row, one in enumerate(said):
        # ε from the chance of what was said, then the others from ε: they must agree for every label.
        other = (one + 1) % 3
        odds = found[row, other] / found[row, one] * p[row, one] / p[row, other]
        rates.append(2 * odds / (1 + 2 * odds))
        np.testing.assert_allclose(found[row].sum(), 1.0)
    np.testing.assert_allclose(rates, rates[0], rtol=1e-8)
    assert min(abs(rate - rates[0]) for rate in calibration.ERROR_RATES) < 1e-8


def test_where_nothing_is_foretold_the_chance_is_the_share_of_wrong_labels():
    shares = np.vstack([np.tile([[0.95, 0.05], [0.05, 0.95]], (20, 1)), [[0.5, 0.5]]])
    said = np.append(np.tile([0, 1], 20), 1)
    chances = chance_labels_wrong([[shares]], said)
    assert any(abs(chances[-1] - rate) < 1e-12 for rate in calibration.ERROR_RATES)
    assert chances[-1] > chances[:-1].max()


def test_one_odd_point_among_right_labels_is_not_called_wrong_with_certainty():
    """Where all else was foreseen, one surprise is as well an odd point as a wrong label."""
    shares = np.tile([[0.999, 0.001], [0.001, 0.999]], (100, 1))
    said = np.tile([0, 1], 100)
    said[0] = 1
    assert 0.4 < chance_labels_wrong([[shares]], said)[0] < 0.7
    # Where one label in ten is a surprise, most of them are wrong.
    said[:20] = 1 - np.tile([0, 1], 10)
    assert chance_labels_wrong([[shares]], said)[:20].min() > 0.85
