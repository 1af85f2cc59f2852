"""Batches that come for ever: the same clusters, in bounded memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut import NormalizedCut
from sidecut.lasting import Stream

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
CLASSES = np.repeat([0, 1, 2], [60, 30, 10])


def batch(seed, classes=CLASSES, centres=CENTRES):
    rng = np.random.default_rng(seed)
    return centres[classes] + rng.normal(size=(len(classes), 2))


def test_the_clusters_of_the_tenth_batch_are_those_of_the_first():
    model = NormalizedCut(3, n_neighbors=8, random_state=0).fit(batch(0))
    named = [int(model.labels_[c == CLASSES][0]) for c in range(3)]
    stream = model.stream(n_kept=90)
    for day in range(1, 11):
        stream.partial_fit(batch(day))
        assert stream.labels_.tolist() == [named[c] for c in CLASSES]
        assert stream.n_stored == 90
        assert not stream.changes_.n_points("moved", "new")
    assert stream.n_seen_ == 1100
    assert stream.sizes_.tolist() == (11 * np.bincount(CLASSES))[np.argsort(named)].tolist()


def test_small_clusters_are_kept_whole_as_long_as_that_is_possible():
    stream = Stream(batch(0), CLASSES, n_kept=50)
    assert np.bincount(stream._labels).tolist() == [20, 20, 10]


def test_a_new_cluster_stays_one_when_its_next_rows_come():
    stream = Stream(batch(0), CLASSES, n_kept=100)
    centres = np.vstack([CENTRES, [[9.0, 9.0]]])
    stream.partial_fit(batch(1, np.repeat([0, 3], [10, 15]), centres))
    assert set(stream.labels_[10:]) == {3}
    assert len(stream.changes_.of("new")) == 1
    stream.partial_fit(batch(2, np.repeat([3, 1], [5, 5]), centres))
    assert stream.labels_.tolist() == [3] * 5 + [1] * 5
    assert stream.sizes_.tolist() == [70, 35, 10, 20]


def test_sparse_rows_come_in_batches():
    stream = Stream(sp.csr_array(np.abs(batch(0))), CLASSES, n_kept=100)
    stream.partial_fit(sp.csr_array(np.abs(batch(1))))
    assert np.mean(stream.labels_ == CLASSES) > 0.97


@pytest.mark.parametrize(
    ("wrong", "words"),
    [(np.zeros((2, 3)), "give rows of 2 features"), ([[np.nan, 0.0]], "missing or infinite")],
)
def test_a_batch_that_makes_no_sense_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        Stream(batch(0), CLASSES).partial_fit(wrong)
