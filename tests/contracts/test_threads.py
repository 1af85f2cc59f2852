"""One rule for threads: never more than asked for, one in the workers of others."""

import threading

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_info

import sidecut
from sidecut.running import count_jobs, count_threads, use_threads

ESTIMATORS = [name for name in sidecut.__all__ if hasattr(getattr(sidecut, name), "fit")]
X, _ = make_blobs(60, centers=3, random_state=0)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_takes_n_jobs_and_refuses_none_at_all(name):
    model = getattr(sidecut, name)(n_clusters=3, n_jobs=1, random_state=0).fit(X)
    again = getattr(sidecut, name)(n_clusters=3, n_jobs=2, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, again.labels_)
    with pytest.raises(ValueError, match="n_jobs=0 must be"):
        getattr(sidecut, name)(n_clusters=3, n_jobs=0).fit(X)


def test_n_jobs_holds_pools_and_blas():
    with use_threads(1):
        assert count_threads() == 1
        assert {library["num_threads"] for library in threadpool_info()} == {1}
    with use_threads(3):
        assert count_threads() == 3


def test_the_environment_is_respected(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert count_threads() == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert count_threads() == count_jobs(-1)
    assert count_jobs(-2) == max(count_jobs(-1) - 1, 1)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_worker_of_joblib_has_one_thread(monkeypatch, backend):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    counts = Parallel(n_jobs=2, backend=backend)(delayed(count_threads)() for _ in range(2))
    assert set(counts) == {1}


def test_another_thread_has_one_thread(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    found = []
    worker = threading.Thread(target=lambda: found.append(count_threads()))
    worker.start()
    worker.join()
    assert found == [1]
