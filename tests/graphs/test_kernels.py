import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sidecut.graphs import GaussianGraph, SelfTuningGraph, bandwidth, local_scales
from sidecut.graphs.kernels import scale_features

RNG = np.random.default_rng(0)
X = RNG.normal(size=(13, 4))


def textbook_gaussian(X, sigma, diagonal=0.0):
    n = len(X)
    weights = np.full((n, n), diagonal)
    for i in range(n):
        for j in range(n):
            if i != j:
                weights[i, j] = np.exp(-np.sum((X[i] - X[j]) ** 2) / (2 * sigma**2))
    return weights


def textbook_self_tuning(X, neighbor=7):
    """The paper's loop: A_ii = 0, no factor 2, sigma_i the distance to the seventh neighbour."""
    n = len(X)
    distance = np.array([[np.sqrt(np.sum((x - y) ** 2)) for y in X] for x in X])
    sigma = [sorted(distance[i, j] for j in range(n) if j != i)[neighbor - 1] for i in range(n)]
    return np.array(
        [[0.0 if i == j else np.exp(-(distance[i, j] ** 2) / (sigma[i] * sigma[j])) for j in range(n)]
         for i in range(n)]
    )  # fmt: skip


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("self_loops", [False, True])
def test_gaussian_is_the_textbook_loop(form, self_loops):
    graph = GaussianGraph(form(X), 1.3, self_loops)
    expected = textbook_gaussian(np.asarray(X, np.float32).astype(float) if form is np.float32 else X, 1.3)
    np.fill_diagonal(expected, float(self_loops))
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_self_tuning_is_the_papers_double_loop(form):
    distance = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    graph = SelfTuningGraph(form(X), local_scales(np.sort(distance, axis=1)[:, 1:]))
    np.testing.assert_allclose(graph.toarray(), textbook_self_tuning(X), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_a_gaussian_only_knows_distances_relative_to_its_width(scale):
    np.testing.assert_allclose(
        GaussianGraph(scale * X, scale).toarray(), GaussianGraph(X, 1.0).toarray(), rtol=1e-10
    )


@pytest.mark.parametrize(("sigma", "size"), [(1e-300, 1e200), (1e-200, 1.0), (1e300, 1e-200)])
def test_extreme_widths_leave_ones_and_zeros_and_no_nan(sigma, size):
    graph = GaussianGraph(size * np.array([[0.0], [0.0], [1.0]]), sigma)
    far = 1.0 if sigma > size else 0.0
    np.testing.assert_array_equal(graph.toarray(), [[0, 1, far], [1, 0, far], [far, far, 0]])


@pytest.mark.parametrize("rule", ["mean", "median"])
@pytest.mark.parametrize("scale", [1e-160, 1.0, 1e160])
def test_rules_take_the_mean_or_median_of_pairwise_distances(rule, scale):
    pairs = [np.linalg.norm(X[i] - X[j]) for i in range(13) for j in range(i)]
    expected = scale * {"mean": np.mean, "median": np.median}[rule](pairs)
    assert bandwidth(scale * X, rule) == pytest.approx(expected, rel=1e-12)
    assert bandwidth(sp.csr_array(scale * X), rule) == pytest.approx(expected, rel=1e-12)


def test_rules_look_at_an_even_sample_of_many_points(monkeypatch):
    monkeypatch.setattr("sidecut.graphs.kernels.BANDWIDTH_SAMPLE", 5)
    assert bandwidth(X, "median") == bandwidth(X[::3], "median")


def test_rules_ignore_duplicates_and_survive_nothing_else():
    assert bandwidth(np.array([[0.0], [0.0], [0.0], [3.0]]), "mean") == 3.0
    assert bandwidth(np.full((4, 2), 0.1), "median") > 0
    assert bandwidth(np.zeros((1, 2)), "mean") > 0


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, np.inf])
def test_a_width_is_positive_and_finite(sigma):
    with pytest.raises(ValueError, match="is not a width"):
        bandwidth(X, sigma)
    with pytest.raises(ValueError, match="is not a width"):
        GaussianGraph(X, sigma)


def test_an_unknown_rule_lists_the_rules():
    with pytest.raises(ValueError, match=r"sigma='scott' is not a rule.*'mean' or 'median'"):
        bandwidth(X, "scott")


def test_widths_per_feature_are_the_product_of_one_dimensional_gaussians():
    sigma = [0.5, 1.0, 2.0, 30.0]
    expected = np.prod([textbook_gaussian(X[:, [f]], sigma[f]) for f in range(4)], axis=0)
    for data in (X, sp.csr_array(X)):
        graph = GaussianGraph(scale_features(data, sigma), 1.0)
        np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("constant", [0.1, 49.0, -1.7])
def test_feature_std_standardises_at_any_scale_and_drops_constants(scale, constant):
    data = scale * np.column_stack([X, np.full(13, constant)])
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    for found in (scale_features(data, "feature_std"), scale_features(sp.csr_array(data), "feature_std")):
        found = found.toarray() if sp.issparse(found) else found
        np.testing.assert_allclose(found[:, :4] - found[:, :4].mean(axis=0), expected, rtol=1e-9)
        assert not found[:, 4].any()


def test_widths_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="3 widths for 4 features"):
        scale_features(X, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"sigma=-2\.0 is not a width"):
        scale_features(X, [1.0, -2.0, 3.0, 1.0])


@given(arrays(np.float64, (6, 8), elements=st.sampled_from([0.0, 1e-200, 0.5, 2.0, 1e200])))
def test_local_scales_are_positive_and_the_seventh_distance_wherever_it_is(distances):
    distances = np.sort(distances, axis=1)
    scales = local_scales(distances)
    assert (scales > 0).all()
    assert np.isfinite(scales).all()
    np.testing.assert_array_equal(scales[distances[:, 6] > 0], distances[distances[:, 6] > 0, 6])


def test_fewer_neighbours_than_seven_give_the_last():
    np.testing.assert_array_equal(local_scales(np.array([[1.0, 2.0], [3.0, 4.0]])), [2.0, 4.0])


@pytest.mark.parametrize("neighbor", [0, -1, 2.5])
def test_local_scales_need_a_neighbour(neighbor):
    with pytest.raises(ValueError, match=r"neighbor=.*at least 1"):
        local_scales(np.ones((3, 2)), neighbor)
