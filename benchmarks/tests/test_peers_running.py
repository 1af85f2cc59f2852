"""Peers get the same work, and are scored alike; no environment is made here."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.quality.peers import environments, registry, running, work
from benchmarks.quality.peers.measure import Work

RUNNERS = Path(running.__file__).parent / "runners"
OTHERS = [peer for peer in registry.PEERS if peer.name != "sidecut"]


@pytest.fixture(scope="module")
def moons(tmp_path_factory):
    return work.written(tmp_path_factory.mktemp("cache"), "moons", draw=0)


def test_points_left_out_are_together_with_none():
    labels = np.array([0, 0, -1, -1, 1])
    assert running.satisfied(labels, np.array([[0, 1], [2, 3]]), np.array([[0, 4], [2, 3]])) == 0.75


def test_pairs_and_labels_tell_the_truth(moons):
    given = Work(str(moons))
    y = given.answers
    assert np.all(y[given.must_link[:, 0]] == y[given.must_link[:, 1]])
    assert np.all(y[given.cannot_link[:, 0]] != y[given.cannot_link[:, 1]])
    assert np.array_equal(given.told[given.told >= 0], y[given.told >= 0])
    assert np.sum(given.told >= 0) == work.N_LABELS
    assert given.n_questions == work.N_PAIRS


def test_the_graph_survives_the_file(moons):
    graph = Work(str(moons)).graph()
    assert abs(graph - graph.T).max() == 0
    assert set(np.unique(graph.data)) == {0.5, 1.0}


def test_signs_hold_every_pair_twice(moons):
    given = Work(str(moons))
    signs = given.signs()
    assert np.array_equal(signs, signs.T)
    assert (signs > 0).sum() == 2 * len(given.must_link)
    assert (signs < 0).sum() == 2 * len(given.cannot_link)


def test_a_method_is_run_in_a_process_of_its_own_and_scored(moons):
    peer = registry.chosen(["scikit-learn"])[0]
    row = running.measured(Path(sys.executable), peer, moons, peer.methods[0], limit=60)
    assert 0.8 < row["ari"] < 0.9
    assert row["clusters"] == 2
    assert row["cpu_seconds"] > 0
    assert "numpy" in row["with"]


def test_a_failure_is_told_by_its_last_line(moons):
    peer = registry.chosen(["scikit-learn"])[0]
    row = running.measured(Path(sys.executable), peer, moons, "no such method", limit=60)
    assert row == {"error": "KeyError: 'no such method'"}


def test_errors_do_not_tell_where_files_lie():
    text = "Traceback\nOSError: no file /home/someone/x.py here\n\n"
    assert environments.last_line(text) == "OSError: no file … here"


def test_a_draw_wants_what_is_not_stored_and_later_ones_only_what_was_cheap():
    peer = registry.Peer("p", ("quick", "dear", "broken", "new"))
    stored = pd.DataFrame(
        {"package": "p", "data": "moons", "draw": 0, "method": ["quick", "dear", "broken"]}
        | {"cpu_seconds": [1.0, 2 * running.CHEAP, np.nan]}
    )
    assert running.wanted(peer, "moons", 0, stored) == ("new",)
    assert running.wanted(peer, "moons", 1, stored) == ("quick",)
    assert running.wanted(peer, "digits", 0, stored) == peer.methods


def test_an_unknown_peer_is_refused_by_name():
    with pytest.raises(ValueError, match="nobody"):
        registry.chosen(["nobody"])


@pytest.mark.parametrize("peer", OTHERS, ids=lambda peer: peer.name)
def test_a_runner_has_the_registered_methods_and_does_not_know_sidecut(peer):
    source = (RUNNERS / peer.runner).read_text()
    assert "sidecut" not in source
    assert all(f'"{method}":' in source for method in peer.methods)
    assert f'PACKAGE = "{peer.name}"' in source
