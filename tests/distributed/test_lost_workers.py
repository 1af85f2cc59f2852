"""A worker killed in the middle costs time, not the result: not one bit of it."""

import os
import signal

import dask.array as da
import numpy as np
import pytest

from sidecut import SCACS
from sidecut.constraints import sample_labels
from sidecut.distributed import fit


@pytest.fixture(scope="module")
def known(blobs):
    return sample_labels(blobs[1], 60, random_state=0)


def clustered(rows, known, client, progress=None):
    model = SCACS(5, n_landmarks=80, landmarks=list(range(80)), safe=False, random_state=0)
    model = fit(model, rows, constraints=known, client=client, progress=progress)
    return *client.gather(client.compute([model.labels_, model.embedding_])), model.cluster_centers_


@pytest.fixture(scope="module")
def undisturbed(client, blobs, known):
    return clustered(da.from_array(blobs[0], chunks=(3_000, 4)), known, client)


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_worker_that_dies_while_it_reads_its_rows(client, blobs, known, undisturbed, tmp_path):
    """The sixth of eight partitions kills the first process that reads it, which is while rows are coded."""
    mark = str(tmp_path / "killed")

    def deadly(block, block_info=None):
        import os
        import signal
        from pathlib import Path

        if block_info[0]["chunk-location"][0] == 5 and not Path(mark).exists():
            Path(mark).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    rows = da.from_array(blobs[0], chunks=(3_000, 4)).map_blocks(deadly, dtype=float)
    workers = set(client.run(os.getpid).values())
    assert_same(clustered(rows, known, client), undisturbed)
    assert int((tmp_path / "killed").read_text()) in workers
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != workers


def test_all_workers_killed_with_all_they_hold(client, blobs, known, undisturbed):
    """Killed from here when rows are coded and half embedded: nothing is left but the way it was made."""
    workers = set(client.run(os.getpid).values())

    def killing(iterable, desc, total):
        for place, future in enumerate(iterable):
            if desc == "embedding" and place == 3:
                for worker in workers:
                    os.kill(worker, signal.SIGKILL)
            yield future

    rows = da.from_array(blobs[0], chunks=(3_000, 4))
    assert_same(clustered(rows, known, client, progress=killing), undisturbed)
    client.wait_for_workers(2)
    assert workers.isdisjoint(client.run(os.getpid).values())
