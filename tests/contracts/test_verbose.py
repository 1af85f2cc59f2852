"""`verbose` writes the stages of every method to standard error, and changes nothing else."""

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::sidecut.exceptions.SidecutWarning")


def test_stages_are_written_and_the_answer_is_the_same(case, blobs, known, capsys, monkeypatch):
    monkeypatch.setattr("sidecut.running.MIN_SECONDS", 0.0)
    X, _ = blobs
    quiet = case.make(n_neighbors=10).fit(X, constraints=case.knows(known))
    assert capsys.readouterr() == ("", "")
    model = case.make(n_neighbors=10, verbose=1).fit(X, constraints=case.knows(known))
    shown = capsys.readouterr()
    assert shown.out == ""
    title, *stages = shown.err.splitlines()
    assert title == f"{case.estimator.__name__}:"
    assert len(stages) >= 1
    assert all(line.startswith("  ") and " ... " in line and line.endswith(" s") for line in stages)
    np.testing.assert_array_equal(model.labels_, quiet.labels_)


def test_what_verbose_cannot_be(case, blobs):
    with pytest.raises(ValueError, match="verbose='yes'"):
        case.make(verbose="yes").fit(blobs[0])
