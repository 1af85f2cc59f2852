"""Chunks have the same boundaries, whatever the source."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.graphs import RowChunks, each_chunk

X = np.random.default_rng(0).normal(size=(23, 3))


def written_parquet(folder, pieces):
    for number, piece in enumerate(pieces):
        frame = pd.DataFrame(piece, columns=["a", "b", "c"])
        frame.to_parquet(folder / f"part-{number:03d}.parquet", index=False)
    return folder


def written_map(folder):
    mapped = np.memmap(folder / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


SOURCES = {
    "array": lambda folder: X,
    "memmap": written_map,
    "data frame": lambda folder: pd.DataFrame(X, columns=["a", "b", "c"]),
    "list of pieces": lambda folder: [X[:1], X[1:10], X[10:10], X[10:]],
    "function": lambda folder: lambda: iter([X[:20], X[20:]]),
    "data frames": lambda folder: [pd.DataFrame(X[:7]), pd.DataFrame(X[7:])],
    "parquet": lambda folder: written_parquet(folder, [X[:4], X[4:15], X[15:]]),
    "one parquet file": lambda folder: str(written_parquet(folder, [X]) / "part-000.parquet"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_chunks_again_and_again(kind, tmp_path):
    rows = RowChunks(SOURCES[kind](tmp_path), chunk_rows=5)
    for _ in range(2):
        chunks = list(rows)
        assert [len(chunk) for chunk in chunks] == [5, 5, 5, 5, 3]
        np.testing.assert_array_equal(np.concatenate(chunks), X)


@given(cuts=st.lists(st.integers(0, 23), max_size=6), chunk_rows=st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_the_sizes_of_pieces_leave_no_trace(cuts, chunk_rows):
    pieces = np.split(X, sorted(cuts))
    for ours, theirs in zip(RowChunks(pieces, chunk_rows), RowChunks(X, chunk_rows), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_sparse_rows_stay_sparse():
    matrix = sp.csr_array(np.maximum(X, 0))
    chunks = list(RowChunks(matrix, chunk_rows=10))
    assert all(sp.issparse(chunk) for chunk in chunks)
    np.testing.assert_array_equal(np.vstack([chunk.toarray() for chunk in chunks]), np.maximum(X, 0))


@pytest.mark.parametrize("kind", SOURCES)
def test_rows_are_taken_in_the_order_asked_for(kind, tmp_path):
    order = np.array([22, 0, 7, 7, 5])
    rows = RowChunks(SOURCES[kind](tmp_path), chunk_rows=5)
    np.testing.assert_array_equal(rows.take(order), X[order])


def test_results_come_in_the_order_of_the_chunks():
    many = np.arange(400.0).reshape(200, 2)
    for n_jobs in (1, 2, 4):
        starts = list(each_chunk(lambda chunk: chunk[0, 0], RowChunks(many, chunk_rows=3), n_jobs))
        assert starts == list(range(0, 400, 6))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_none_is_named(bad):
    rows = X.copy()
    rows[17, 2] = bad
    with pytest.raises(ValueError, match=r"X\[17, 2\] = (nan|inf)"):
        list(RowChunks([rows[:9], rows[9:]], chunk_rows=4))


def test_large_finite_numbers_are_let_pass():
    huge = np.full((3, 2), 1e308)
    np.testing.assert_array_equal(next(iter(RowChunks(huge))), huge)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (iter([X]), TypeError, "can be read only once"),
        (3, TypeError, "the source is a int"),
        ([X[:, :2], X], ValueError, "from row 23 on has 3 features, those before it have 2"),
        ([X[:2, :2], X[:5]], ValueError, "from row 2 on has 3 features, those before it have 2"),
        (
            [pd.DataFrame(X, columns=list("abc")), pd.DataFrame(X, columns=list("bac"))],
            ValueError,
            r"from row 23 on has the columns \['b', 'a', 'c'\]",
        ),
        ([X.ravel()], ValueError, r"shape \(69,\)"),
        ([X.astype(str)], ValueError, "must be real numbers"),
        ([X * 1j], ValueError, "must be real numbers"),
        ("no/such/folder", FileNotFoundError, "no/such/folder"),
    ],
)
def test_what_is_no_source_of_rows(source, error, message):
    with pytest.raises(error, match=message):
        list(RowChunks(source, chunk_rows=23))


def test_rows_that_are_not_there():
    with pytest.raises(IndexError, match=r"row 23 .* has 23 rows"):
        RowChunks([X]).take(np.array([23]))


@pytest.mark.parametrize("source", [X[:0], [], [X[:0], X[:0]]], ids=["array", "nothing", "empty pieces"])
def test_nothing_can_be_drawn_from_nothing(source):
    with pytest.raises(ValueError, match="the source has no rows"):
        RowChunks(source).sampled(5, np.random.RandomState(0))


def test_columns_of_text_are_named(tmp_path):
    frame = pd.DataFrame(
        {"height": [1.5, 2.0], "name": ["Ann", "Bob"], "tall": [False, True], "town": ["A", "B"]}
    )
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    with pytest.raises(
        ValueError, match=r"not numbers: 'name' \((large_)?string\), 'town' \((large_)?string\)\."
    ):
        list(RowChunks(tmp_path))
    frame[["height", "tall"]].to_parquet(tmp_path / "rows.parquet", index=False)
    np.testing.assert_array_equal(np.concatenate(list(RowChunks(tmp_path))), [[1.5, 0.0], [2.0, 1.0]])
