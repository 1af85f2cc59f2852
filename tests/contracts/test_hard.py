"""Where the links are to be satisfied, they are, whatever the method made of them."""

import numpy as np
import pytest

from sidecut import Constraints
from sidecut.exceptions import ConflictError


def test_consistent_links_are_all_satisfied(constrained, blobs):
    X, _ = blobs
    rng = np.random.default_rng(1)
    # Links that have nothing to do with the data, so that every method has to give way.
    wish = rng.integers(0, 3, len(X))
    pairs = rng.choice(len(X), size=(12, 2), replace=False)
    same = wish[pairs[:, 0]] == wish[pairs[:, 1]]
    links = Constraints.from_pairs(len(X), must_link=pairs[same], cannot_link=pairs[~same])
    model = constrained.make(hard=True, max_iter=100).fit(X, constraints=links)
    assert links.satisfaction(model.labels_) == 1.0


def test_contradictions_are_refused_before_anything_is_computed(constrained, blobs):
    X, _ = blobs
    links = Constraints.from_pairs(len(X), [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    with pytest.raises(ConflictError, match="0 - 1 - 2"):
        constrained.make(hard=True).fit(X, constraints=links)
