"""On a cluster of processes: the labels of the run in memory, and what stays where."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, LSC, SCACS, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.distributed import fit, predict
from sidecut.exceptions import ConstraintError, GraphWarning, LabellingWarning, SidecutWarning


def gathered(client, collection):
    return client.compute(collection).result()


@pytest.fixture(scope="module")
def known(blobs):
    return sample_labels(blobs[1], 60, random_state=0)


@pytest.fixture(scope="module")
def in_memory(blobs, known):
    return SCACS(5, n_landmarks=100, safe=False, random_state=0).fit(blobs[0], constraints=known)


@pytest.fixture(scope="module")
def on_cluster(client, blobs, known):
    rows = da.from_array(blobs[0], chunks=(5_000, 2))
    return fit(SCACS(5, n_landmarks=100, safe=False, random_state=0), rows, constraints=known, client=client)


def test_everything_is_as_in_memory_but_for_rounding(on_cluster, in_memory, client):
    np.testing.assert_array_equal(on_cluster.landmarks_, in_memory.landmarks_)
    np.testing.assert_array_equal(gathered(client, on_cluster.labels_), in_memory.labels_)
    np.testing.assert_allclose(gathered(client, on_cluster.embedding_), in_memory.embedding_, atol=1e-9)
    np.testing.assert_allclose(on_cluster.cluster_centers_, in_memory.cluster_centers_, atol=1e-9)
    for name in ("sigma_", "beta_", "n_feasible_", "costs_", "eigenvalues_"):
        np.testing.assert_allclose(getattr(on_cluster, name), getattr(in_memory, name), rtol=1e-9)


def test_labels_and_embedding_stay_on_the_workers_in_the_chunks_of_the_rows(on_cluster, client):
    assert isinstance(on_cluster.labels_, da.Array)
    assert on_cluster.labels_.chunks == ((5_000, 5_000, 5_000, 5_000, 4_000),)
    assert on_cluster.embedding_.chunks == (on_cluster.labels_.chunks[0], (4,))
    assert on_cluster.labels_.dtype == gathered(client, on_cluster.labels_).dtype == np.intp


def test_new_rows_are_labelled_where_they_are(on_cluster, in_memory, blobs, client):
    shifted = blobs[0] + 0.1
    labels = predict(on_cluster, da.from_array(shifted, chunks=(7_000, 4)))
    np.testing.assert_array_equal(gathered(client, labels), in_memory.predict(shifted))
    np.testing.assert_array_equal(on_cluster.predict(shifted[:50]), in_memory.predict(shifted[:50]))
    with pytest.raises(ValueError, match="X has 3 features, but SCACS was fitted on 4"):
        predict(on_cluster, da.ones((4, 3)))


def test_frames_of_unknown_length_and_empty_partitions(threads, blobs):
    X = blobs[0][:3_000]
    table = pd.DataFrame(X, columns=list("abcd")).assign(row=range(3_000))
    frame = dd.from_pandas(table, npartitions=3)
    # Of the first partition nothing is left; how much of the others, nobody knows.
    some = frame[frame["row"] >= 1_100][list("abcd")]
    model = fit(LSC(5, n_landmarks=50, random_state=0), some, client=threads)
    expected = LSC(5, n_landmarks=50, random_state=0).fit(X[1_100:])
    np.testing.assert_array_equal(gathered(threads, model.labels_), expected.labels_)
    assert model.labels_.chunks == ((0, 900, 1_000),)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(gathered(threads, predict(model, some)), expected.labels_)
    together = gathered(threads, some.assign(label=model.labels_))
    np.testing.assert_array_equal(together["label"], expected.labels_)


@pytest.mark.parametrize("landmarks", ["random", "kmeans++", [5, 700, 20, 1_900, 64, 300, 1_000]])
def test_landmarks_are_drawn_as_in_memory(threads, blobs, landmarks):
    X = blobs[0][:2_000]
    model = LSC(2, n_landmarks=40, landmarks=landmarks, sigma=2.0, random_state=3)
    here = model.fit(X)
    landmarks_here, labels_here = here.landmarks_, here.labels_
    there = fit(model, da.from_array(X, chunks=(600, 4)), client=threads)
    np.testing.assert_array_equal(there.landmarks_, landmarks_here)
    np.testing.assert_array_equal(gathered(threads, there.labels_), labels_here)
    assert not hasattr(there, "affinity_matrix_")


def test_sparse_blocks_are_welcome(threads, blobs):
    X = np.maximum(blobs[0][:1_500], 0.0)
    rows = da.from_array(X, chunks=(500, 4)).map_blocks(sp.csr_array)
    model = fit(LSC(3, n_landmarks=40, random_state=0), rows, client=threads)
    expected = LSC(3, n_landmarks=40, random_state=0).fit(sp.csr_array(X))
    np.testing.assert_array_equal(gathered(threads, model.labels_), expected.labels_)


def test_a_graph_in_more_pieces_than_clusters_is_told_as_in_memory(threads, blobs):
    X = np.concatenate([blobs[0][:200] + 1_000.0 * piece for piece in range(3)])
    model = LSC(2, n_landmarks=30, n_nearest=2, random_state=0)
    told = "3 connected components \\(of 200, 200, 200 points\\), more than n_clusters=2"
    with pytest.warns(GraphWarning, match=told):
        model.fit(X)
    with pytest.warns(GraphWarning, match=told):
        fit(model, da.from_array(X, chunks=(250, 4)), client=threads)


def test_fewer_different_rows_than_clusters_are_told(threads):
    rows = da.from_array(np.repeat(np.eye(3), 50, axis=0), chunks=(60, 3))
    with pytest.warns(LabellingWarning, match="found 3 clusters where n_clusters=4"):
        fit(LSC(4, n_landmarks=3, landmarks=np.eye(3), n_nearest=1, random_state=0), rows, client=threads)


def test_progress_is_told_by_partition(threads, blobs):
    seen = []

    def shown(iterable, desc, total):
        seen.append((desc, total, len([x for x in iterable if x.status == "finished"])))
        return []

    fit(
        LSC(2, n_landmarks=20, random_state=0),
        da.from_array(blobs[0][:400], chunks=(100, 4)),
        client=threads,
        progress=shown,
    )
    assert seen == [(desc, 4, 4) for desc in ("coding", "embedding", "labels", "names")]


def test_a_value_that_is_not_finite_is_named_by_its_row_in_the_whole(threads):
    rows = np.ones((50, 2)) * np.arange(50)[:, None]
    rows[33, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[33, 1\] = nan"):
        fit(LSC(2, n_landmarks=5, landmarks=[0, 20]), da.from_array(rows, chunks=(20, 2)), client=threads)
    labels = predict(
        LSC(2, n_landmarks=5).fit(rows[:30]), dd.from_pandas(pd.DataFrame(rows[:40]), npartitions=2)
    )
    with pytest.raises(ValueError, match=r"in partition 1, rows counted from its first: X\[13, 1\] = nan"):
        labels.compute()


@pytest.mark.parametrize(
    ("model", "X", "constraints", "error", "message"),
    [
        (CSP(2), da.ones((9, 2)), None, TypeError, "CSP cannot run on rows on a cluster"),
        (SCACS(2), np.ones((9, 2)), None, TypeError, "X is a ndarray; sidecut.distributed takes dask"),
        (SCACS(2), da.ones(9), None, ValueError, r"X has shape \(9,\)"),
        (SCACS(2, hard=True), da.ones((9, 2)), None, ValueError, "hard=True"),
        (SCACS(10), da.ones((9, 2)), None, ValueError, "n_clusters=10 is more than the n_samples=9"),
        (SCACS(2), da.ones((9, 2)), Constraints.none(8), ConstraintError, "8"),
        (LSC(2), da.ones((9, 2)), Constraints.from_labels([0, 1]), ConstraintError, "LSC cannot use"),
        (SCACS(2, sigma="median"), da.ones((9, 2)), None, ValueError, "sigma='median' is not a width"),
        (
            LSC(2),
            dd.from_pandas(pd.DataFrame({"x": [1.0], "name": ["a"]}), npartitions=1),
            None,
            ValueError,
            "column 'name' has dtype",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(threads, model, X, constraints, error, message):
    with pytest.raises(error, match=message):
        fit(model, X, constraints=constraints, client=threads)


def test_columns_in_another_order_are_refused(blobs):
    X, _ = blobs
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    model = LSC(2, n_landmarks=20, random_state=0).fit(frame)
    rows = dd.from_pandas(frame, npartitions=2)
    np.testing.assert_array_equal(predict(model, rows).compute(), model.labels_)
    with pytest.raises(ValueError, match=r"columns .*'x1', 'x0'.* fitted on .*'x0', 'x1'"):
        predict(model, rows[[names[1], names[0], *names[2:]]])


@pytest.mark.parametrize("largest", [1e-310, 1e-200, 1e300, 1.7e308])
@pytest.mark.parametrize("method", [LSC, SCACS])
def test_extremes_are_clustered_as_numbers_of_usual_size_are(threads, method, largest):
    X, y = make_blobs(300, n_features=2, centers=3, cluster_std=0.6, random_state=1)
    known = sample_labels(y, 12, random_state=0) if method is SCACS else None
    model = method(3, n_landmarks=60, random_state=0)
    usual = model.fit(X, constraints=known).labels_
    extreme = da.from_array(X * (largest / np.abs(X).max()), chunks=(100, 2))
    found = fit(method(3, n_landmarks=60, random_state=0), extreme, constraints=known, client=threads)
    assert adjusted_rand_score(usual, gathered(threads, found.labels_)) > 0.95


def test_points_that_a_fit_in_memory_scaled_are_scaled_for_predict_too(blobs):
    X = blobs[0][:600] * 1e200
    with pytest.warns(SidecutWarning, match="X was divided by"):
        model = LSC(3, n_landmarks=40, random_state=0).fit(X)
    np.testing.assert_array_equal(predict(model, da.from_array(X, chunks=(250, 4))).compute(), model.labels_)


def test_nothing_of_an_earlier_fit_in_memory_stays(threads, blobs):
    X = blobs[0][:600]
    with pytest.warns(SidecutWarning, match="X was divided by"):
        model = LSC(3, n_landmarks=40, random_state=0).fit(pd.DataFrame(X * 1e200, columns=list("abcd")))
    fit(model, da.from_array(X, chunks=(250, 4)), client=threads)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(X), gathered(threads, model.labels_))


@pytest.mark.parametrize("kind", ["one class", "pairs"])
def test_two_clusters_are_divided_as_in_memory(threads, kind):
    X, y = make_moons(600, noise=0.15, random_state=0)
    known = sample_pairs(y, 600, random_state=0)
    if kind == "one class":
        known = Constraints.from_labels(np.where((y == 0) & (np.arange(600) % 3 == 0), 0, -1))
    there = SCACS(2, n_landmarks=100, safe=False, random_state=0)
    fit(there, da.from_array(X, 100), constraints=known, client=threads)
    here = SCACS(2, n_landmarks=100, safe=False, random_state=0).fit(X, constraints=known)
    assert np.unique(here.labels_).size == 2
    np.testing.assert_array_equal(gathered(threads, there.labels_), here.labels_)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_)
