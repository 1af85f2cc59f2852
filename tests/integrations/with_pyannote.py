"""The clusterer in a pipeline of pyannote.audio itself.

Not part of `make test`, for pyannote.audio needs PyTorch: `nox -s seats` installs both and runs this. The
networks are untrained, since trained ones must be downloaded: what they would hear is handed over instead.
Everything after that is pyannote's own: counting speakers, clustering, the annotation and its error rate.
"""

import numpy as np
import pytest

from sidecut.integrations.speakers import SpeakerClusterer

#: Seconds of a chunk and from one to the next, and of a turn; people in the room, and heard in one chunk.
CHUNK, STEP, TURN, PEOPLE, LOCAL = 10.0, 5.0, 2.5, 4, 3


def speak_in_turns(rng, n_turns=82):
    """Return who speaks in every turn: never the same person twice in a row, nor four within one chunk."""
    turns = [0, 1]
    while len(turns) < n_turns:
        person = int(rng.integers(PEOPLE))
        if person != turns[-1] and len({*turns[-3:], person}) <= LOCAL:
            turns.append(person)
    return np.array(turns)


def hear(model, turns, noise, rng):
    """Return who is active in every chunk, and the voices, as the two networks would hear them."""
    from pyannote.core import SlidingWindow, SlidingWindowFeature

    n_frames = model.num_frames(int(CHUNK * 16000))
    frame_turn = np.minimum((np.arange(n_frames) / n_frames * CHUNK / TURN).astype(int), 3)
    n_chunks = (len(turns) - 4) // 2 + 1
    means = rng.normal(size=(PEOPLE, 256))
    active = np.zeros((n_chunks, n_frames, LOCAL))
    voices = np.full((n_chunks, LOCAL, 256), np.nan)
    for chunk in range(n_chunks):
        heard = turns[2 * chunk : 2 * chunk + 4]
        people = rng.permutation(np.unique(heard))
        active[chunk, :, : len(people)] = heard[frame_turn][:, None] == people
        voices[chunk, : len(people)] = means[people] + noise * rng.normal(size=(len(people), 256))
    return SlidingWindowFeature(active, SlidingWindow(duration=CHUNK, step=STEP, start=0.0)), voices


@pytest.fixture
def pipeline(tmp_path):
    """Return pyannote's pipeline with untrained networks; what they hear is handed over by `hear`."""
    import torch
    from pyannote.audio.core.plda import PLDA
    from pyannote.audio.core.task import Problem, Resolution, Specifications
    from pyannote.audio.models.embedding import WeSpeakerResNet34
    from pyannote.audio.models.segmentation import PyanNet
    from pyannote.audio.pipelines import SpeakerDiarization

    class Told(SpeakerDiarization):
        def tell(self, turns, noise, rng):
            self.segments, self.voices = hear(self._segmentation.model, turns, noise, rng)

        def get_segmentations(self, file, hook=None):
            return self.segments

        def get_embeddings(self, file, binary_segmentations, exclude_overlap=False, hook=None):
            return self.voices

    torch.manual_seed(0)
    hears = PyanNet()
    hears.specifications = Specifications(
        Problem.MULTI_LABEL_CLASSIFICATION, Resolution.FRAME, CHUNK, classes=["a", "b", "c"]
    )
    hears.build()
    one = np.eye(256)
    np.savez(tmp_path / "transform.npz", mean1=np.zeros(256), mean2=np.zeros(256), lda=one)
    np.savez(tmp_path / "plda.npz", mu=np.zeros(256), tr=one, psi=np.ones(256))
    made = Told(
        segmentation=hears,
        embedding=WeSpeakerResNet34(),
        plda=PLDA(tmp_path / "transform.npz", tmp_path / "plda.npz"),
        clustering="AgglomerativeClustering",
    )
    return made.instantiate(
        {
            "segmentation": {"threshold": 0.5, "min_duration_off": 0.0},
            "clustering": {"method": "centroid", "threshold": 0.7, "min_cluster_size": 2},
        }
    )


def error_rate(pipeline, turns, **bounds):
    from pyannote.core import Annotation, Segment
    from pyannote.metrics.diarization import DiarizationErrorRate

    truth = Annotation()
    for number, person in enumerate(turns):
        truth[Segment(number * TURN, (number + 1) * TURN)] = f"person {person}"
    found = pipeline.apply({"uri": "talk"}, **bounds)
    # The borders of turns fall between frames.
    return DiarizationErrorRate(collar=0.2)(truth, found.speaker_diarization), found


@pytest.mark.parametrize("bounds", [{}, {"num_speakers": 4}, {"min_speakers": 2, "max_speakers": 6}], ids=str)
def test_the_pipeline_finds_who_spoke_when(pipeline, bounds):
    rng = np.random.default_rng(0)
    turns = speak_in_turns(rng)
    pipeline.tell(turns, 1.5, rng)
    pipeline.clustering = SpeakerClusterer(random_state=0)
    error, found = error_rate(pipeline, turns, **bounds)
    assert len(found.speaker_diarization.labels()) == PEOPLE
    assert found.speaker_embeddings.shape == (PEOPLE, 256)
    assert error < 0.02


def test_it_is_no_worse_than_the_pipelines_own_clustering(pipeline):
    rng = np.random.default_rng(1)
    turns = speak_in_turns(rng)
    pipeline.tell(turns, 2.0, rng)
    theirs = error_rate(pipeline, turns, num_speakers=PEOPLE)[0]
    pipeline.clustering = SpeakerClusterer(random_state=0)
    ours = error_rate(pipeline, turns, num_speakers=PEOPLE)[0]
    assert ours <= theirs


def test_bounds_of_the_clusterer_hold_where_the_pipeline_is_told_none(pipeline):
    rng = np.random.default_rng(2)
    turns = speak_in_turns(rng)
    pipeline.tell(turns, 1.5, rng)
    pipeline.clustering = SpeakerClusterer(min_clusters=3, max_clusters=3, random_state=0)
    assert len(error_rate(pipeline, turns)[1].speaker_diarization.labels()) == 3
