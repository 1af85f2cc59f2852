"""AutoCut with points and a graph of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut import AutoCut, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.selection.both import AVERAGES, FEATURES, GRAPH, SUM


def made(spread, mixed, n=200, seed=0):
    """Two groups of points with a graph: features of some spread, and a share of edges to anywhere."""
    rng = np.random.RandomState(seed)
    y = np.repeat([0, 1], n // 2)
    X = rng.standard_normal((n, 5)) * spread + y[:, None]
    chance = np.where(y[:, None] == y, 0.06 * (1 - mixed) + 0.03 * mixed, 0.03 * mixed)
    upper = np.triu(rng.rand(n, n) < chance, 1).astype(float)
    return X, sp.csr_array(upper + upper.T), y


@pytest.mark.parametrize(
    ("spread", "mixed", "expected"),
    [(1.0, 0.3, {AVERAGES, SUM}), (0.3, 1.0, {FEATURES, SUM}), (100.0, 0.0, {GRAPH, AVERAGES, SUM})],
)
@pytest.mark.parametrize("draw_from", [sample_labels, sample_pairs])
def test_the_form_that_finds_what_was_held_out_is_used(spread, mixed, expected, draw_from):
    X, W, y = made(spread, mixed)
    known = draw_from(y, 40 if draw_from is sample_labels else 150, random_state=0)
    model = AutoCut(2, random_state=0).fit(X, graph=W, constraints=known)
    used = next(
        form for form in model.forms_ if model.explanation_.startswith(f"Of points and graph, {form} w")
    )
    assert used in expected
    assert model.forms_[used] >= max(model.forms_.values()) - 0.1
    assert adjusted_rand_index(y, model.labels_, constraints=known) > 0.65


def test_where_nothing_is_known_features_are_averaged():
    X, W, y = made(1.0, 0.3)
    model = AutoCut(2, random_state=0).fit(X, graph=W)
    assert model.explanation_.startswith(f"Of points and graph, {AVERAGES} were used.")
    assert np.isnan(list(model.forms_.values())).all()
    assert adjusted_rand_index(y, model.labels_) > 0.8


@pytest.mark.parametrize(("spread", "mixed"), [(1.0, 0.3), (0.3, 1.0), (100.0, 0.0)])
def test_new_points_have_a_place_whatever_the_form(spread, mixed):
    X, W, y = made(spread, mixed)
    model = AutoCut("auto", random_state=0).fit(X, graph=W, constraints=sample_labels(y, 40, random_state=0))
    assert model.n_clusters_ == 2
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_another_fit_without_a_graph_leaves_nothing_of_it():
    X, W, y = made(0.3, 1.0)
    known = Constraints.from_labels(np.where(np.arange(200) % 10 == 0, y, -1))
    model = AutoCut(2, random_state=0).fit(X, graph=W, constraints=known)
    model.fit(X, constraints=known)
    assert not hasattr(model, "forms_")
    assert "Of points and graph" not in model.explanation_
