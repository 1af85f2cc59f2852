"""Fitting is repeatable, and touches nothing but the model's results."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from sidecut import Constraints
from sidecut.graphs import Gaussian, Neighbors


def results(model):
    """The arrays that fit left behind."""
    return {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}


def assert_same_results(one, other):
    assert vars(one).keys() == vars(other).keys()
    for name, value in results(one).items():
        np.testing.assert_array_equal(value, results(other)[name], err_msg=name)


@pytest.mark.parametrize("affinity", [Gaussian(1.5), "knn"])
def test_a_seed_is_reproducible(case, blobs, known, affinity):
    X, _ = blobs
    model = case.make(affinity=affinity, n_neighbors=25).fit(X, constraints=case.knows(known))
    first = copy.deepcopy(model)
    model.fit(X, constraints=case.knows(known))
    assert_same_results(model, first)
    assert_same_results(clone(model).fit(X, constraints=case.knows(known)), first)


def test_two_generators_of_one_seed_give_the_same(case, blobs, known):
    X, _ = blobs
    one, other = (
        case.make(affinity=Gaussian(1.5), random_state=np.random.RandomState(3)).fit(
            X, constraints=case.knows(known)
        )
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_the_global_generator_is_left_alone(case, blobs, known):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    case.make(affinity=Gaussian(1.5)).fit(blobs[0], constraints=case.knows(known))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_an_earlier_fit_leaves_no_trace(constrained, blobs, known):
    X, _ = blobs
    used = constrained.make(affinity=Gaussian(1.5)).fit(X, constraints=known)
    used.fit(X[:40], constraints=Constraints.none(40))
    fresh = constrained.make(affinity=Gaussian(1.5)).fit(X[:40])
    assert_same_results(used, fresh)


def test_fit_changes_no_parameter(case, blobs, known):
    recipe = Neighbors(25)
    model = case.make(affinity=recipe)
    before = copy.deepcopy(model.get_params())
    model.fit(blobs[0], constraints=case.knows(known))
    after = model.get_params()
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert repr(after[name]) == repr(value), name
    assert getattr(model, "affinity", recipe) is recipe


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_fit_changes_no_array(case, blobs, known, dtype):
    X = (10 * blobs[0]).astype(dtype)
    before = X.tobytes()
    case.make(affinity="gaussian").fit(X, constraints=case.knows(known))
    assert X.tobytes() == before


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_fit_changes_no_sparse_matrix(graph_case, blobs, known, kind):
    directed = Neighbors(25).build(blobs[0]).matrix
    weights = kind(sp.csr_array(directed))
    parts = ["data", *(["row", "col"] if weights.format == "coo" else ["indices", "indptr"])]
    before = [getattr(weights, part).tobytes() for part in parts]
    graph_case.make(affinity="precomputed").fit(weights, constraints=graph_case.knows(known))
    assert [getattr(weights, part).tobytes() for part in parts] == before


def test_fit_changes_no_precomputed_array(graph_case, blobs, known):
    weights = Neighbors(25).build(blobs[0]).toarray()
    before = weights.tobytes()
    graph_case.make(affinity="precomputed").fit(weights, constraints=graph_case.knows(known))
    assert weights.tobytes() == before


def test_fit_changes_no_constraints(constrained, blobs, known):
    before = known.as_matrix().toarray()
    constrained.make(affinity="gaussian").fit(blobs[0], constraints=known)
    np.testing.assert_array_equal(known.as_matrix().toarray(), before)
