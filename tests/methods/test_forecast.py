"""How long a fit will take."""

import numpy as np
import pytest

from sidecut import CSP, Constraints, COPKMeans, estimate_seconds
from sidecut.constraints import sample_labels
from sidecut.methods import forecast


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(20_000, 3))


@pytest.mark.parametrize(("power", "expected"), [(1.5, 1.5), (0.2, 1.0), (3.0, 2.0)])
def test_growth_between_samples_is_continued_within_bounds(points, monkeypatch, power, expected):
    sizes = []

    def pretend(model, data, constraints, size):
        sizes.append(size)
        return 1e-6 * size**power

    monkeypatch.setattr(forecast, "_time", pretend)
    seconds = estimate_seconds(CSP(3), points)
    assert sizes == [500, 1_000, 4_000]
    assert seconds == pytest.approx(1e-6 * 4_000**power * 5**expected)


def test_samples_hold_what_is_known():
    y = np.repeat([0, 1], 5_000)
    known = sample_labels(y, 100, random_state=0)
    rows = forecast._draw(10_000, known, 1_000)
    assert len(np.unique(rows)) == len(rows) == 1_000
    assert np.isin(known.constrained_points, rows).all()
    assert len(known.restricted_to(rows).constrained_points) == 100


def test_the_model_stays_as_it_is(points):
    model = COPKMeans(3, n_init=1, verbose=1)
    assert estimate_seconds(model, points[:2_000], constraints=Constraints.none(2_000)) > 0
    assert not hasattr(model, "labels_")
    assert model.verbose == 1


def test_few_points_are_no_problem():
    X = np.random.default_rng(0).normal(size=(12, 2))
    assert estimate_seconds(COPKMeans(4, n_init=1), X) > 0


def test_a_graph_is_refused():
    with pytest.raises(ValueError, match="X is a graph"):
        estimate_seconds(CSP(2, affinity="precomputed"), np.eye(5))
