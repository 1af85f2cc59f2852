"""Codes of all rows: one pass, in memory or on a disk, the same to the last bit."""

import numpy as np
import pytest

from sidecut.graphs import LandmarkCoder, RowChunks, SpooledNearest, code_points, code_rows

rng = np.random.default_rng(1)
X = rng.normal(size=(500, 4))
#: The last landmark is far away from all points.
U = np.vstack([X[:30], np.full((1, 4), 50.0)])


@pytest.fixture
def in_memory():
    return code_rows(RowChunks(X, chunk_rows=64), LandmarkCoder(U, 3))


def test_codes_are_those_of_all_rows_at_once(in_memory):
    near = LandmarkCoder(U, 3).nearest(X)
    sigma = near.mean
    assert in_memory.sigma == pytest.approx(sigma, rel=1e-14)
    np.testing.assert_allclose(
        in_memory.matrix.toarray(), code_points(near, in_memory.sigma, 31).toarray()[:, :30], atol=1e-15
    )
    np.testing.assert_allclose(
        in_memory.sums.gram, (in_memory.matrix.T @ in_memory.matrix).toarray(), atol=1e-12
    )


def test_a_landmark_of_nobody_is_left_out(in_memory):
    np.testing.assert_array_equal(in_memory.kept, np.arange(30))
    assert in_memory.coder.n_landmarks == 30
    assert (in_memory.sums.degrees > 0).all()
    # Without it the codes are the same: it was never among the nearest.
    again = code_rows(RowChunks(X, chunk_rows=64), in_memory.coder, sigma=in_memory.sigma)
    np.testing.assert_array_equal(again.matrix.toarray(), in_memory.matrix.toarray())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_spooled_rows_are_the_same_to_the_last_bit(in_memory, n_jobs, tmp_path):
    source = [X[:100], X[100:117], X[117:]]
    spool = SpooledNearest(str(tmp_path))
    codes = code_rows(RowChunks(source, chunk_rows=64), LandmarkCoder(U, 3), spool=spool, n_jobs=n_jobs)
    assert codes.sigma == in_memory.sigma
    np.testing.assert_array_equal(codes.sums.gram, in_memory.sums.gram)
    np.testing.assert_array_equal(codes.sums.degrees, in_memory.sums.degrees)
    np.testing.assert_array_equal(codes.matrix.toarray(), in_memory.matrix.toarray())


def test_rows_are_read_once():
    reads = []

    def source():
        reads.append(1)
        return iter([X])

    code_rows(RowChunks(source), LandmarkCoder(U, 3), spool=SpooledNearest())
    assert len(reads) == 1


def test_some_rows(in_memory):
    points = np.array([0, 63, 64, 300, 499])
    np.testing.assert_array_equal(in_memory.take(points).toarray(), in_memory.matrix.toarray()[points])
    assert in_memory.take(points[:0]).shape == (0, 30)


def test_progress_is_told_of_every_chunk():
    told = []

    def progress(iterable, desc, total):
        told.append((desc, total))
        for item in iterable:
            told.append(item.n_rows)
            yield item

    code_rows(RowChunks(X, chunk_rows=200), LandmarkCoder(U, 3), progress=progress)
    assert told == [("coding", 3), 200, 200, 100]


@pytest.mark.parametrize("sigma", ["median", -1.0, 0.0, np.nan])
def test_what_is_no_width(sigma):
    with pytest.raises(ValueError, match="sigma"):
        code_rows(RowChunks(X), LandmarkCoder(U, 3), sigma=sigma)


def test_no_rows_at_all():
    with pytest.raises(ValueError, match="no rows"):
        code_rows(RowChunks([]), LandmarkCoder(U, 3))
