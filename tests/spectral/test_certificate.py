import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.spectral.certificate import (
    FAILURE_PROBABILITY,
    ComplementBound,
    _KrylovSpace,
    bound_complement,
    chebyshev_slack,
    random_start_certificate,
    start_odds,
)

SPECTRA = {
    "uniform": lambda rng: rng.uniform(-1, 1, 300),
    "clustered at the top": lambda rng: np.r_[rng.uniform(-1, 0.2, 280), 1.0 - 1e-7 * rng.random(20)],
    "one far out": lambda rng: np.r_[rng.uniform(0, 1e-3, 299), 1.0],
    "barely out": lambda rng: np.r_[np.full(299, 1.0), 1.0 + 1e-6],
    "negative": lambda rng: -rng.uniform(2, 3, 300),
    "two values": lambda rng: np.r_[np.full(299, -5.0), 4.0],
    "Chebyshev nodes, the worst for polynomials": lambda rng: np.r_[
        np.cos(np.pi * (np.arange(299) + 0.5) / 299), 1.02
    ],
    "geometric": lambda rng: 0.9 ** np.arange(300),
    "huge": lambda rng: 1e150 * rng.uniform(-1, 1, 300),
    "tiny": lambda rng: 1e-150 * rng.uniform(-1, 1, 300),
}


def bounds_of(diagonal, seed, max_steps, **options):
    start = np.random.default_rng(seed).standard_normal(diagonal.size)
    return bound_complement(
        lambda v: diagonal * v, lambda v: v, start, threshold=np.inf, max_steps=max_steps, **options
    )


def long_run(apply, project, start, steps, *, known=np.inf, residual=0.0):
    """Take all steps, where `bound_complement` stops as soon as its question is answered or hopeless."""
    space = _KrylovSpace(apply, project, known, residual)
    space.begin(start)
    for _ in range(steps):
        space.extend()
        if space.is_exhausted:
            break
    low, high = space.extreme_ritz_values()
    error = space.ritz_error(max(abs(low), abs(high)))
    odds = start_odds(start.size, 1e-8)
    slack = min(chebyshev_slack(odds, high - low, space.steps), space.recurrence_slack(odds))
    return ComplementBound(high - error, high + error + slack, space.steps, 1e-8)


@pytest.mark.parametrize("name", SPECTRA)
def test_the_largest_eigenvalue_lies_between_the_bounds(name):
    for seed in range(30):
        diagonal = SPECTRA[name](np.random.default_rng(1000 + seed))
        steps = int(np.random.default_rng(seed).integers(1, 150))
        start = np.random.default_rng(seed).standard_normal(diagonal.size)
        bound = long_run(lambda v, d=diagonal: d * v, lambda v: v, start, steps)
        assert bound.lower <= diagonal.max() <= bound.upper


@pytest.mark.parametrize("name", SPECTRA)
def test_no_question_is_answered_wrongly(name):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        diagonal = SPECTRA[name](rng)
        truth, spread = diagonal.max(), np.ptp(diagonal)
        threshold = truth + spread * rng.choice([-1, 1]) * 10.0 ** rng.uniform(-6, 0)
        bound = bound_complement(
            lambda v, d=diagonal: d * v,
            lambda v: v,
            rng.standard_normal(300),
            threshold=threshold,
            max_steps=200,
        )
        assert bound.lower <= truth <= bound.upper
        assert bound.steps <= 200


def textbook_epsilon(n, steps, failure_probability):
    """Kuczyński and Woźniakowski (1992), theorem 4.2, solved for ε, half the chance for either end."""
    return (np.log(2 * 1.648 * np.sqrt(n) / failure_probability) / (2 * steps - 1)) ** 2


@pytest.mark.parametrize("n", [10, 1_000, 10**6])
@pytest.mark.parametrize("steps", [40, 100, 600])
def test_the_slack_is_the_theorem_a_little_sharpened(n, steps):
    epsilon = textbook_epsilon(n, steps, 1e-8)
    expected = 3.0 * epsilon / (1 - 2 * epsilon) if epsilon < 0.5 else np.inf
    slack = chebyshev_slack(start_odds(n, 1e-8), 3.0, steps)
    assert slack <= expected
    if epsilon < 0.05:
        assert slack > 0.9 * expected


