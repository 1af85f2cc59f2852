import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.constraints import Constraints

quick = settings(deadline=None, max_examples=50)
ANY = st.from_type(Constraints)


@quick
@given(ANY, st.integers(0, 1000), st.integers(1, 4))
def test_the_share_agrees_with_listing_all_pairs(c, seed, n_clusters):
    labels = np.random.default_rng(seed).integers(0, n_clusters, c.n_samples)
    i, j = c.pairs.T
    kept = (labels[i] == labels[j]) == (c.strengths > 0)
    np.testing.assert_array_equal(c.satisfied_by(labels), kept)
    np.testing.assert_array_equal(c.violations(labels), c.pairs[~kept])
    if len(kept):
        assert c.satisfaction(labels) == pytest.approx(kept.mean())
        expected = np.average(kept, weights=np.abs(c.strengths))
        assert c.satisfaction(labels, weighted=True) == pytest.approx(expected)
    else:
        assert c.satisfaction(labels) == c.satisfaction(labels, weighted=True) == 1.0


def test_the_true_labels_satisfy_everything():
    y = np.random.default_rng(0).integers(0, 5, 3000)
    assert Constraints.from_labels(y).satisfaction(y) == 1.0
    assert Constraints.from_labels(y).satisfaction(np.zeros(3000)) == pytest.approx(
        Constraints.from_labels(y).n_must_link / (3000 * 2999 / 2)
    )


def test_weights_count_when_asked():
    c = Constraints.from_pairs(3, [(0, 1)], [(1, 2)], 3.0, 1.0)
    assert c.satisfaction([0, 0, 0]) == 0.5
    assert c.satisfaction([0, 0, 0], weighted=True) == 0.75


def test_clusters_may_have_any_names():
    c = Constraints.from_pairs(3, [(0, 1)], [(1, 2)])
    np.testing.assert_array_equal(c.satisfied_by(["x", "x", None]), [True, True])
    np.testing.assert_array_equal(c.satisfied_by([-1, -1, -1]), [True, False])
