"""Threads are held within a ``with``, and let go after it."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sidecut.running import limit_threads


def in_use():
    """The threads of the libraries we compute with; others may be loaded at any time."""
    threads = {library["filepath"]: library["num_threads"] for library in threadpool_info()}
    ours = {
        path: n for path, n in threads.items() if any(name in path for name in ("numpy", "scipy", "scikit"))
    }
    assert ours
    return ours


def test_all_libraries_are_held_and_let_go():
    with threadpool_limits(limits=2):
        before = in_use()
        assert set(before.values()) == {2}
        with limit_threads(1):
            assert set(in_use().values()) == {1}
            with limit_threads(None):
                assert set(in_use().values()) == {1}
        assert in_use() == before


def test_an_error_lets_go_as_well():
    with threadpool_limits(limits=2):
        with pytest.raises(ZeroDivisionError), limit_threads(1):
            _ = 1 / 0
        assert set(in_use().values()) == {2}
