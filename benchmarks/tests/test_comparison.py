from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.papers.comparison import comparable, comparison
from benchmarks.papers.experiment import Contender
from benchmarks.papers.running import run
from benchmarks.papers.tables import Results
from sidecut.graphs import Neighbors


def test_gains_are_over_the_unconstrained_cut_of_the_same_cells(toy, store):
    toy = replace(toy, contenders=(toy.contenders[0], Contender("SL", "SpectralLearning")))
    run(toy, store)
    results = Results(store.folder)
    table = comparison([toy], results)
    gains = results.curve(toy.name, "SL", "ari") - results.curve(toy.name, "NC", "ari")
    row = table.loc["SpectralLearning"]
    assert list(table.index) == ["SpectralLearning"]
    assert row["cells"] == 2
    assert row["ARI gained"] == pytest.approx(gains.mean())
    assert row["cells where it harms"] == pytest.approx((gains < -0.005).mean())


@pytest.mark.parametrize(
    "other",
    [
        Contender("SL (paper)", "SpectralLearning", {"normalization": "additive"}),
        Contender("SL, other graph", "SpectralLearning", graph=Neighbors(5)),
    ],
)
def test_other_settings_and_other_graphs_are_left_out(toy, store, other):
    experiment = replace(toy, contenders=(toy.contenders[0], other), draws=1)
    run(experiment, store)
    assert comparison([experiment], Results(store.folder)) is None


def test_pairs_from_mistakes_are_compared_apart(toy):
    mistakes = replace(toy, name="toy-fig2-iris", kind="wrong pairs")
    sweep = replace(toy, name="toy-fig3-iris", sweep="n_init")
    labels = replace(toy, name="toy-fig4-iris", kind="labels")
    few = replace(toy, name="toy-fig5-iris", kind="pairs among few")
    random, *apart = comparable([toy, mistakes, sweep, labels, few]).values()
    assert [e.name for e in random] == [
        "toy-fig1-iris",
        "toy-fig2-iris+random-pairs",
        "toy-fig5-iris+random-pairs",
    ]
    assert apart == [[labels], [mistakes], [few]]


def test_cells_that_failed_are_counted_apart(toy, store):
    """A method that fails with 40 pairs and not with 10 has one cell, and one that failed."""
    toy = replace(toy, contenders=(toy.contenders[0], Contender("SL", "SpectralLearning")))
    run(toy, store)
    path = store.summary_path(toy.name)
    table = pd.read_csv(path)
    scores = [column for column in table if column.startswith(("ari", "rand", "acc", "kept"))]
    table.loc[(table.method == "SL") & (table["size"] == 40), scores] = np.nan
    table.loc[(table.method == "SL") & (table["size"] == 10), "ari_mean"] = -1.0
    table.to_csv(path, index=False)
    row = comparison([toy], Results(store.folder)).loc["SpectralLearning"]
    assert (row["cells"], row["failed"], row["cells where it harms"]) == (1, 1, 1.0)
