"""Oracles: functions, and programs that read and write JSON lines."""

import json
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from sidecut.active import ActiveClustering, CommandOracle, OracleError, ask

X, Y = load_iris(return_X_y=True)


def by_class(i, j):
    return Y[i] == Y[j]


def test_ask_spends_its_budget():
    run = ask(X, by_class, budget=20, random_state=0)
    assert len(run.history_) == 20
    straight = ActiveClustering(random_state=0).start(X)
    for _ in range(20):
        question = straight.question()
        straight.answer(by_class(question.i, question.j))
    np.testing.assert_array_equal(run.labels_, straight.labels_)


def test_ask_stops_when_nothing_is_left():
    few = np.arange(0, 150, 15)
    run = ask(X[few], lambda i, j: Y[few][i] == Y[few][j], budget=1_000, random_state=0)
    assert len(run.history_) < 60
    assert run.question() is None


def test_chances_become_answers_with_confidence():
    run = ask(X, lambda i, j: 0.9 if Y[i] == Y[j] else 0.05, budget=10, random_state=0)
    assert {round(record.confidence, 2) for record in run.history_} == {0.9, 0.95}
    assert all(record.same == by_class(record.i, record.j) for record in run.history_)


def test_what_is_no_answer_is_refused():
    with pytest.raises(OracleError, match="'maybe'; expected True, False, None"):
        ask(X, lambda i, j: "maybe", budget=3)
    with pytest.raises(ValueError, match="budget=0"):
        ask(X, by_class, budget=0)


def test_a_question_without_an_answer_counts_as_unsure_and_three_in_a_row_end_the_run():
    calls = []

    def now_and_then(i, j):
        calls.append((i, j))
        if len(calls) % 3:
            raise OracleError("asleep")
        return by_class(i, j)

    run = ask(X, now_and_then, budget=9, random_state=0)
    assert [record.same is None for record in run.history_] == [True, True, False] * 3

    def never(i, j):
        raise OracleError("gone")

    with pytest.raises(OracleError, match="gone"):
        ask(X, never, budget=9, random_state=0)


def test_ask_goes_on_where_it_was_stopped(tmp_path):
    whole = ask(X, by_class, budget=25, random_state=0)

    def dies(i, j, left=[11]):  # noqa: B006
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return by_class(i, j)

    with pytest.raises(KeyboardInterrupt):
        ask(X, dies, budget=25, random_state=0, save_to=tmp_path / "run")
    asked = []
    run = ask(
        X,
        lambda i, j: (asked.append((i, j)), by_class(i, j))[1],
        budget=25,
        random_state=0,
        save_to=tmp_path / "run",
    )
    assert len(asked) == 14
    assert run.history_ == whole.history_


# Programs


def program(tmp_path, body):
    """A program that answers by its body, which sees the question q."""
    path = tmp_path / "oracle.py"
    path.write_text(
        "import json, os, sys, time\n"
        f"Y = {Y.tolist()}\n"
        f"count = {str(tmp_path / 'count')!r}\n"
        "for n, line in enumerate(sys.stdin):\n"
        "    q = json.loads(line)\n"
        "    open(count, 'a').write(line)\n"
        "    total = len(open(count).readlines())\n"
        f"    {body}\n"
        "    sys.stdout.flush()\n"
    )
    return [sys.executable, str(path)]


def test_a_program_answers(tmp_path):
    body = "print(json.dumps({'same': Y[q['i']] == Y[q['j']], 'confidence': 0.97, 'cost': 0.5}))"
    rows = [{"sepal": float(row[0])} for row in X]
    with CommandOracle(program(tmp_path, body), rows) as oracle:
        run = ask(X, oracle, budget=15, random_state=0)
    assert oracle.spent == pytest.approx(7.5)
    assert all(record.same == by_class(record.i, record.j) for record in run.history_)
    assert {record.confidence for record in run.history_} == {0.97}
    sent = [json.loads(line) for line in (tmp_path / "count").read_text().splitlines()]
    assert sent[0]["a"] == rows[sent[0]["i"]]


def test_unsure_is_passed_on(tmp_path):
    with CommandOracle(program(tmp_path, "print('{\"same\": null}')")) as oracle:
        assert oracle(0, 1) is None


def test_a_program_that_fails_is_asked_again(tmp_path):
    body = "print('Sorry!' if total <= 2 else json.dumps({'same': True}))"
    with CommandOracle(program(tmp_path, body), retries=2) as oracle:
        assert oracle(0, 1) == 1.0
    assert len((tmp_path / "count").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("print('Sorry!')", "wrote 'Sorry!'"),
        ("sys.exit(3)", "ended without an answer"),
        ("time.sleep(30)", "did not answer within 0.5 s"),
        ("print(json.dumps({'same': True, 'confidence': 7}))", "confidence 7"),
        ("print(json.dumps({'same': 'yes'}))", "expected a line such as"),
    ],
)
def test_a_program_that_always_fails_is_given_up_and_the_reason_told(tmp_path, body, why):
    timeout = 0.5 if "sleep" in body else 60
    with (
        CommandOracle(program(tmp_path, body), retries=1, timeout=timeout) as oracle,
        pytest.raises(OracleError, match=f"2 tries .*{why}"),
    ):
        oracle(0, 1)


def test_money_ends_the_asking(tmp_path):
    body = "print(json.dumps({'same': Y[q['i']] == Y[q['j']]}))"
    with CommandOracle(program(tmp_path, body), cost=0.25, max_cost=2.0) as oracle:
        run = ask(X, oracle, budget=100, random_state=0)
    assert len(run.history_) == 8
    assert oracle.spent == pytest.approx(2.0)
    # What the program itself says a question costs is remembered: none is begun that might cost too much.
    body = "print(json.dumps({'same': True, 'cost': 0.3}))"
    with CommandOracle(program(tmp_path, body), max_cost=1.0) as oracle:
        assert len(ask(X, oracle, budget=100, random_state=0).history_) == 3


def test_a_noisy_oracle_with_stated_confidence_is_survived():
    rng = np.random.RandomState(0)

    def noisy(i, j):
        right = rng.rand() > 0.1
        return 0.9 if (Y[i] == Y[j]) == right else 0.1

    run = ask(X, noisy, budget=120, random_state=0)
    assert adjusted_rand_score(Y, run.labels_) > 0.8
    assert any(record.strategy == "doubts" for record in run.history_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"command": ""}, "command is empty"),
        ({"command": "cat", "retries": 1.5}, r"retries=1\.5 must be a whole number"),
        ({"command": "cat", "max_cost": -1}, "max_cost=-1 must be"),
        ({"command": "cat", "timeout": "long"}, "timeout='long' must be"),
    ],
)
def test_odd_settings_of_a_program_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        CommandOracle(**parameters)


def test_numbers_of_numpy_are_sent_and_missing_rows_are_told(tmp_path):
    echo = tmp_path / "echo.py"
    echo.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    q = json.loads(line)\n"
        "    print(json.dumps({'same': q['a']['size'] == q['b']['size']}), flush=True)\n"
    )
    rows = [{"size": size} for size in np.array([3, 3, 4])]
    with CommandOracle([sys.executable, str(echo)], rows) as oracle:
        assert (oracle(0, 1), oracle(1, 2)) == (1.0, 0.0)
        with pytest.raises(ValueError, match="rows has 3 entries, but row 7"):
            oracle(0, 7)


def test_an_oracle_is_a_function():
    with pytest.raises(ValueError, match="oracle is a ndarray; give a function"):
        ask(np.eye(4), np.zeros(4))
