"""Ugly points: labels that keep their promise, or a clear error; never nonsense in silence."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sidecut import ConstrainedGMM, Constraints, COPKMeans, MetricKMeans
from sidecut.exceptions import SidecutWarning

#: Small whole numbers give duplicates and constant features; the large one a point far away.
coordinates = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 5.0, -3.0, 1e6])
few_points = hnp.arrays(np.float64, st.tuples(st.integers(6, 16), st.integers(1, 3)), elements=coordinates)
METHODS = [COPKMeans, ConstrainedGMM, MetricKMeans]
OUR_ERRORS = ("no assignment to", "component ")


def unguarded(method, n_clusters):
    """The method itself; COPKMeans, which keeps all links, has no guard."""
    settings = {} if method.__name__ == "COPKMeans" else {"safe": False}
    return method(n_clusters, random_state=0, **settings)


@pytest.mark.parametrize("method", METHODS)
@given(X=few_points, n_clusters=st.integers(1, 4), data=st.data())
@settings(max_examples=60)
def test_labels_or_a_clear_error(method, X, n_clusters, data):
    told = data.draw(st.lists(st.sampled_from([-1, -1, 0, 1, 2]), min_size=len(X), max_size=len(X)))
    known = Constraints.from_labels(told)
    with warnings.catch_warnings():
        # Any warning that is not ours would be numbers going wrong unnoticed.
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SidecutWarning)
        warnings.filterwarnings("ignore", category=ConvergenceWarning, message="ConstrainedGMM|COPKMeans")
        try:
            model = unguarded(method, n_clusters).fit(X, constraints=known)
        except ValueError as error:
            if not str(error).startswith(OUR_ERRORS):
                raise
            assert method is ConstrainedGMM or n_clusters < known.labels.max() + 1
            return
    assert model.labels_.shape == (len(X),)
    assert set(model.labels_) <= set(range(n_clusters))
    for value in vars(model).values():
        if isinstance(value, np.ndarray):
            assert np.isfinite(value).all()
    if method is COPKMeans:
        assert known.satisfaction(model.labels_) == 1.0
    if method is ConstrainedGMM:
        assert known.must_part().satisfaction(model.labels_) == 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_heaps_of_equal_points_are_clusters(method, seed):
    rng = np.random.default_rng(seed)
    places = rng.permutation(np.array([[0, 0], [0, 3], [2, -1], [5, 5]]))[: 2 + seed % 3].astype(float)
    y = rng.permutation(np.repeat(np.arange(len(places)), 5))
    known = Constraints.from_labels(np.where(rng.random(len(y)) < 0.4, y, -1))
    model = unguarded(method, len(places)).fit(places[y], constraints=known)
    assert adjusted_rand_score(model.labels_, y) == 1.0
