"""What a fit shows belongs to one answer: that of the method, or the one that the guard kept."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

import sidecut
from sidecut import CCSR, CSAP, CSP, NormalizedCut
from sidecut.constraints import sample_pairs
from sidecut.exceptions import ConstraintWarning
from sidecut.spectral import laplacian

X, Y = load_iris(return_X_y=True)
#: LCSC is left out: its must-links hold, whichever answer is kept.
METHODS = ("CCSR", "CSAP", "CSP", "E2CP", "NCSC", "SpectralLearning")
SHOWN = ("labels_", "embedding_", "eigenvalues_", "eigenvectors_", "confidence_")


@pytest.mark.parametrize("draw", range(6))
def test_csap_without_a_guard_keeps_the_cut_of_its_own_affinity(draw):
    known = sample_pairs(Y, 10, random_state=draw)
    model = CSAP(3, safe=False, split_parts=False, random_state=0).fit(X, constraints=known)
    own = NormalizedCut(3, affinity="precomputed", split_parts=False, random_state=0)
    np.testing.assert_array_equal(own.fit(model.affinity_matrix_).labels_, model.labels_)
    assert model.used_constraints_
    assert not hasattr(model, "decision_")


@pytest.mark.parametrize("draw", range(6))
def test_ccsr_without_a_guard_keeps_the_clusters_of_its_own_embedding(draw):
    known = sample_pairs(Y, 10, random_state=draw)
    model = CCSR(3, safe=False, split_parts=False, random_state=0).fit(X, constraints=known)
    members = np.eye(3)[model.labels_]
    centres = (members.T @ model.embedding_) / members.sum(axis=0)[:, None]
    scatter = np.square(model.embedding_ - centres[model.labels_]).sum()
    assert scatter <= KMeans(3, n_init=10, random_state=1).fit(model.embedding_).inertia_ * (1 + 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_where_the_plain_answer_is_kept_all_that_is_shown_is_of_it(method):
    known = sidecut.Constraints.from_pairs(len(X), must_link=[(0, 60), (70, 120)])
    model = getattr(sidecut, method)(3, random_state=0)
    with pytest.warns(ConstraintWarning, match="not used because"):
        model.fit(X, constraints=known)
    assert model.decision_.kept == "unconstrained"
    assert not model.used_constraints_
    plain = getattr(sidecut, method)(3, random_state=0).fit(X)
    for name in SHOWN:
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)
    np.testing.assert_array_equal(model.solution_.values, plain.solution_.values)
    np.testing.assert_array_equal(model.predict(X[:9] + 0.01), plain.predict(X[:9] + 0.01))


def test_asking_for_attributes_computes_nothing(monkeypatch):
    known = sidecut.Constraints.from_pairs(len(X), must_link=[(0, 60), (70, 120)])
    model = CSP(3, random_state=0)
    with pytest.warns(ConstraintWarning, match="not used because"):
        model.fit(X, constraints=known)

    def refuse(*args, **kwargs):
        raise AssertionError("an eigensolver ran")

    for name in ("laplacian_eigenpairs", "_find_first_certified", "certified"):
        monkeypatch.setattr(laplacian, name, refuse)
    monkeypatch.setattr("sidecut.methods.csp.estimator.feasible_cuts", refuse)
    before = set(vars(model))
    assert hasattr(model, "solution_")
    assert not hasattr(model, "cuts_")
    assert set(vars(model)) == before


def test_the_warning_of_the_guard_is_an_error_in_every_test():
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    filters = settings["tool"]["pytest"]["ini_options"]["filterwarnings"]
    assert filters[0] == "error::sidecut.exceptions.SidecutWarning"
    said = "Your 15 labels were not used because they are too few to show that they help."
    ignored = [line.split(":")[1] for line in filters if line.startswith("ignore:")]
    assert ignored
    assert not any(re.match(pattern, said, re.IGNORECASE) for pattern in ignored)
