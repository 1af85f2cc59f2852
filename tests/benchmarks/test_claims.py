import pandas as pd
import pytest

from benchmarks.papers import claims
from benchmarks.papers.catalogue import PAPERS
from benchmarks.papers.tables import Results

SCORES = ("ari", "rand", "acc", "kept")


def write(folder, name, curves, setting=""):
    """Store a summary by hand: {method: {size: mean}}."""
    rows = [
        {"method": method, "setting": setting, "size": size, "draws": 1, "failures": 0}
        | {f"{s}_{part}": value for s in SCORES for part in ("mean", "std", "min", "max")}
        | {"ari_free_mean": value / 2, "seconds_mean": 1.0}
        for method, curve in curves.items()
        for size, value in curve.items()
    ]
    path = folder / name.partition("-")[0] / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    stored = [pd.read_csv(path)] if path.exists() else []
    pd.concat([*stored, pd.DataFrame(rows)]).to_csv(path, index=False)


@pytest.fixture
def results(tmp_path):
    write(tmp_path, "x-a", {"ours": {10: 0.5, 20: 0.9}, "other": {10: 0.6, 20: 0.7}})
    write(tmp_path, "x-b", {"ours": {10: 0.8, 20: 0.8}, "other": {10: 0.803, 20: 0.2}})
    return Results(tmp_path)


def test_best_share_counts_cells_and_ties(results):
    # Beaten at 10 on a; ahead at 20 on both; a tie within 0.005 at 10 on b.
    assert claims.best_share(results, ["x-a", "x-b"], "ours", ["other"]) == 3 / 4
    assert claims.best_share(results, ["x-a"], "other", ["ours"]) == 1 / 2


def test_gain_trend_and_final(results):
    assert claims.gain(results, ["x-a", "x-b"], "ours", "other") == pytest.approx(
        (-0.1 + 0.2 - 0.003 + 0.6) / 4
    )
    assert claims.trend(results, ["x-a", "x-b"], "ours") == pytest.approx(0.2)
    assert claims.final(results, ["x-a", "x-b"], "other").to_dict() == {"x-a": 0.7, "x-b": 0.2}


def test_what_was_not_run_has_no_verdict(results):
    assert claims.gain(results, ["x-a", "x-c"], "ours", "other") is None
    assert claims.gain(results, ["x-a"], "ours", "third") is None
    assert claims.best_share(results, [], "ours", ["other"]) is None
    assert claims.graded(None, "{}") is None


@pytest.mark.parametrize(
    ("share", "word"), [(0.75, "holds"), (0.6, "partly"), (0.4, "**does not hold**"), (1.0, "holds")]
)
def test_shares_are_graded(share, word):
    assert claims.graded(share, "{:.0%}").word == word
    assert claims.graded(share, "{:.0%}").number == f"{share:.0%}"


def test_curves_of_tuned_methods_are_of_the_best_setting(tmp_path):
    write(tmp_path, "x-t", {"m": {10: 0.5, 20: 0.6}}, "g=1")
    write(tmp_path, "x-t", {"m": {10: 0.4, 20: 0.7}}, "g=2")
    results = Results(tmp_path)
    assert results.curve("x-t", "m", "acc").to_dict() == {10: 0.5, 20: 0.7}
    assert results.curve("x-t", "m", "err").to_dict() == pytest.approx({10: 0.5, 20: 0.3})
    assert results.spread("x-t", "m", "ari")["mean"].to_dict() == {10: 0.5, 20: 0.7}


def test_groups_that_differ_make_a_claim_hold_partly(results):
    def ahead(results, names):
        found = claims.gain(results, names, "ours", "other")
        return None if found is None else claims.Verdict(found > 0.1, f"{found:.2f}")

    def judge(**groups):
        return claims.in_groups(groups, ahead)(results)

    assert judge(a=["x-a"], b=["x-b"]) == claims.Verdict(None, "a: 0.05; b: 0.30")
    assert judge(b=["x-b"], c=["x-c"]) == claims.Verdict(True, "b: 0.30")
    assert judge(c=["x-c"]) is None


def test_fits_that_failed_are_no_scores(tmp_path):
    write(tmp_path, "x-f", {"m": {10: float("nan"), 20: 0.7}, "n": {10: 0.5, 20: 0.5}})
    results = Results(tmp_path)
    assert list(results.spread("x-f", "m", "ari").index) == [20]
    # Where it failed it was not best.
    assert claims.best_share(results, ["x-f"], "m", ["n"]) == 1 / 2


def test_unconstrained_points_have_scores_of_their_own(results):
    free = Results(results.folder, free=True)
    assert free.curve("x-a", "ours", "ari").to_dict() == {10: 0.25, 20: 0.45}
    assert free.curve("x-a", "ours", "kept").to_dict() == {10: 0.5, 20: 0.9}


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_have_verdicts_where_all_was_run_and_none_where_nothing_was(paper, tmp_path):
    for experiment in PAPERS[paper].EXPERIMENTS:
        flat = dict.fromkeys(experiment.sizes, 0.5)
        write(tmp_path, experiment.name, {c.label: flat for c in experiment.contenders})
    for claim in PAPERS[paper].CLAIMS:
        assert claim.check(Results(tmp_path)).number
        assert claim.check(Results(tmp_path / "nothing")) is None
