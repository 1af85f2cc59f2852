"""scikit-learn's words are understood beside ours, and nothing that is given is ignored in silence."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import CSAP, CSP, E2CP, NormalizedCut
from sidecut.exceptions import ParameterWarning
from sidecut.graphs import Gaussian

X, _ = make_blobs(60, centers=3, random_state=0)


@pytest.mark.parametrize(("theirs", "ours"), [("nearest_neighbors", "knn"), ("rbf", "gaussian")])
def test_affinities_have_two_names(theirs, ours):
    one = CSP(3, affinity=theirs, random_state=0).fit(X)
    other = CSP(3, affinity=ours, random_state=0).fit(X)
    np.testing.assert_array_equal(one.affinity_matrix_.toarray(), other.affinity_matrix_.toarray())


def test_predict_knows_both_names():
    model = NormalizedCut(3, affinity="nearest_neighbors", random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize(("theirs", "ours"), [("discretize", "rotation"), ("cluster_qr", "qr"), ("qr", "qr")])
@pytest.mark.parametrize("estimator", [NormalizedCut, E2CP, CSAP])
def test_assign_labels_is_labelling(estimator, theirs, ours):
    one = estimator(3, assign_labels=theirs, random_state=0).fit_predict(X)
    np.testing.assert_array_equal(one, estimator(3, labelling=ours, random_state=0).fit_predict(X))


def test_one_of_the_two_is_enough():
    with pytest.raises(ValueError, match="name the same choice"):
        NormalizedCut(3, labelling="qr", assign_labels="discretize").fit(X)
    with pytest.raises(ValueError, match="assign_labels='median'"):
        NormalizedCut(3, assign_labels="median").fit(X)


@pytest.mark.parametrize("affinity", ["gaussian", Gaussian(1.0)])
def test_neighbours_that_have_no_effect_are_said(affinity):
    with pytest.warns(ParameterWarning, match="n_neighbors=7 has no effect"):
        NormalizedCut(3, affinity=affinity, n_neighbors=7).fit(X)
