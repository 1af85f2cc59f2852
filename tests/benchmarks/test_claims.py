from shutil import copy

import pandas as pd
import pytest

from benchmarks.papers import claims
from benchmarks.papers.catalogue import PAPERS
from benchmarks.papers.experiment import Protocol
from benchmarks.papers.report import figures_of
from benchmarks.papers.storing import RESULTS
from benchmarks.papers.tables import Results

SCORES = ("ari", "rand", "acc", "kept")


def write(folder, name, curves, setting="", seconds=None):
    """Store a summary by hand: {method: {size: mean}}; all other columns are that mean, too."""
    rows = [
        {"experiment": name, "method": method, "setting": setting, "size": size, "draws": 1, "failures": 0}
        | {f"{s}_{part}": value for s in SCORES for part in ("mean", "std", "min", "max")}
        | {"ari_free_mean": value / 2, "seconds_median": (seconds or {}).get(method, 1.0)}
        for method, curve in curves.items()
        for size, value in curve.items()
    ]
    path = folder / f"{name.partition('-')[0]}.csv"
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


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_claims_have_verdicts_where_all_was_run_and_none_where_nothing_was(paper, quick, tmp_path):
    for experiment in paper.experiments:
        for protocol in (Protocol(), Protocol(pairs="random")):
            flat = dict.fromkeys(experiment.shortened(quick=quick).sizes, 0.5)
            write(tmp_path, experiment.under(protocol).name, {c.label: flat for c in experiment.contenders})
    for extra in paper.extras.values():
        copy(RESULTS / extra.file, tmp_path)
    for claim in paper.claims:
        assert claim.check(Results(tmp_path)).number
        assert claim.check(Results(tmp_path / "nothing")) is None


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_every_claim_is_beside_a_figure_or_table_that_its_page_has(paper):
    assert {claim.beside for claim in paper.claims} <= set(figures_of(paper))
    said = [claim.says for claim in paper.claims]
    assert len(said) == len(set(said))


def verdict_on(paper, words, results):
    """Return the verdict on the claim that begins so."""
    (claim,) = [claim for claim in PAPERS[paper].claims if claim.says.startswith(words)]
    found = claim.check(results)
    return None if found is None else found.holds


@pytest.mark.parametrize(
    ("mnist", "pendigits", "holds"),
    [((0.9, 0.6), (0.9, 0.8), True), ((0.9, 0.8), (0.9, 0.6), False), ((0.6, 0.9), (0.9, 0.8), False)],
)
def test_accuracy_must_fall_faster_with_r_on_mnist(tmp_path, mnist, pendigits, holds):
    for data, ends in (("mnist", mnist), ("pendigits", pendigits)):
        write(tmp_path, f"scacs-fig2a-{data}", {"SCACS": dict(zip((3, 30), ends, strict=True))})
    assert verdict_on("scacs", "Accuracy falls faster with r", Results(tmp_path)) is holds


def test_a_large_beta_harms_with_few_labels_and_helps_with_many(tmp_path):
    falls, rises = ({0.1: low, 0.5: 0.8, 0.8: high, 0.9: high} for low, high in ((0.9, 0.6), (0.6, 0.9)))
    for known, curve in ((100, falls), (5000, rises)):
        write(tmp_path, f"scacs-fig2c-pendigits-{known}", {"SCACS": curve})
    drop, improve = "With 100 labels a large", "With 5,000 labels on Pen Digits"
    assert verdict_on("scacs", drop, Results(tmp_path)) is True
    assert verdict_on("scacs", improve, Results(tmp_path)) is True
    # MNIST does not drop: it holds on one of two.
    write(tmp_path, "scacs-fig2d-mnist-100", {"SCACS": rises})
    assert verdict_on("scacs", drop, Results(tmp_path)) is None
    other = tmp_path / "other"
    other.mkdir()
    for known, curve in ((100, rises), (5000, falls)):
        write(other, f"scacs-fig2c-pendigits-{known}", {"SCACS": curve})
    assert verdict_on("scacs", drop, Results(other)) is False
    assert verdict_on("scacs", improve, Results(other)) is False


