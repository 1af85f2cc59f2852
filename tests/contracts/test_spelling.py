"""scikit-learn's words are understood beside ours, and nothing that is given is ignored in silence."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import CSP, NormalizedCut
from sidecut.exceptions import ParameterWarning
from sidecut.graphs import Gaussian
from sidecut.labelling import qr_labels, rotation_labels

X, _ = make_blobs(60, centers=3, random_state=0)


@pytest.mark.parametrize(("theirs", "ours"), [("nearest_neighbors", "knn"), ("rbf", "gaussian")])
def test_affinities_have_two_names(theirs, ours):
    one = CSP(3, affinity=theirs, random_state=0).fit(X)
    other = CSP(3, affinity=ours, random_state=0).fit(X)
    np.testing.assert_array_equal(one.affinity_matrix_.toarray(), other.affinity_matrix_.toarray())


def test_predict_knows_both_names():
    model = NormalizedCut(3, affinity="nearest_neighbors", random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize(("method", "label"), [("discretize", rotation_labels), ("cluster_qr", qr_labels)])
def test_assign_labels_is_that_of_scikit_learn(method, label):
    model = NormalizedCut(3, assign_labels=method, random_state=0).fit(X)
    more = (3,) if method == "discretize" else ()
    np.testing.assert_array_equal(model.labels_, label(model.embedding_, *more))


def test_ways_to_labels_that_there_are_not():
    with pytest.raises(ValueError, match="assign_labels='median'"):
        NormalizedCut(3, assign_labels="median").fit(X)


@pytest.mark.parametrize("affinity", ["gaussian", Gaussian(1.0)])
def test_neighbours_that_have_no_effect_are_said(affinity):
    with pytest.warns(ParameterWarning, match="n_neighbors=7 has no effect"):
        NormalizedCut(3, affinity=affinity, n_neighbors=7).fit(X)
