from dataclasses import replace

import pytest

from benchmarks.papers.catalogue import PAPERS, experiments
from benchmarks.papers.experiment import Contender, Protocol
from sidecut.graphs import Neighbors


def test_the_fingerprint_changes_with_what_changes_a_result(toy):
    mark = toy.fingerprint(toy.contenders[1])
    assert replace(toy, graph=Neighbors(11)).fingerprint(toy.contenders[1]) != mark
    assert toy.under(Protocol(noise=0.1)).fingerprint(toy.contenders[1]) != mark
    assert toy.fingerprint(replace(toy.contenders[1], settings={"n_init": 3})) != mark
    assert toy.fingerprint(toy.contenders[0]) != mark


def test_the_fingerprint_ignores_what_does_not(toy):
    mark = toy.fingerprint(toy.contenders[1])
    longer = replace(toy, sizes=(10, 20, 40), draws=9, contenders=toy.contenders[1:], note="Longer.")
    assert longer.fingerprint(toy.contenders[1]) == mark


def test_quick_keeps_the_ends_and_the_middle(toy):
    many = replace(toy, sizes=(1, 2, 3, 4, 5, 6, 7), draws=100)
    quick = many.shortened(quick=True)
    assert (quick.sizes, quick.draws) == ((1, 4, 7), 3)
    assert toy.shortened(quick=True).sizes == (10, 40)
    assert many.shortened(5).draws == 5


def test_a_grid_is_all_its_points():
    contender = Contender("m", "M", {"a": 1}, {"b": [2, 3], "c": [4, 5]})
    assert contender.choices == [{"a": 1, "b": b, "c": c} for b in (2, 3) for c in (4, 5)]
    assert Contender("m", "M", {"a": 1}).choices == [{"a": 1}]


def test_protocols_have_names_of_their_own(toy):
    assert toy.under(Protocol()).name == toy.name
    names = {
        toy.under(p).name for p in (Protocol("random"), Protocol(noise=0.2), Protocol(choose="held-out"))
    }
    assert names == {f"{toy.name}{end}" for end in ("+random-pairs", "+noise-20", "+held-out")}


def test_every_experiment_has_a_name_of_its_own_that_begins_with_its_paper():
    every = experiments()
    assert len({e.name for e in every}) == len(every)
    assert all(e.name.startswith(f"{paper}-") for paper in PAPERS for e in PAPERS[paper].experiments)
    assert {e.paper for e in experiments(["csp", "ncsc-fig1-iris"])} == {"csp", "ncsc"}
    with pytest.raises(ValueError, match="no experiment begins so"):
        experiments(["cps"])


@pytest.mark.parametrize("experiment", experiments(), ids=lambda e: e.name)
def test_the_settings_are_parameters_of_the_methods(experiment):
    import sidecut

    for contender in experiment.contenders:
        known = getattr(sidecut, contender.method)().get_params()
        named = {*contender.settings, *contender.grid, *([experiment.sweep] if experiment.sweep else [])}
        # Two clusters by the sign of an eigenvector: benchmarks/papers/signs.py.
        assert named <= {*known, "labelling"}