def test_close_means_neither_far_below_nor_far_above(tmp_path):
    for name in ("scacs-fig1a-segment", "scacs-fig1b-usps"):
        write(tmp_path, name, {"SCACS": {100: 0.8}, "FCSC": {100: 0.78}})
    assert verdict_on("scacs", "SCACS is close to FCSC", Results(tmp_path)) is True
    write(tmp_path, "scacs-fig1c-pendigits", {"SCACS": {100: 0.8}, "FCSC": {100: 0.4}})
    assert verdict_on("scacs", "SCACS is close to FCSC", Results(tmp_path)) is False


@pytest.mark.parametrize(("at_ten", "needed"), [(0.71, "moons 10,"), (0.69, "moons 20,"), (0.5, "moons 20,")])
def test_the_pairs_needed_are_the_fewest_that_match_the_best_rival(tmp_path, at_ten, needed):
    for experiment in PAPERS["csap"].experiments:
        sizes = (5, 10, 20, 100)
        ours = dict(zip(sizes, (0.5, at_ten, 0.8, 0.9), strict=True))
        rival = dict(zip(sizes, (0.2, 0.3, 0.6, 0.7), strict=True))
        write(tmp_path, experiment.name, {"AP": ours, "KKM": rival, "CKmeans": rival, "CGMM": rival})
    (claim,) = [c for c in PAPERS["csap"].claims if c.says.startswith("AP needs few pairs")]
    assert needed in claim.check(Results(tmp_path)).number


def test_slowness_is_ours_over_theirs(tmp_path):
    write(tmp_path, "x-s", {"slow": {10: 0.5}, "fast": {10: 0.5}}, seconds={"slow": 6.0, "fast": 2.0})
    assert claims.slowness(Results(tmp_path), ["x-s"], "slow", "fast") == 3
    assert claims.slowness(Results(tmp_path), ["x-s"], "slow", "third") is None


def test_deviations_are_of_draws_at_each_size(results):
    # The tables made by hand have their means in all columns.
    by_size = claims.deviations(results, ["x-a", "x-b"], "ours", "ari")
    assert by_size.to_dict() == pytest.approx({10: 0.65, 20: 0.85})


def test_dragging_node_four_the_wrong_way_does_not_hold(tmp_path):
    table = pd.read_csv(RESULTS / "csp_toy.csv")
    table.to_csv(tmp_path / "csp_toy.csv", index=False)
    assert verdict_on("csp", "As β grows node 4", Results(tmp_path)) is True
    table["place of node 4"] = table["place of node 4"].to_numpy()[::-1]
    other = tmp_path / "other"
    other.mkdir()
    table.to_csv(other / "csp_toy.csv", index=False)
    assert verdict_on("csp", "As β grows node 4", Results(other)) is False


def test_scacs_is_faster_where_csp_takes_longer(tmp_path):
    rows = [("usps", "CSP", 30.0, 0.9), ("usps", "SCACS (paper)", 1.0, 0.9), ("usps", "SCACS", 1.0, 0.88)]
    table = pd.DataFrame(rows, columns=["data", "method", "seconds", "ACC"])
    table.to_csv(tmp_path / "scacs_table2.csv", index=False)
    assert verdict_on("scacs", "SCACS is much faster", Results(tmp_path)) is True
    assert verdict_on("scacs", "In less time SCACS", Results(tmp_path)) is True
    table["seconds"] = 1 / table["seconds"]
    other = tmp_path / "other"
    other.mkdir()
    table.to_csv(other / "scacs_table2.csv", index=False)
    assert verdict_on("scacs", "SCACS is much faster", Results(other)) is False
    assert verdict_on("scacs", "In less time SCACS", Results(other)) is False
