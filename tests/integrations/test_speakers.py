"""Speakers: what is known holds, the number is bounded, and the shapes of the packages that call it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP
from sidecut.exceptions import ConflictError, ConstraintError
from sidecut.integrations.speakers import (
    RememberedSegments,
    SpeakerClusterer,
    gather_constraints,
    keep_numbers,
)


def voices(n_chunks, n_speakers, seed=0, spread=1.6, dimension=64):
    """One to three speakers per chunk, with noise around the voice of each."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n_speakers, dimension))
    who = [rng.choice(n_speakers, rng.integers(1, min(3, n_speakers) + 1), False) for _ in range(n_chunks)]
    chunks = np.repeat(np.arange(n_chunks), [len(people) for people in who])
    who = np.concatenate(who)
    return means[who] + spread * rng.normal(size=(len(who), dimension)), who, chunks


def test_people_of_one_chunk_are_told_apart_and_that_helps():
    points, who, chunks = voices(150, 4, spread=3.0)
    model = SpeakerClusterer(random_state=0)
    without = adjusted_rand_score(who, model.cluster(points, num_clusters=4))
    labels = model.cluster(points, num_clusters=4, chunks=chunks)
    assert adjusted_rand_score(who, labels) > without + 0.05
    assert gather_constraints(len(who), chunks, None, None).satisfaction(labels) == 1.0
    for chunk in range(150):
        assert len(set(labels[chunks == chunk])) == np.sum(chunks == chunk)


def test_known_speakers_are_found_by_name():
    points, who, chunks = voices(150, 4, spread=3.0)
    names = np.array(["Ann", "Bob", "Cleo", "Dan"], dtype=object)
    speakers = np.where(np.arange(len(who)) % 5 == 0, names[who], None)
    model = SpeakerClusterer(random_state=0).fit(points, chunks=chunks, speakers=speakers)
    assert model.n_clusters_ == 4
    assert sorted(model.names_.values()) == ["Ann", "Bob", "Cleo", "Dan"]
    told = np.array([model.names_[label] for label in model.labels_])
    assert (told == speakers)[speakers != None].all()  # noqa: E711
    assert np.mean(told == names[who]) > 0.9


@pytest.mark.parametrize("n_speakers", [1, 2, 3, 5])
def test_the_number_of_speakers_is_found(n_speakers):
    points, who, _ = voices(120, n_speakers, seed=n_speakers)
    model = SpeakerClusterer(random_state=0).fit(points)
    assert model.n_clusters_ == n_speakers
    assert adjusted_rand_score(who, model.labels_) == 1.0
    assert sorted(set(model.labels_)) == list(range(n_speakers))
    assert model.labels_[0] == 0


def test_the_number_of_speakers_is_bounded():
    points, _, chunks = voices(120, 5)
    model = SpeakerClusterer(random_state=0)
    assert len(set(model.cluster(points, max_clusters=3))) == 3
    assert len(set(model.cluster(points, min_clusters=7))) == 7
    assert len(set(model.cluster(points, num_clusters=2))) == 2
    assert set(model.cluster(points, max_clusters=1)) == {0}
    # Three are heard together, so there are three at least.
    noise = np.random.default_rng(0).normal(size=points.shape)
    assert len(set(model.cluster(noise))) == 1
    assert len(set(model.cluster(noise, chunks=chunks))) >= 3
    with pytest.raises(ValueError, match="min_clusters=4 and max_clusters=2"):
        model.cluster(points, min_clusters=4, max_clusters=2)


def test_only_directions_count():
    points, _, chunks = voices(100, 3)
    scaled = points * np.random.default_rng(0).uniform(0.1, 10, (len(points), 1))
    expected = SpeakerClusterer(random_state=0).cluster(points, chunks=chunks)
    np.testing.assert_array_equal(SpeakerClusterer(random_state=0).cluster(scaled, chunks=chunks), expected)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_few_segments(n):
    points, _, chunks = voices(n, 2)
    labels = SpeakerClusterer(random_state=0).cluster(points[:n], chunks=chunks[:n])
    assert labels.shape == (n,)
    assert labels[0] == 0


