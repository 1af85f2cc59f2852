"""AutoCut and points that were not there when it was fitted."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from sidecut import AutoCut
from sidecut.constraints import sample_labels
from sidecut.graphs import Neighbors
from sidecut.selection import Transformed

X, Y = make_blobs(60, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=0)
KNOWN = sample_labels(Y, 12, random_state=0)


@pytest.mark.parametrize("units", [(1.0, 1.0), (1.0, 1e4)])
def test_new_points_join_the_cluster_of_their_neighbours(units):
    """In different units only scaled features show the clusters, in fit and for new points."""
    new, y = make_blobs(40, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=1)
    model = AutoCut(3, random_state=0).fit(X * units, constraints=KNOWN)
    assert "scaled" in model.explanation_ or units[1] == 1
    assert adjusted_rand_score(y, model.predict(new * units)) == 1.0
    np.testing.assert_array_equal(model.predict(X * units), model.labels_)


def test_new_texts_join_the_cluster_of_their_angles():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    words = rng.poisson(np.where(y[:, None] == np.arange(20) % 2, 3.0, 0.3)) * rng.integers(1, 9, (60, 1))
    words = sp.csr_array(words.astype(float))
    model = AutoCut(2, random_state=0).fit(words[::2], constraints=sample_labels(y[::2], 10, random_state=0))
    assert "angles" in model.explanation_
    assert adjusted_rand_score(y[1::2], model.predict(words[1::2])) == 1.0


def test_new_points_have_no_place_in_a_given_graph():
    with pytest.raises(AttributeError) as error:
        _ = AutoCut(3, affinity="precomputed").predict
    assert "new points have no place in a graph that is given" in str(error.value.__cause__)
    with pytest.raises(NotFittedError):
        AutoCut(3).predict(X)


def test_of_transformed_rows_only_those_near_new_ones_are_transformed():
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(2000, 20)) * np.arange(1, 21), rng.normal(size=(3, 20)) * np.arange(1, 21)
    scaler = StandardScaler()
    seen = []

    class Counting(StandardScaler):
        def transform(self, X, copy=None):
            seen.append(len(X))
            return super().transform(X)

    graph = Transformed(Neighbors(5, search="approximate"), Counting()).build(rows)
    seen.clear()
    grown, same, alone, points = graph.extension.grow(graph, rows, np.vstack([new, rows[:1]]))
    assert sum(seen) < 1000
    assert same.tolist() == [-1, -1, -1, 0]
    # What comes out is what transforming all rows gives.
    scaled = scaler.fit_transform(rows)
    plain = Neighbors(5, search="approximate").build(scaled)
    expected = plain.extension.grow(plain, scaled, scaler.transform(np.vstack([new, rows[:1]])))
    np.testing.assert_allclose(grown.toarray(), expected.graph.toarray())
    np.testing.assert_allclose(alone, expected.to_old)
    np.testing.assert_allclose(points[0][[5, 1]], scaled[[5, 1]])
    np.testing.assert_allclose(points[1], scaler.transform(np.vstack([new, rows[:1]])))