def test_the_chance_is_that_of_a_start_without_the_eigenvector():
    # For coordinates of a uniform point on the sphere, P[|b₁| < t ‖rest‖] must not exceed what is promised.
    rng = np.random.default_rng(0)
    for n in (2, 5, 50):
        for chance in (0.5, 0.1, 0.02):
            t = 1.0 / start_odds(n, chance)
            b = rng.standard_normal((200_000, n))
            rest = np.linalg.norm(b[:, 1:], axis=1)
            failed = np.mean(np.abs(b[:, 0]) < t * rest)
            assert failed <= chance / 2 + 4 * np.sqrt(chance / 200_000)


def test_at_a_generous_chance_failures_are_as_rare_as_promised():
    # The bound is not vacuous: with so large a chance it may fail, and must not do so more often.
    diagonal = np.r_[np.linspace(0, 0.98, 99), 1.0]
    failures = 0
    for seed in range(400):
        start = np.random.default_rng(seed).standard_normal(100)
        bound = bound_complement(
            lambda v: diagonal * v, lambda v: v, start, threshold=1.0, max_steps=20, failure_probability=0.2
        )
        failures += bound.upper < 1.0
    assert failures <= 0.2 * 400


def test_looking_often_costs_nothing():
    # Every early stop is at an `upper` below the threshold: none may be wrong, however many looks there were.
    for seed in range(200):
        rng = np.random.default_rng(seed)
        diagonal = np.sort(rng.uniform(0, 1, 400))
        threshold = diagonal[-1] - 1e-3 * rng.random()
        start = rng.standard_normal(400)
        bound = bound_complement(
            lambda v, d=diagonal: d * v, lambda v: v, start, threshold=threshold, max_steps=400
        )
        assert bound.upper >= threshold


