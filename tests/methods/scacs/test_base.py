"""Rows in memory, mapped, in files and in chunks: the same clusters to the last bit; and new points."""

import gc
import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from sidecut import LSC, SCACS, Constraints
from sidecut.constraints import sample_labels
from sidecut.exceptions import ConstraintError, GraphWarning
from sidecut.graphs import chunks as chunk_module
from sidecut.graphs import landmark_codes
from sidecut.labelling import labels as labelling
from sidecut.methods.scacs import base as walk_module

N = 1500


@pytest.fixture(scope="module")
def data():
    X, y = make_blobs(N, n_features=3, centers=5, cluster_std=3.0, random_state=0)
    X.flags.writeable = False
    return X, y


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Many chunks, and more rows than k-means takes at once."""
    monkeypatch.setattr(chunk_module.RowChunks.__init__, "__defaults__", (128,))
    monkeypatch.setattr(landmark_codes, "TILE_ROWS", 50)
    monkeypatch.setattr(labelling, "SAMPLE_ROWS", 400)


MODELS = {
    "LSC": (LSC(5, n_landmarks=80, random_state=0), False),
    "SCACS": (SCACS(5, safe=False, n_landmarks=80, random_state=0), True),
    "SCACS random": (SCACS(5, safe=False, n_landmarks=80, landmarks="random", random_state=0), True),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param][0]


@pytest.fixture
def known(model, data):
    return sample_labels(data[1], 60, random_state=0) if isinstance(model, SCACS) else None


def parquet(X, folder):
    for number, start in enumerate(range(0, N, 400)):
        pd.DataFrame(X[start : start + 400], columns=list("abc")).to_parquet(folder / f"{number}.parquet")
    return folder


def mapped(X, folder):
    rows = np.memmap(folder / "rows", dtype=X.dtype, mode="w+", shape=X.shape)
    rows[:] = X
    return rows


SOURCES = {
    "array": lambda X, folder: X,
    "memmap": mapped,
    "parquet": parquet,
    "pieces": lambda X, folder: [X[:7], X[7:1000], X[1000:]],
    "function": lambda X, folder: lambda: iter(np.array_split(X, 11)),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_streamed_rows_give_the_same_to_the_last_bit(model, data, known, kind, tmp_path):
    X = data[0]
    whole = pickle.loads(pickle.dumps(model)).fit(X, constraints=known)
    source = SOURCES[kind](X, tmp_path)
    streamed = pickle.loads(pickle.dumps(model)).fit_chunks(source, constraints=known, scratch=str(tmp_path))
    for name in ("landmarks_", "sigma_", "eigenvalues_", "eigenvectors_", "cluster_centers_", "labels_"):
        np.testing.assert_array_equal(getattr(streamed, name), getattr(whole, name), err_msg=name)
    assert not hasattr(streamed, "embedding_")
    assert streamed.n_features_in_ == 3


def test_threads_change_nothing(model, data, known):
    one = pickle.loads(pickle.dumps(model)).set_params(n_jobs=1).fit(data[0], constraints=known)
    two = pickle.loads(pickle.dumps(model)).set_params(n_jobs=3).fit(data[0], constraints=known)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_predict_agrees_with_labels_in_any_company(model, data, known):
    X = data[0]
    model.fit(X, constraints=known)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    some = np.random.default_rng(0).permutation(N)[:333]
    np.testing.assert_array_equal(model.predict(X[some]), model.labels_[some])
    np.testing.assert_array_equal(model.predict(X[5:6]), model.labels_[5:6])


def test_new_points_go_to_the_cluster_around_them(model, data, known):
    X = data[0]
    labels = model.fit(X, constraints=known).labels_
    nudged = X + 1e-9
    assert (model.predict(nudged) == labels).mean() > 0.995


def test_labels_are_the_nearest_centres(model, data, known):
    model.fit(data[0], constraints=known)
    distances = ((model.embedding_[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
    assert model.labels_[0] == 0


@pytest.mark.parametrize("how", ["pickle", "joblib"])
def test_a_stored_model_predicts_the_same(model, data, known, how):
    X = data[0]
    model.fit(X, constraints=known)
    if how == "pickle":
        again = pickle.loads(pickle.dumps(model))
    else:
        file = io.BytesIO()
        joblib.dump(model, file)
        file.seek(0)
        again = joblib.load(file)
    np.testing.assert_array_equal(again.predict(X + 0.1), model.predict(X + 0.1))


def test_a_memory_map_is_not_copied_as_a_whole(data, tmp_path, monkeypatch):
    rows = mapped(np.round(data[0] * 50).astype(np.int16), tmp_path)
    seen = []
    nearest = landmark_codes.LandmarkCoder.nearest

    def watched(self, chunk):
        seen.append((len(chunk), np.shares_memory(chunk, rows)))
        return nearest(self, chunk)

    monkeypatch.setattr(landmark_codes.LandmarkCoder, "nearest", watched)
    LSC(5, n_landmarks=80, random_state=0).fit(rows)
    assert max(size for size, _ in seen) == 128
    assert all(shared for _, shared in seen)


def test_sparse_rows_in_chunks(data):
    X = sp.csr_array(np.maximum(data[0], 0.0))
    whole = LSC(5, n_landmarks=80, random_state=0).fit(X)
    streamed = LSC(5, n_landmarks=80, random_state=0).fit_chunks([X[:600], X[600:]])
    np.testing.assert_array_equal(whole.labels_, streamed.labels_)
    np.testing.assert_array_equal(whole.predict(X), whole.labels_)


def test_progress_and_an_earlier_fit(data):
    shown = []

    def progress(iterable, desc, total):
        shown.append(desc)
        return iterable

    model = LSC(5, n_landmarks=80, random_state=0).fit(data[0])
    model.fit_chunks([data[0]], progress=progress)
    assert shown == ["landmarks", "coding"]
    assert not hasattr(model, "embedding_")
    assert not hasattr(model, "affinity_matrix_")


def test_given_landmarks_are_not_searched_for(data):
    shown = []
    model = LSC(5, landmarks=data[0][::20], random_state=0)
    model.fit_chunks([data[0]], progress=lambda rows, desc, total: shown.append(desc) or rows)
    assert shown == ["coding"]


def test_streaming_leaves_nothing_of_an_earlier_fit(data):
    known = sample_labels(data[1], 60, random_state=0)
    frame = pd.DataFrame(data[0], columns=list("abc"))
    model = SCACS(5, safe=False, n_landmarks=80, hard=True, random_state=0).fit(frame, constraints=known)
    model.set_params(hard=False).fit_chunks([data[0]])
    for name in ("repair_", "feature_names_in_", "cuts_", "beta_"):
        assert not hasattr(model, name)


def test_streaming_warns_of_more_components_than_clusters():
    rng = np.random.default_rng(0)
    clouds = np.concatenate([rng.normal(100.0 * place, 0.1, size=(60, 2)) for place in range(6)])
    with pytest.warns(GraphWarning, match="connected components .* more than n_clusters=2"):
        LSC(2, n_landmarks=40, random_state=0).fit_chunks([clouds])


def test_streaming_closes_its_temporary_file(data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LSC(5, n_landmarks=80, random_state=0).fit_chunks([data[0]])
        gc.collect()
    assert not [str(warning.message) for warning in caught]


@pytest.mark.parametrize("sigma", [-1.0, None, "median", np.nan, True])
def test_a_width_that_is_none_is_refused_before_rows_are_read(sigma):
    def unread():
        raise AssertionError("rows were read")

    with pytest.raises(ValueError, match=f"sigma={sigma!r}"):
        LSC(5, sigma=sigma).fit_chunks(unread)


def test_constraints_that_are_none_are_refused_before_rows_are_read(data):
    def unread():
        raise AssertionError("rows were read")

    with pytest.raises(ConstraintError, match="constraints is a list"):
        SCACS(5).fit_chunks(unread, constraints=[(0, 1)])


def test_what_streaming_refuses(data):
    X = data[0]
    with pytest.raises(ConstraintError, match="constraints are for 3 samples, X has 1500"):
        SCACS(5, n_landmarks=80).fit_chunks([X], constraints=Constraints.none(3))
    with pytest.raises(ValueError, match="hard=True needs the embedding"):
        SCACS(5, hard=True).fit_chunks([X])
    with pytest.raises(TypeError, match="only once"):
        SCACS(5).fit_chunks(iter([X]))
    bad = X.copy()
    bad[700, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[700, 1\] = nan"):
        LSC(5, n_landmarks=80).fit_chunks([bad])


def test_predict_before_fit_and_other_features(data):
    with pytest.raises(NotFittedError):
        LSC(5).predict(data[0])
    with pytest.raises(ValueError, match="expecting 3 features"):
        LSC(5, n_landmarks=80).fit(data[0]).predict(data[0][:, :2])


def test_a_warm_start_codes_the_points_once_per_data_and_settings(model, known, data, monkeypatch):
    X, y = data
    coded = []
    original = walk_module.code_rows
    monkeypatch.setattr(
        walk_module, "code_rows", lambda rows, *a, **k: coded.append(1) or original(rows, *a, **k)
    )
    warm = clone(model).set_params(warm_start=True).fit(X, constraints=known)
    more = sample_labels(y, 90, random_state=0) if known is not None else None
    warm.fit(np.asfortranarray(X), constraints=more)
    assert len(coded) == 1
    np.testing.assert_array_equal(warm.labels_, clone(model).fit(X, constraints=more).labels_)
    del coded[:]
    warm.set_params(n_nearest=4).fit(X, constraints=more)
    changed = X.copy()
    changed[7] += 0.25
    warm.fit(changed, constraints=more)
    assert len(coded) == 2
    cold = clone(model).set_params(n_nearest=4).fit(changed, constraints=more)
    np.testing.assert_array_equal(warm.labels_, cold.labels_)


def test_a_warm_start_is_not_defeated_by_a_seed_that_was_not_given(data):
    X, y = data
    warm = SCACS(5, safe=False, n_landmarks=80, warm_start=True).fit(
        X, constraints=sample_labels(y, 60, random_state=0)
    )
    first = warm.landmarks_
    np.testing.assert_array_equal(
        warm.fit(X, constraints=sample_labels(y, 61, random_state=0)).landmarks_, first
    )
    cold = warm.set_params(warm_start=False).fit(X, constraints=sample_labels(y, 61, random_state=0))
    assert not np.array_equal(cold.landmarks_, first)


def test_a_warm_start_is_yes_or_no(data):
    with pytest.raises(ValueError, match="warm_start='always'"):
        SCACS(5, warm_start="always").fit(data[0])
