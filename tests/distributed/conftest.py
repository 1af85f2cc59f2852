"""A real cluster, two worker processes on this machine; and one of threads, for what needs no more."""

import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import make_blobs


@pytest.fixture(scope="session")
def client():
    """Workers that are processes, and can be killed."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="ERROR"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def threads():
    """A scheduler and a worker inside this process, which are there at once."""
    with Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0", set_as_default=False
    ) as client:
        yield client


@pytest.fixture(scope="session")
def blobs():
    """Enough rows for k-means to begin from a sample of them."""
    return make_blobs(24_000, n_features=4, centers=5, cluster_std=2.5, random_state=1)
