"""A small experiment, as fixtures."""

import pytest

from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.storing import Store
from sidecut.graphs import Neighbors


@pytest.fixture
def toy():
    """Two methods on iris, two sizes, two draws: less than a second."""
    return Experiment(
        "toy-fig1-iris",
        "toy",
        "fig. 1",
        "iris",
        Neighbors(10),
        "pairs",
        (10, 40),
        2,
        "ari",
        (
            Contender("NC", "NormalizedCut", uses_constraints=False),
            Contender("SL", "SpectralLearning", {"n_init": 2}),
        ),
    )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")
