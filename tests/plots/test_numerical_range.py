import numpy as np
import pytest

from sidecut import CSP, Constraints
from sidecut.constraints import sample_pairs
from sidecut.graphs import NormalizedAffinity
from sidecut.plots import matrices as numerical_range
from sidecut.plots import plot_numerical_range
from sidecut.plots.matrices import range_boundary


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 2)) + 3 * y[:, None]
    known = sample_pairs(y, 12, random_state=0)
    return CSP(2, n_neighbors=8, beta=("fraction", 0.3)).fit(X, constraints=known), known


def by_name(ax):
    return {
        artist.get_gid(): artist for artist in (*ax.collections, *ax.lines, *ax.patches) if artist.get_gid()
    }


def forms(fitted):
    model, known = fitted
    scale = NormalizedAffinity(model.affinity_matrix_).scale
    laplacian = np.eye(80) - scale[:, None] * model.affinity_matrix_.toarray() * scale
    return laplacian, scale[:, None] * known.as_matrix().toarray() * scale


def is_inside(boundary, points, slack):
    """Whether points lie on the inner side of every edge of a counterclockwise polygon."""
    edges = np.roll(boundary, -1, axis=0) - boundary
    long_enough = np.linalg.norm(edges, axis=1) > 1e-9
    start, edges = boundary[long_enough], edges[long_enough]
    offset = points[:, None, :] - start[None]
    return np.all(edges[:, 0] * offset[..., 1] - edges[:, 1] * offset[..., 0] > -slack, axis=1)


def test_every_cut_lies_within_the_boundary(fitted):
    laplacian, beliefs = forms(fitted)
    boundary = range_boundary(lambda x: laplacian @ x, lambda x: beliefs @ x, 80, 400)
    vectors = np.random.default_rng(1).normal(size=(80, 500))
    vectors = np.hstack([vectors, np.eye(80), np.linalg.eigh(laplacian)[1], np.linalg.eigh(beliefs)[1]])
    vectors /= np.linalg.norm(vectors, axis=0)
    points = np.column_stack([(vectors * (m @ vectors)).sum(axis=0) for m in (laplacian, beliefs)])
    assert np.all(is_inside(boundary, points, slack=1e-4))
    # The polygon is no larger than it must be: it touches the extreme values of both forms.
    for column, matrix in enumerate((laplacian, beliefs)):
        values = np.linalg.eigvalsh(matrix)
        assert boundary[:, column].min() == pytest.approx(values[0], abs=1e-3)
        assert boundary[:, column].max() == pytest.approx(values[-1], abs=1e-3)


def test_lanczos_iteration_draws_the_same_boundary(fitted, monkeypatch):
    laplacian, beliefs = forms(fitted)
    exact = range_boundary(lambda x: laplacian @ x, lambda x: beliefs @ x, 80, 16)
    monkeypatch.setattr(numerical_range, "MAX_DENSE_NODES", 0)
    iterated = range_boundary(lambda x: laplacian @ x, lambda x: beliefs @ x, 80, 16)
    np.testing.assert_allclose(iterated, exact, atol=2e-2)


def test_the_line_the_cuts_and_the_best_of_them_are_where_they_belong(fitted):
    model, known = fitted
    drawn = by_name(plot_numerical_range(model, known, n_directions=24, title="Cuts"))
    volume = model.affinity_matrix_.volume
    assert drawn["threshold"].get_ydata()[0] == pytest.approx(model.beta_ / volume)
    places = np.column_stack([model.cuts_.costs, model.cuts_.satisfactions / volume])
    np.testing.assert_allclose(drawn["feasible"].get_offsets(), places)
    np.testing.assert_allclose(drawn["best"].get_offsets(), places[:1])
    laplacian, beliefs = forms(fitted)
    values, vectors = np.linalg.eigh(laplacian)
    second = [values[1], vectors[:, 1] @ beliefs @ vectors[:, 1]]
    np.testing.assert_allclose(drawn["unconstrained"].get_offsets()[0], second, atol=1e-8)
    assert is_inside(drawn["boundary"].get_xydata()[:-1], places, slack=2e-2).all()


def test_the_normalisation_of_the_model_is_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    source = Constraints.from_graph(np.exp(-((X[:, None] - X) ** 2).sum(axis=2)))
    model = CSP(2, n_neighbors=8, normalization="source").fit(X, constraints=source)
    drawn = by_name(plot_numerical_range(model, source, n_directions=40))
    # The largest eigenvalue of a graph normalised by its own degrees is 1.
    assert drawn["boundary"].get_xydata()[:, 1].max() == pytest.approx(1.0, abs=1e-2)


def test_a_model_without_cuts_is_refused(fitted):
    with pytest.raises(ValueError, match="fit a CSP with constraints"):
        plot_numerical_range(CSP(2), fitted[1])
