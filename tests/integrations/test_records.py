"""Records: the objective, the search, what a person decided, and the packages whose tables come in."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sidecut.exceptions import ConflictError, ConstraintError
from sidecut.integrations._entities import Evidence, find_clusters, find_cut, measure_confidence
from sidecut.integrations.records import cluster_records

NO_PAIRS = np.empty((0, 2), dtype=np.int64)


def partitions(nodes):
    """Yield every partition of the nodes, as labels."""
    if not nodes:
        yield []
        return
    for rest in partitions(nodes[1:]):
        for label in range(max(rest, default=-1) + 2):
            yield [label, *rest]


def log_odds(p):
    return np.log(p / (1 - p))


def random_evidence(rng, n=6, apart=NO_PAIRS):
    pairs = np.array([pair for pair in combinations(range(n), 2) if rng.random() < 0.7]).reshape(-1, 2)
    sizes = rng.integers(1, 3, n)
    counts = np.array([rng.integers(1, sizes[a] * sizes[b] + 1) for a, b in pairs], dtype=np.int64)
    return Evidence(sizes, pairs, rng.normal(0.5, 2, len(pairs)), counts, -0.6, apart, [frozenset()] * n)


def score_by_hand(evidence, labels):
    """Sum over pairs of nodes in the same cluster: what was compared, and what was not."""
    compared = {tuple(pair): place for place, pair in enumerate(evidence.pairs.tolist())}
    total = 0.0
    for a, b in combinations(range(evidence.n_nodes), 2):
        if labels[a] != labels[b]:
            continue
        place = compared.get((a, b))
        n_records = evidence.sizes[a] * evidence.sizes[b]
        if place is None:
            total += n_records * evidence.absent
        else:
            total += evidence.weights[place] + (n_records - evidence.counts[place]) * evidence.absent
    return total


def is_allowed(evidence, labels):
    return all(labels[a] != labels[b] for a, b in evidence.apart)


@pytest.mark.parametrize("apart", [NO_PAIRS, np.array([[0, 1], [2, 4]])], ids=["free", "apart"])
def test_the_partition_is_nearly_always_the_best_one(apart):
    rng = np.random.default_rng(0)
    n_best = 0
    for _ in range(40):
        evidence = random_evidence(rng, apart=apart)
        labels = find_clusters(evidence)
        assert is_allowed(evidence, labels)
        assert evidence.score(labels) == pytest.approx(score_by_hand(evidence, labels))
        best = max(
            score_by_hand(evidence, other) for other in partitions(range(6)) if is_allowed(evidence, other)
        )
        assert evidence.score(labels) <= best + 1e-9
        n_best += evidence.score(labels) > best - 1e-9
    assert n_best >= 36


def test_a_cut_is_found_where_there_is_one():
    rng = np.random.default_rng(2)
    n_cut = 0
    for _ in range(60):
        weights = np.triu(rng.normal(0.6, 2, (6, 6)), 1)
        weights += weights.T
        sides = np.array(list(np.ndindex(*[2] * 6)), dtype=bool)
        sums = np.array([weights[np.ix_(side, ~side)].sum() for side in sides])
        side = find_cut(weights)
        assert weights[np.ix_(side, ~side)].sum() <= 0
        # No cut is missed that is clearly there.
        assert side.any() or sums.min() > -3
        n_cut += side.any()
    assert 10 < n_cut < 60


def test_a_chain_is_cut_at_its_weakest_link():
    pairs, ones = np.array([[0, 1], [1, 2], [2, 3]]), np.ones(4, dtype=np.int64)
    weights = np.array([3.0, 1.0, 3.0])
    evidence = Evidence(ones, pairs, weights, ones[:3], -2.0, NO_PAIRS, [frozenset()] * 4)
    assert find_clusters(evidence).tolist() == [0, 0, 2, 2]


def test_confidence_is_the_odds_of_the_best_single_move():
    rng = np.random.default_rng(1)
    for _ in range(20):
        evidence = random_evidence(rng)
        labels = find_clusters(evidence)
        confidence = measure_confidence(evidence, labels)
        for node in range(6):
            moved = labels.copy()
            # Labels are numbers of nodes, so 6 is a cluster of its own.
            compared = {int(labels[b]) for a, b in evidence.pairs if a == node} | {
                int(labels[a]) for a, b in evidence.pairs if b == node
            }
            scores = []
            for target in (compared | {6}) - {int(labels[node])}:
                moved[node] = target
                scores.append(score_by_hand(evidence, moved))
            if np.sum(labels == labels[node]) == 1:
                # To be alone elsewhere is no move; to join a record it was not compared with is one.
                stay = score_by_hand(evidence, labels)
                scores = [s for s in scores if s != stay] + [stay + evidence.sizes[node] * evidence.absent]
            margin = score_by_hand(evidence, labels) - max(scores)
            assert confidence[node] == pytest.approx(1 / (1 + np.exp(-margin)))
            assert confidence[node] >= 0.5


def frame(rows):
    return pd.DataFrame(rows, columns=["unique_id_l", "unique_id_r", "match_probability"])


def clusters_of(table):
    return dict(zip(table["unique_id"].tolist(), table["cluster_id"].tolist(), strict=True))


TWO = [(a, b, 0.95) for a, b in combinations(["a1", "a2", "a3"], 2)]
TWO += [(a, b, 0.95) for a, b in combinations(["b1", "b2", "b3"], 2)]
BRIDGE = [*TWO, ("a3", "b1", 0.97)]


def test_one_wrong_match_does_not_glue_two_entities():
    found = clusters_of(cluster_records(frame(BRIDGE)))
    assert found == {"a1": 0, "a2": 0, "a3": 0, "b1": 1, "b2": 1, "b3": 1}


def test_a_chain_of_matches_is_no_giant():
    n = 2000
    chain = frame([(i, i + 1, 0.9) for i in range(n - 1)])
    sizes = cluster_records(chain)["cluster_id"].value_counts()
    assert sizes.max() <= 12


def test_what_a_person_decided_holds():
    decided = {"must_link": [("a3", "b1")], "cannot_link": [("b1", "b3"), ("a1", "a2")]}
    found = clusters_of(cluster_records(frame(BRIDGE), **decided))
    assert found["a3"] == found["b1"]
    assert found["b1"] != found["b3"]
    assert found["a1"] != found["a2"]


def test_decisions_reach_records_that_were_not_compared():
    table = cluster_records(
        frame(TWO), must_link=[("a1", "lone")], records=["lone", "z", "a1", "a2", "a3", "b1", "b2", "b3"]
    )
    found = clusters_of(table)
    assert table["unique_id"].tolist()[:2] == ["lone", "z"]
    assert found["lone"] == found["a1"]
    assert found["z"] not in [found[record] for record in found if record != "z"]


def test_contradictions_are_told_by_name():
    with pytest.raises(ConflictError, match=r"'a1' - 'b1' - 'b3'"):
        cluster_records(frame(BRIDGE), must_link=[("a1", "b1"), ("b1", "b3")], cannot_link=[("b3", "a1")])
    with pytest.raises(ConflictError, match=r"'a1' - 'a2'"):
        cluster_records(frame(BRIDGE), must_link=[("a1", "a2")], cannot_link=[("a2", "a1")])


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        (frame([("a", "b", 1.5)]), {}, r"row 0 is 1.5"),
        (frame([("a", "b", np.nan)]), {}, r"row 0 is nan"),
        (frame([("a", "a", 0.5)]), {}, r"compares 'a' with itself"),
        (frame(TWO), {"must_link": [("a1", "q")]}, r"no record 'q'"),
        (frame(TWO), {"records": ["a1", "a1"]}, r"'a1' is in records twice"),
        (frame(TWO), {"records": ["a1"]}, r"'a2' of edges is not among records"),
        (frame(TWO), {"probability": "p"}, r"no column 'p'"),
        (frame(TWO), {"one_per_source": True}, r"source_dataset_l"),
        (7, {}, r"edges is a int"),
    ],
)
def test_errors_say_what_is_wrong(edges, options, message):
    with pytest.raises(ConstraintError, match=message):
        cluster_records(edges, **options)


@pytest.mark.parametrize("absent", [0, 0.5, "x", None])
def test_absent_pairs_must_speak_against(absent):
    with pytest.raises(ValueError, match="absent"):
        cluster_records(frame(TWO), absent=absent)


def test_a_cluster_holds_one_record_of_a_source():
    edges = frame([(1, 2, 0.9), (1, 3, 0.8), (2, 3, 0.9)])
    edges["source_dataset_l"], edges["source_dataset_r"] = ["x", "x", "y"], ["y", "y", "y"]
    assert cluster_records(edges)["cluster_id"].nunique() == 1
    table = cluster_records(edges, one_per_source=True)
    found = dict(
        zip(zip(table["source_dataset"], table["unique_id"], strict=True), table["cluster_id"], strict=True)
    )
    assert found["y", 2] != found["y", 3]
    assert found["x", 1] == found["y", 2]
    linked = cluster_records(edges, cannot_link=[(("x", 1), ("y", 2))])
    assert linked["cluster_id"].nunique() == 2


def test_confidence_sees_sources():
    edges = frame([(1, 2, 0.9), (1, 3, 0.8)])
    edges["source_dataset_l"], edges["source_dataset_r"] = "x", "y"
    table = cluster_records(edges, one_per_source=True).set_index("unique_id")
    # Record 3 may not join record 1, which has its partner: nothing pulls it there.
    assert table.loc[3, "confidence"] == pytest.approx(1 - 0.35)
    assert table.loc[2, "confidence"] == pytest.approx(0.9)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, dict], ids=["polars", "Arrow", "dict"])
def test_tables_of_other_libraries(make):
    edges = frame(BRIDGE)
    expected = cluster_records(edges)
    result = cluster_records(make({name: edges[name].tolist() for name in edges}))
    kind = {pl.DataFrame: pl.DataFrame, pa.table: pa.Table, dict: pd.DataFrame}[make]
    assert isinstance(result, kind)
    np.testing.assert_array_equal(np.asarray(result["cluster_id"]), expected["cluster_id"])
    np.testing.assert_allclose(np.asarray(result["confidence"]), expected["confidence"])


def test_decisions_in_frames():
    pairs = [["a3", "b1"]]
    for made in (pd.DataFrame(pairs), pl.DataFrame(pairs, orient="row", schema=["l", "r"])):
        found = clusters_of(cluster_records(frame(BRIDGE), must_link=made))
        assert found["a3"] == found["b1"]


def test_scores_as_dedupe_returns_them():
    scores = np.array(
        [((0, 1), 0.9), ((1, 2), 0.8), ((0, 2), 0.1)], dtype=[("pairs", "i8", 2), ("score", "f4")]
    )
    assert clusters_of(cluster_records(scores)) == {0: 0, 1: 0, 2: 1}


def test_a_pair_compared_twice_counts_once():
    once = cluster_records(frame(TWO))
    twice = cluster_records(frame([*TWO, *[(b, a, p) for a, b, p in TWO]]))
    pd.testing.assert_frame_equal(once, twice)


def people(rng, n_people=60):
    """One to five records of each person, with slips."""
    first = ["amy", "ben", "cleo", "dan", "eve", "finn", "gus", "hana"]
    last = ["stone", "rivers", "hill", "marsh", "woods", "lake", "field", "dale"]
    rows = []
    for person in range(n_people):
        f, name, year = first[rng.integers(8)], last[rng.integers(8)], int(rng.integers(1940, 2000))
        for _ in range(int(rng.integers(1, 6))):
            slip = rng.random(3) < 0.1
            rows.append(
                (len(rows), person, f[:2] if slip[0] else f, name + "e" * int(slip[1]), year + int(slip[2]))
            )
    return pd.DataFrame(rows, columns=["unique_id", "person", "first", "last", "year"])


def test_predictions_of_splink():
    # It needs a newer pyarrow than the oldest one we take.
    pytest.importorskip("splink")
    import splink.comparison_library as compare
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    table = people(np.random.default_rng(0))
    settings = SettingsCreator(
        link_type="dedupe_only",
        probability_two_random_records_match=0.01,
        comparisons=[compare.ExactMatch(name) for name in ("first", "last", "year")],
        blocking_rules_to_generate_predictions=[block_on("first"), block_on("last")],
    )
    linker = Linker(DuckDBAPI().register(table.drop(columns="person")), settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e4, seed=0)
    for rule in (block_on("year"), block_on("first")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    predictions = linker.inference.predict()
    result = cluster_records(predictions, records=table["unique_id"])
    components = linker.clustering.cluster_pairwise_predictions_at_threshold(predictions, 0.5)
    ours, theirs = (f_measure(table, labels) for labels in (result, components.as_pandas_dataframe()))
    assert ours >= max(theirs, 0.65)
    assert result["confidence"].between(0.5, 1).all()


def f_measure(table, result):
    """The F measure of pairs said to be one."""
    labels = result.set_index("unique_id").loc[table["unique_id"], "cluster_id"].to_numpy()
    same, found = (
        np.array([values[a] == values[b] for a, b in combinations(range(len(table)), 2)])
        for values in (table["person"].to_numpy(), labels)
    )
    return 2 * (same & found).sum() / (same.sum() + found.sum())
