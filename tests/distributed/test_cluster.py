"""Sums in a tree, and a cluster that is not there."""

import importlib
import sys

import dask
import dask.array as da
import numpy as np
import pytest

from sidecut import LSC
from sidecut.distributed import fit
from sidecut.distributed.partitions import FAN_IN, tree_sum


@pytest.mark.parametrize("n_parts", [1, FAN_IN, FAN_IN + 1, FAN_IN**2 + 3])
def test_every_part_is_added_once_in_its_order(n_parts):
    parts = [dask.delayed([number]) for number in range(n_parts)]
    assert tree_sum(parts).compute(scheduler="sync") == list(range(n_parts))


def test_without_a_cluster_it_is_said_how_to_start_one():
    with pytest.raises(ValueError, match=r"start one with distributed.Client\(\)"):
        fit(LSC(2), da.from_array(np.eye(4)))


@pytest.mark.parametrize("missing", ["dask.array", "dask.dataframe", "distributed"])
def test_without_dask_it_is_said_what_to_install(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "sidecut.distributed")
    with pytest.raises(ImportError, match=rf"{missing}.*pip install 'dask\[array,dataframe\]' distributed"):
        importlib.import_module("sidecut.distributed")
