"""New points are taken into a saved model, and its clusters stay."""

import numpy as np
import pandas as pd
import pytest

from sidecut.cli.predict import load_model
from sidecut.lasting import Corrections


@pytest.fixture
def days(shell):
    """day1.csv with two clouds and a few classes, day2.csv with a third cloud, and a model of the first."""
    rng = np.random.default_rng(0)
    kind = rng.permutation(np.repeat([0, 1], 30))
    day1 = pd.DataFrame(rng.normal(size=(60, 2)) + 8 * kind[:, None], columns=["x", "y"])
    day1["who"] = [f"p{row}" for row in range(60)]
    day1["kind"] = np.where(np.arange(60) % 6 == 0, np.array(["cat", "dog"])[kind], "")
    day1.to_csv("day1.csv", index=False)
    fresh = np.repeat([0, 1, 2], [3, 3, 15])
    centres = np.array([[0, 0], [8, 8], [-8, 8]])
    day2 = pd.DataFrame(rng.normal(size=(21, 2)) + centres[fresh], columns=["x", "y"])
    day2["who"] = [f"q{row}" for row in range(21)]
    day2["kind"] = ["", "", "", "", "", "", "owl", *[""] * 14]
    day2["photo"] = ["a", "a", *[""] * 19]
    day2.to_csv("day2.csv", index=False)
    words = "cluster day1.csv -k 2 -o l.csv --no-report --model m.sidecut --label-column kind --id-column who"
    assert shell(*words.split(), "--neighbors", 8, "--method", "poisson-mbo") == 0, shell.err
    return fresh


def test_old_clusters_stay_and_a_new_one_is_founded(shell, days):
    before = load_model(shell.directory / "m.sidecut").predictor.labels_
    assert shell("update", "m.sidecut", "day2.csv", "-o", "new.csv", "--changes", "changes.csv") == 0, (
        shell.err
    )
    assert "All 60 old points stayed where they were." in shell.out
    assert "Of the clusters, 1 was founded." in shell.out
    new = pd.read_csv("new.csv")
    assert new["who"].tolist()[:2] == ["q0", "q1"]
    assert new["class"].tolist()[:6] == ["cat"] * 3 + ["dog"] * 3
    assert set(new["label"][6:]) == {2}
    table = pd.read_csv("changes.csv")
    assert table.loc[table["change"] == "new", "points"].tolist() == [15]
    model = load_model(shell.directory / "m.sidecut").predictor
    np.testing.assert_array_equal(model.labels_[:60], before)
    # The model is the updated one: the third cloud is in it.
    assert shell("predict", "m.sidecut", "day2.csv", "-o", "again.csv") == 0, shell.err
    assert pd.read_csv("again.csv")["label"].tolist() == new["label"].tolist()


def test_what_the_new_table_knows_is_used(shell, days):
    words = "update m.sidecut day2.csv -o new.csv --label-column kind --apart photo --save n.sidecut"
    assert shell(*words.split()) == 0, shell.err
    new = pd.read_csv("new.csv")
    assert set(new["class"][6:]) == {"owl"}
    assert new["label"][0] != new["label"][1]
    assert len(load_model(shell.directory / "m.sidecut").predictor.labels_) == 60
    assert len(load_model(shell.directory / "n.sidecut").predictor.labels_) == 81


def test_corrections_are_taken_over(shell, days):
    labels = load_model(shell.directory / "m.sidecut").predictor.labels_
    Corrections(labels).move([0], to=1 - labels[0]).save("fixes.json")
    assert shell("update", "m.sidecut", "day2.csv", "-o", "new.csv", "--corrections", "fixes.json") == 0, (
        shell.err
    )
    assert load_model(shell.directory / "m.sidecut").predictor.labels_[0] == 1 - labels[0]


def test_the_report_says_what_changed_and_why_and_draws_it(shell, days):
    words = "update m.sidecut day2.csv -o new.csv --report r.html --changes c.csv"
    assert shell(*words.split()) == 0, shell.err
    page = (shell.directory / "r.html").read_text(encoding="utf-8")
    for said in shell.out.splitlines()[:3]:
        assert f'<p class="lead">{said}</p>' in page
    assert page.count("data:image/png;base64,") == 2
    assert "more of their weight leads to each other" in page
    rows = pd.read_csv("c.csv").set_index("change")["rows"]
    assert [int(row) for row in rows["new"].split()] == list(range(66, 81))


def test_the_report_of_an_update_goes_to_a_page_alone(shell, days):
    assert shell("update", "m.sidecut", "day2.csv", "-o", "new.csv", "--report", "r.txt") == 2
    assert ".html" in shell.err


def test_rows_that_were_clustered_before_are_spoken_of(shell, days):
    """All rows of the table beside the new ones: each old row counted twice, without a word."""
    both = pd.concat([pd.read_csv("day1.csv"), pd.read_csv("day2.csv")])
    both.to_csv("both.csv", index=False)
    assert shell("update", "m.sidecut", "both.csv", "-o", "new.csv", "--save", "n.sidecut") == 0, shell.err
    assert "60 of the 81 rows of both.csv are called as points of m.sidecut are, the first 'p0'" in shell.err
    assert shell("update", "m.sidecut", "day2.csv", "-o", "new.csv") == 0
    assert "are called as points" not in shell.err
    # The names of new points are kept, too.
    assert shell("update", "m.sidecut", "day2.csv", "-o", "new.csv") == 0
    assert "21 of the 21 rows of day2.csv are called as points of m.sidecut are, the first 'q0'" in shell.err