def test_bad_input_is_told():
    model = SpeakerClusterer()
    with pytest.raises(ValueError, match="segment 1 is not finite or all zero"):
        model.fit([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="one row per segment"):
        model.fit([1.0, 2.0])
    with pytest.raises(ValueError, match=r"chunks has shape \(1,\) for 2 segments"):
        model.fit([[1.0, 0.0], [0.0, 1.0]], chunks=[0])
    with pytest.raises(ConstraintError, match="3 samples"):
        model.fit([[1.0, 0.0], [0.0, 1.0]], speakers=["a", "b", "c"])
    with pytest.raises(ConflictError):
        model.fit([[1.0, 0.0], [0.0, 1.0]], chunks=[0, 0], speakers=["a", "a"])


def test_another_method_can_be_used():
    points, who, chunks = voices(100, 3)
    model = SpeakerClusterer(estimator=CSP(hard=True), random_state=0).fit(points, chunks=chunks)
    assert adjusted_rand_score(who, model.labels_) > 0.95


# spectralcluster


def test_it_answers_where_spectralcluster_does():
    from spectralcluster import SpectralClusterer

    points, who, chunks = voices(60, 3, spread=1.0)
    theirs = SpectralClusterer(min_clusters=3, max_clusters=3).predict(points)
    model = SpeakerClusterer(min_clusters=3, max_clusters=3, random_state=0)
    ours = model.predict(points)
    assert ours.shape == theirs.shape
    assert adjusted_rand_score(theirs, who) == adjusted_rand_score(ours, who) == 1.0
    # Their constraint matrix: -1 for turns of different speakers, here of a chunk.
    apart = -(chunks[:, None] == chunks).astype(float)
    np.fill_diagonal(apart, 0)
    expected = model.cluster(points, chunks=chunks)
    np.testing.assert_array_equal(model.predict(points, apart), expected)
    np.testing.assert_array_equal(model.predict(points, sparse.csr_array(apart)), expected)


# pyannote


def recording(n_chunks=80, seed=0):
    """Embeddings as pyannote gives them: NaN where fewer than three speak, and frames for who is active."""
    from pyannote.core import SlidingWindow, SlidingWindowFeature

    points, who, chunks = voices(n_chunks, 3, seed=seed)
    embeddings = np.full((n_chunks, 3, points.shape[1]), np.nan)
    truth = np.full((n_chunks, 3), -1)
    active = np.zeros((n_chunks, 30, 3))
    for chunk in range(n_chunks):
        rows = np.flatnonzero(chunks == chunk)
        embeddings[chunk, : len(rows)], truth[chunk, : len(rows)] = points[rows], who[rows]
        for place in range(len(rows)):
            active[chunk, 10 * place : 10 * (place + 1), place] = 1
    window = SlidingWindow(duration=10.0, step=1.0)
    return embeddings, SlidingWindowFeature(active, window), truth


def test_it_is_called_as_a_clustering_of_pyannote():
    embeddings, segmentations, truth = recording()
    model = SpeakerClusterer(random_state=0)
    hard, soft, centroids = model(embeddings, segmentations, min_clusters=2, max_clusters=8, file="x.wav")
    assert hard.shape == truth.shape
    assert soft.shape == (80, 3, 3)
    assert centroids.shape == (3, 64)
    assert ((hard == -2) == (truth == -1)).all()
    assert adjusted_rand_score(truth[truth >= 0], hard[truth >= 0]) == 1.0
    # Soft scores are 2 - cosine distance, and highest at the cluster of nearly all.
    place = np.argwhere(truth >= 0)[5]
    voice = embeddings[tuple(place)]
    cosine = voice @ centroids[0] / np.linalg.norm(voice) / np.linalg.norm(centroids[0])
    assert soft[(*place, 0)] == pytest.approx(2 - (1 - cosine))
    assert np.mean(soft[truth >= 0].argmax(axis=1) == hard[truth >= 0]) > 0.95


def test_one_and_infinity_are_what_pyannote_says_for_no_bounds():
    embeddings, segmentations, _ = recording()
    model = SpeakerClusterer(min_clusters=4, max_clusters=4, random_state=0)
    assert model(embeddings, segmentations, min_clusters=1, max_clusters=np.inf)[0].max() == 3
    assert model(embeddings, segmentations, min_clusters=5, max_clusters=np.inf)[0].max() == 4


def test_those_hardly_heard_alone_go_to_the_nearest_free_cluster():
    embeddings, segmentations, truth = recording()
    full = np.flatnonzero((truth >= 0).all(axis=1))[:10]
    # The third is hardly heard, and sounds like the first, who has that cluster already.
    embeddings[full, 2] = embeddings[full, 0]
    segmentations.data[full, 24:, 2] = 0
    hard, *_ = SpeakerClusterer(random_state=0)(embeddings, segmentations, num_clusters=3)
    for chunk in full:
        assert sorted(hard[chunk]) == [0, 1, 2]


def test_embeddings_without_segmentations():
    embeddings, _, truth = recording()
    hard, *_ = SpeakerClusterer(random_state=0)(embeddings)
    assert adjusted_rand_score(truth[truth >= 0], hard[truth >= 0]) == 1.0


# Streams


def test_a_stream_ends_where_the_whole_would():
    points, who, chunks = voices(400, 4)
    model = SpeakerClusterer(max_landmarks=150, random_state=0)
    for first in range(0, 400, 40):
        batch = (chunks >= first) & (chunks < first + 40)
        model.partial_fit(points[batch], chunks=chunks[batch])
        assert len(model.batch_labels_) == batch.sum()
        assert len(model._kept) <= 150
    assert model.labels_.shape == who.shape
    whole = SpeakerClusterer(random_state=0).cluster(points, chunks=chunks)
    assert adjusted_rand_score(who, model.labels_) > adjusted_rand_score(who, whole) - 0.03
    for chunk in range(400):
        assert len(set(model.labels_[chunks == chunk])) == np.sum(chunks == chunk)


def test_speakers_keep_their_numbers_and_names():
    points, who, _ = voices(300, 3)
    order = np.argsort(who == 2, kind="stable")  # The third comes late.
    points, who = points[order], who[order]
    model = SpeakerClusterer(max_landmarks=100, random_state=0)
    names = np.full(len(who), None, dtype=object)
    names[0] = f"speaker {who[0]}"
    seen = None
    for start in range(0, len(points), 50):
        model.partial_fit(points[start : start + 50], speakers=names[start : start + 50])
        if seen is not None:
            assert np.mean(model.labels_[: len(seen)] == seen) > 0.9
        seen = model.labels_
    assert model.names_[model.labels_[0]] == names[0]
    assert model.n_clusters_ == 3


def test_segments_are_thinned_evenly_and_known_ones_stay():
    rng = np.random.RandomState(0)
    points, labels = rng.normal(size=(40, 2)), np.repeat([0, 1], [34, 6])
    kept = RememberedSegments(2)
    kept.add(points, np.array([[3, 30], [38, 39]]), ["Ann", *[None] * 39])
    kept.thin(labels, 12, rng)
    assert len(kept) == 12
    assert (kept.segments >= 34).sum() == 6
    assert 0 in kept.segments
    np.testing.assert_array_equal(kept.points, points[kept.segments])
    # Of links, those between segments that are still there.
    pairs = kept.constraints().pairs
    assert [38, 39] in kept.segments[pairs].tolist()
    assert len(pairs) == 1 + (np.isin([3, 30], kept.segments).all())
    assert kept.names(labels[kept.segments]) == {0: "Ann"}


def test_clusters_keep_the_number_of_most_of_their_segments():
    assert keep_numbers(np.array([1, 1, 0, 0, 2]), np.array([0, 0, 1, 1])).tolist() == [0, 0, 1, 1, 2]


def test_names_and_chunks_become_links():
    known = gather_constraints(4, [0, 0, 1, 1], ["Ann", None, None, "Bob"], None)
    assert known.pairs.tolist() == [[0, 1], [0, 3], [2, 3]]
    assert (known.strengths < 0).all()
