"""A program of a user: it runs against the installed package, and mypy in strict mode has nothing to say.

`make dist` does both. `assert_type` fails in mypy where the package tells less, or something else, than here.
"""

from __future__ import annotations

from importlib.metadata import version
from importlib.resources import files
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import sidecut
from sidecut import CSP, E2CP, AutoCut, Constraints, NormalizedCut
from sidecut.active import ActiveClustering
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.diagnostics import find_suspects
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Graph, Neighbors, as_graph
from sidecut.images import Segmentation, segment
from sidecut.integrations import SpeakerClusterer, TopicClusterer

Points = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


def make_blobs(n_points: int) -> tuple[Points, Labels]:
    """Three groups of points in the plane."""
    rng = np.random.default_rng(0)
    y = np.arange(n_points) % 3
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    return centres[y] + 0.4 * rng.normal(size=(n_points, 2)), y


def use_labels(X: Points, y: Labels) -> float:
    """Labels of some points, a method, a score."""
    known = sample_labels(y, 15, random_state=0)
    assert_type(known, Constraints)
    model = CSP(n_clusters=3, n_neighbors=10, random_state=0).fit(X, constraints=known)
    assert_type(model, CSP)
    names = known.name_clusters(model.labels_)
    assert_type(names, dict[int, Any])
    score = adjusted_rand_index(y, model.labels_, constraints=known)
    assert_type(score, float)
    return score


def use_pairs(X: Points, y: Labels) -> float:
    """Pairs, added to others, on a graph of one's own."""
    pairs = sample_pairs(y, 20, random_state=0) | Constraints.from_pairs(len(y), must_link=[(0, 3)])
    assert_type(pairs, Constraints)
    graph = Neighbors(10).build(X)
    assert_type(as_graph(graph), Graph)
    model = E2CP(n_clusters=3, affinity="precomputed", random_state=0).fit(graph, constraints=pairs)
    share = pairs.satisfaction(model.labels_)
    assert_type(share, float)
    return share


def use_help(X: Points, y: Labels) -> str:
    """What chooses, what doubts, what asks."""
    known = sample_labels(y, 12, random_state=1)
    explanation: str = AutoCut(n_clusters=3, random_state=0).fit(X, constraints=known).explanation_
    suspects = find_suspects(X, known)
    run = ActiveClustering(random_state=0).start(X)
    question = run.question()
    assert question is not None
    run.answer(bool(y[question.i] == y[question.j]))
    assert len(suspects.points) == 12
    return explanation


def use_pictures() -> tuple[int, ...]:
    """A picture and a few marked pixels."""
    image = np.zeros((12, 16, 3))
    image[:, 8:] = 1.0
    marks = np.zeros((12, 16), dtype=int)
    marks[2, 2], marks[9, 13] = 1, 2
    found = segment(image, marks)
    assert_type(found, Segmentation)
    assert found.labels[0, 0] != found.labels[0, 15]
    return found.shape


def use_integrations(X: Points, y: Labels) -> None:
    """Clusterers in the shapes that other packages expect."""
    topics = TopicClusterer(3, random_state=0)
    told = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    assert_type(topics.fit(X, told), TopicClusterer)
    assert topics.labels_.shape == y.shape
    voices = np.eye(3)[y] + 0.05 * np.random.default_rng(0).normal(size=(len(y), 3))
    speakers = SpeakerClusterer(random_state=0).cluster(voices, num_clusters=3)
    assert len(np.unique(speakers)) == 3


def meet_an_error() -> str:
    """Contradictions are refused by an error of their own."""
    try:
        Constraints.from_pairs(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    except ConstraintError as error:
        return str(error)
    raise AssertionError("a contradiction was not found")


def main() -> None:
    """Use the package, and look at what was installed."""
    X, y = make_blobs(150)
    assert sidecut.__version__ == version("sidecut")
    assert files("sidecut").joinpath("py.typed").is_file()
    assert use_labels(X, y) > 0.7
    assert use_pairs(X, y) > 0.7
    assert "candidates" in use_help(X, y)
    assert use_pictures() == (12, 16)
    use_integrations(X, y)
    assert "contradicts" in meet_an_error()
    assert NormalizedCut(n_clusters=3, random_state=0).fit_predict(X).shape == (150,)
    print(f"sidecut {sidecut.__version__} works where it is installed: {sidecut.__file__}")


if __name__ == "__main__":
    main()
