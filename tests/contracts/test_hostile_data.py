"""Ugly data: the right answer, or one of our errors or warnings; never nonsense in silence."""

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import adjusted_rand_score

from sidecut import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Gaussian, Neighbors, SelfTuning

AFFINITIES = [
    Neighbors(3),
    Neighbors(2, weights="binary", symmetrize="mutual"),
    Neighbors(3, weights="gaussian", sigma=1e-2),
    Gaussian(),
    Gaussian(1e-2),
    Gaussian(1e-2, self_loops=True),
    SelfTuning(),
]
#: Errors that say what is wrong with the data or the constraints, by how they begin.
OUR_ERRORS = ("None of the", "the 2 columns", "the 3 columns", "the 4 columns", "all ")

#: Small whole numbers give duplicates, components and constant features; the large one a point far away.
coordinates = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 5.0, -3.0, 1e6])
few_points = hnp.arrays(np.float64, st.tuples(st.integers(6, 16), st.integers(1, 3)), elements=coordinates)


@given(X=few_points, affinity=st.sampled_from(AFFINITIES), n_clusters=st.integers(1, 4), data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_labels_or_a_clear_error(robust, X, affinity, n_clusters, data):
    told = data.draw(st.lists(st.sampled_from([-1, -1, 0, 1, 2]), min_size=len(X), max_size=len(X)))
    knowledge = robust.knows(Constraints.from_labels(told))
    with warnings.catch_warnings():
        # Any warning that is not ours would be numbers going wrong unnoticed.
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SidecutWarning)
        try:
            model = robust.make(n_clusters, affinity=affinity).fit(X, constraints=knowledge)
        except ValueError as error:
            if not str(error).startswith(OUR_ERRORS):
                raise
            return
    assert model.labels_.shape == (len(X),)
    assert model.labels_.dtype.kind == "i"
    assert set(model.labels_) <= set(range(n_clusters))
    assert np.isfinite(getattr(model, "embedding_", 0.0)).all()
    assert np.isfinite(getattr(model, "eigenvalues_", 0.0)).all()


@st.composite
def heaps(draw):
    """Distinct places on a grid, each with as many equal points; the place of every point, shuffled."""
    places = draw(
        st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=2, max_size=4, unique=True).map(np.array)
    )
    height = draw(st.integers(3, 6))
    y = np.array(draw(st.permutations(np.repeat(np.arange(len(places)), height).tolist())))
    return places[y].astype(float), y


@given(heap=heaps(), data=st.data())
@settings(max_examples=15, deadline=None)
def test_heaps_of_equal_points_are_clusters(robust, heap, data):
    X, y = heap
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
    knowledge = robust.knows(Constraints.from_labels(np.where(mask, y, -1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidecutWarning)
        model = robust.make(y.max() + 1, affinity=Gaussian(0.3)).fit(X, constraints=knowledge)
    assert adjusted_rand_score(model.labels_, y) == 1.0


@given(n_isolated=st.integers(1, 3), seed=st.integers(0, 20))
@settings(max_examples=8, deadline=None)
def test_isolated_points_do_not_disturb_the_others(robust, blobs, n_isolated, seed):
    X, y = blobs
    far = 1e3 * (1 + np.arange(n_isolated))[:, None] * [1.0, 1.0]
    order = np.random.default_rng(seed).permutation(60 + n_isolated)
    everyone = np.vstack([X, far])[order]
    labels = np.concatenate([y, np.full(n_isolated, -1)])[order]
    knowledge = robust.knows(Constraints.from_labels(np.where(np.arange(len(labels)) % 3 == 0, labels, -1)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = robust.make(affinity=Gaussian(1.0)).fit(everyone, constraints=knowledge)
    assert any(
        f"{n_isolated} of {60 + n_isolated} points have no neighbours" in str(w.message) for w in caught
    )
    assert {w.category.__module__ for w in caught} == {"sidecut.exceptions"}
    assert adjusted_rand_score(model.labels_[labels >= 0], labels[labels >= 0]) == 1.0


def test_a_constant_feature_says_nothing(case, blobs, known):
    X, _ = blobs
    padded = np.column_stack([np.full(60, 7.0), X, np.full(60, -1e3)])
    plain = case.make(affinity=Gaussian(1.5)).fit(X, constraints=case.knows(known))
    model = case.make(affinity=Gaussian(1.5)).fit(padded, constraints=case.knows(known))
    assert adjusted_rand_score(model.labels_, plain.labels_) == 1.0