def deflated(n, known, rest, seed, noise=0.0):
    """A symmetric matrix, the projection from perturbed eigenvectors of `known`, and their residual."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    matrix = (basis * np.r_[known, rest]) @ basis.T
    matrix = 0.5 * (matrix + matrix.T)
    found = basis[:, : len(known)]
    found = np.linalg.qr(found + noise * rng.standard_normal(found.shape))[0]
    small = found.T @ matrix @ found
    return (
        matrix,
        lambda v: v - found @ (found.T @ v),
        float(np.linalg.norm(matrix @ found - found @ small)),
    )


@pytest.mark.parametrize("known", [np.inf, 1.0])
@pytest.mark.parametrize("noise", [0.0, 1e-10, 1e-7])
@pytest.mark.parametrize("bulk", [1e-3, 0.5, 0.97])
def test_dominant_known_vectors_do_not_come_back_in_long_runs(known, noise, bulk):
    # Rounding and residuals bring them back, the recurrence makes them grow; they must not be called missed.
    rest = np.linspace(-bulk, bulk, 296)
    for seed in range(5):
        matrix, project, residual = deflated(300, [1.0, 0.999, 0.99, 0.98], rest, seed, noise)
        start = np.random.default_rng(100 + seed).standard_normal(300)
        bound = long_run(lambda v, m=matrix: m @ v, project, start, 500, known=known, residual=residual)
        assert bound.lower <= bulk <= bound.upper


@pytest.mark.parametrize("known", [np.inf, 1.0])
def test_five_hundred_steps_report_nothing_that_is_not_there(known):
    diagonal = np.r_[1.0, 0.999, 0.995, 0.99, np.linspace(-0.9, 0.9, 1_996)]
    rng = np.random.default_rng(0)
    found = np.eye(2_000)[:, :4] + 1e-16 * rng.standard_normal((2_000, 4))
    bound = long_run(
        lambda v: diagonal * v,
        lambda v: v - found @ (found.T @ v),
        rng.standard_normal(2_000),
        500,
        known=known,
    )
    assert bound.steps == 500
    assert bound.lower <= 0.9 <= bound.upper < 0.902


@pytest.mark.parametrize("ratio", [1e4, 1e8, 1e12])
def test_known_vectors_of_an_inverse_are_larger_by_orders_of_magnitude(ratio):
    rest = np.linspace(0.1, 1.0, 198)
    for seed in range(10):
        diagonal = np.r_[ratio, ratio / 3, rest]
        rng = np.random.default_rng(seed)
        found = np.eye(200)[:, :2] + 1e-16 * rng.standard_normal((200, 2))
        bound = long_run(
            lambda v, d=diagonal: d * v,
            lambda v, f=found: v - f @ (f.T @ v),
            rng.standard_normal(200),
            150,
        )
        assert bound.lower <= 1.0 + 1e-9
        assert 1.0 <= bound.upper < 1.5


def test_residuals_loosen_both_bounds():
    diagonal = np.linspace(0, 1, 200)
    start = np.random.default_rng(0).standard_normal(200)
    sharp, loose = (
        long_run(lambda v: diagonal * v, lambda v: v, start, 60, residual=residual)
        for residual in (0.0, 1e-3)
    )
    assert loose.lower == pytest.approx(sharp.lower - 1e-3, abs=1e-9)
    assert loose.upper >= sharp.upper + 0.9e-3


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), noise=st.sampled_from([1e-3, 1e-2, 0.05]))
def test_the_bound_holds_for_the_whole_operator_however_rough_the_known_vectors(seed, noise):
    rest = np.random.default_rng(seed).uniform(-0.5, 0.6, 57)
    known = np.array([1.0, 0.8, 0.7])
    matrix, project, residual = deflated(60, known, rest, seed, noise)
    start = np.random.default_rng(seed + 1).standard_normal(60)
    bound = bound_complement(
        lambda v: matrix @ v, project, start, threshold=0.6, max_steps=60, residual=residual
    )
    truth = np.linalg.eigvalsh(matrix)
    # The fourth eigenvalue is the largest that was not found.
    assert truth[-4] <= bound.upper + 1e-12
    assert bound.lower <= truth[-4] + 1e-12


def test_an_empty_complement_hides_nothing():
    start = np.random.default_rng(0).standard_normal(5)
    bound = bound_complement(lambda v: v, np.zeros_like, start, threshold=0.0, max_steps=5)
    assert (bound.lower, bound.upper, bound.steps) == (-np.inf, -np.inf, 0)


@pytest.mark.parametrize("hidden", [1e-3, 1e-6, 1e-9])
def test_a_closed_space_does_not_hide_an_eigenvalue(hidden):
    # The start has so little of the largest eigenvalue that the space all but closes without it.
    diagonal = np.r_[np.repeat([0.0, 1.0, 2.0], 50), 2.5]
    start = np.random.default_rng(0).standard_normal(151)
    start[-1] = hidden
    bound = long_run(lambda v: diagonal * v, lambda v: v, start, 20)
    assert bound.lower <= 2.5 <= bound.upper


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-200])
def test_a_multiple_of_the_identity_is_recognised(value):
    start = np.random.default_rng(0).standard_normal(50)
    bound = bound_complement(lambda v: value * v, lambda v: v, start, threshold=value, max_steps=50)
    assert bound.lower <= value <= bound.upper
    assert bound.upper - bound.lower <= 1e-3 * abs(value)


def test_it_stops_when_the_answer_is_clear():
    diagonal = np.r_[np.linspace(0, 0.5, 999), 1.0]
    assert bounds_of(diagonal, 0, 500).steps <= 20  # nothing exceeds an infinite threshold
    start = np.random.default_rng(0).standard_normal(1000)
    seen = bound_complement(lambda v: diagonal * v, lambda v: v, start, threshold=0.6, max_steps=500)
    assert seen.lower > 0.6
    assert seen.steps <= 20


def test_it_stops_when_the_budget_will_not_do_but_not_before_it_is_acceptable():
    diagonal = np.linspace(0, 1, 2_000)
    start = np.random.default_rng(0).standard_normal(2_000)
    hopeless = bound_complement(lambda v: diagonal * v, lambda v: v, start, threshold=1 - 1e-5, max_steps=600)
    assert hopeless.steps < 300
    content = bound_complement(
        lambda v: diagonal * v, lambda v: v, start, threshold=1 - 1e-5, acceptable=1.05, max_steps=600
    )
    assert 1.0 <= content.upper <= 1.05
    assert content.steps < 300


def test_words():
    bound = ComplementBound(0.5, 0.6, 40, FAILURE_PROBABILITY)
    sure = random_start_certificate(bound, 0.4, 0.5, 0.3)
    assert sure.complete
    assert str(sure) == (
        "No eigenvalue below 0.4 was missed, but for a chance of 1e-08 (40 products from a random start)."
    )
    assert not sure.is_proof
    nearly = random_start_certificate(bound, 0.4, 0.5, 0.41)
    assert not nearly.complete
    assert nearly.failure_probability == 1e-8
    assert "0.41" in nearly.detail
    missed = random_start_certificate(bound, 0.4, 0.5, 0.7)
    assert not missed.complete
    assert missed.failure_probability == 1.0
    assert missed.detail.startswith("An eigenvalue of at most 0.5 was missed")
