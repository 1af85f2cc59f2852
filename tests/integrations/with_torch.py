"""PyTorch tensors give what the same numbers in NumPy give.

Not part of `make test`, for PyTorch is too large for it: `make tensors` installs it and runs this.
"""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sidecut import CSP, SCACS, Constraints
from sidecut.graphs import as_graph

X, Y = load_digits(return_X_y=True)
X, Y = X[:300], Y[:300]
PARTIAL = np.where(np.arange(300) % 10 == 0, Y, -1)
RING = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)


@pytest.fixture
def torch():
    import torch

    return torch


@pytest.mark.parametrize("method", [CSP(10, random_state=0), SCACS(10, random_state=0)], ids=["CSP", "SCACS"])
def test_points_that_still_have_a_gradient(torch, method):
    points = torch.tensor(X, requires_grad=True)
    known = Constraints.from_labels(torch.tensor(PARTIAL))
    assert known == Constraints.from_labels(PARTIAL)
    expected = method.fit(X, constraints=known)
    labels, predicted = expected.labels_, expected.predict(X[:20])
    model = method.fit(points, constraints=known)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.predict(points[:20]), predicted)


def test_half_precision(torch):
    # Grey values up to 16 are exact in bfloat16.
    expected = CSP(10, random_state=0).fit(X.astype(np.float32)).labels_
    labels = CSP(10, random_state=0).fit(torch.tensor(X, dtype=torch.bfloat16)).labels_
    np.testing.assert_array_equal(labels, expected)


def test_pairs_and_weights(torch):
    weights = torch.tensor([0.5, 2.0], requires_grad=True)
    known = Constraints.from_pairs(5, torch.tensor([[0, 1], [2, 3]]), must_weight=weights)
    assert known.strengths.tolist() == [0.5, 2.0]


@pytest.mark.parametrize("layout", ["to_dense", "to_sparse", "to_sparse_csr", "to_sparse_csc"])
def test_graphs(torch, layout):
    matrix = getattr(torch.tensor(RING).to_sparse(), layout)()
    np.testing.assert_array_equal(as_graph(matrix).apply(np.eye(6)), RING)
    assert Constraints.from_graph(matrix) == Constraints.from_graph(RING)
    assert Constraints.from_matrix(matrix) == Constraints.from_matrix(RING)
