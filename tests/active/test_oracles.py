"""Oracles: functions, and programs that read and write JSON lines."""

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from sidecut.active import (
    ActiveClustering,
    CommandOracle,
    OracleError,
    Question,
    SimulatedOracle,
    ask,
    write_prompt,
)

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
    body = (
        "print(json.dumps({'same': Y[q['points'][0]] == Y[q['points'][1]], 'confidence': 0.97, 'cost': 0.5}))"
    )
    rows = [{"sepal": float(row[0])} for row in X]
    with CommandOracle(program(tmp_path, body), rows) as oracle:
        run = ask(X, oracle, budget=15, random_state=0)
    assert oracle.spent == {"questions": 15, "tokens": 0, "cost": 7.5}
    assert all(record.same == by_class(record.i, record.j) for record in run.history_)
    assert {record.confidence for record in run.history_} == {0.97}
    sent = [json.loads(line) for line in (tmp_path / "count").read_text().splitlines()]
    assert sent[0]["items"] == [rows[point] for point in sent[0]["points"]]


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
    body = "print(json.dumps({'same': Y[q['points'][0]] == Y[q['points'][1]]}))"
    with CommandOracle(program(tmp_path, body), cost=0.25, budget={"cost": 2.0}) as oracle:
        run = ask(X, oracle, budget=100, random_state=0)
    assert len(run.history_) == 8
    assert oracle.spent["cost"] == pytest.approx(2.0)
    # What the program itself says a question costs is remembered: none is begun that might cost too much.
    body = "print(json.dumps({'same': True, 'cost': 0.3}))"
    with CommandOracle(program(tmp_path, body), budget={"cost": 1.0}) as oracle:
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
        ({"command": "cat", "budget": {"cost": -1}}, "budget: cost=-1 must be"),
        ({"command": "cat", "budget": {"money": 1}}, "'money' must be one of 'questions', 'tokens', 'cost'"),
        ({"command": None}, "or a transcript to replay"),
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
        "    print(json.dumps({'same': q['items'][0]['size'] == q['items'][1]['size']}), flush=True)\n"
    )
    rows = [{"size": size} for size in np.array([3, 3, 4])]
    with CommandOracle([sys.executable, str(echo)], rows) as oracle:
        assert (oracle(0, 1), oracle(1, 2)) == (1.0, 0.0)
        with pytest.raises(ValueError, match="items has 3 entries, but row 7"):
            oracle(0, 7)


def test_an_oracle_is_a_function():
    with pytest.raises(ValueError, match="oracle is a ndarray; give a function"):
        ask(np.eye(4), np.zeros(4))


MODEL = """
    first = q["points"][0]
    said = {"name": f"species {Y[first]}", "groups": [Y[point] for point in q["points"]]}
    text = "I think that " + json.dumps(said | {"confidence": 1.0}) + " is right."
    print(json.dumps({"text": text, "tokens": len(q["prompt"])}))
""".strip()


def test_a_model_answers_labels_and_sets_in_its_own_words(tmp_path):
    texts = [f"petal of {row[2]} cm" for row in X]
    settings = {"costs": {"label": 2, "set": 3}, "random_state": 0}
    transcript = tmp_path / "said.jsonl"
    with CommandOracle(program(tmp_path, MODEL), texts, about="Irises.", transcript=transcript) as oracle:
        run = ask(X, oracle, budget=12, **settings)
    assert oracle.spent["questions"] == 12
    assert adjusted_rand_score(Y, run.labels_) > 0.85
    sent = [json.loads(line) for line in (tmp_path / "count").read_text().splitlines()]
    assert oracle.spent["tokens"] == sum(len(q["prompt"]) for q in sent)
    prompt = sent[-1]["prompt"]
    assert all(texts[point] in prompt for point in sent[-1]["points"])
    assert prompt.startswith("Irises.")
    # The transcript answers the same questions, and nothing else.
    replay = CommandOracle(None, texts, about="Irises.", transcript=transcript)
    again = ask(X, replay, budget=12, **settings)
    assert again.history_ == run.history_
    assert replay.spent["questions"] == 0
    with pytest.raises(OracleError, match="holds no answer"):
        replay.answer(Question((0, 149), ""))


def test_half_a_line_of_a_transcript_is_dropped(tmp_path):
    body = "print(json.dumps({'same': True}))"
    transcript = tmp_path / "said.jsonl"
    for _ in range(2):
        with CommandOracle(program(tmp_path, body), transcript=transcript) as oracle:
            assert oracle(0, 1) == 1.0
        transcript.write_text(transcript.read_text() + '{"question": "half')
    assert len((tmp_path / "count").read_text().splitlines()) == 1


def test_a_batch_is_sent_before_the_first_answer_is_read(tmp_path):
    # The program answers only when it has read four questions.
    body = (
        "waiting = globals().setdefault('waiting', []); waiting.append(q)\n"
        "    if len(waiting) == 4:\n"
        "        for w in waiting: print(json.dumps({'same': Y[w['points'][0]] == Y[w['points'][1]]}))\n"
        "        waiting.clear()"
    )
    with CommandOracle(program(tmp_path, body), retries=0, timeout=30) as oracle:
        run = ask(X, oracle, budget=12, batch=4, random_state=0)
    assert len(run.history_) == 12
    assert all(record.same == by_class(record.i, record.j) for record in run.history_)


def test_tokens_and_questions_end_the_asking(tmp_path):
    body = "print(json.dumps({'same': True, 'tokens': 40}))"
    for budget, count in (({"tokens": 100}, 2), ({"questions": 5}, 5)):
        with CommandOracle(program(tmp_path, body), budget=budget) as oracle:
            assert len(ask(X, oracle, budget=100, random_state=0).history_) == count
    with CommandOracle(program(tmp_path, body), budget={"questions": 5}) as oracle:
        assert len(ask(X, oracle, budget=100, batch=3, random_state=0).history_) == 5


def test_a_prompt_shows_items_and_names():
    items = [{"title": "pen", "price": 2}, "a  long\nstick", "cup"]
    prompt = write_prompt(Question((1,), "", kind="label", names=("tools", "tableware")), items)
    assert "Item 1: a long stick" in prompt
    assert "Names so far: tools; tableware" in prompt
    assert '{"name":' in prompt
    assert "Item 1: title: pen; price: 2\nItem 2: cup" in write_prompt(Question((0, 2), ""), items)


def test_a_simulated_person_errs_as_often_as_told():
    y = np.repeat(np.arange(4), 25)
    person = SimulatedOracle(y, 0.3, random_state=0)
    wrong = [person.answer(Question((0, 1), "")).said is False for _ in range(2_000)]
    assert 0.27 < np.mean(wrong) < 0.33
    names = [person.answer(Question((30,), "", kind="label")).said for _ in range(2_000)]
    assert 0.67 < np.mean([name == "1" for name in names]) < 0.73
    assert set(names) == set("0123")
    # People take class 0 for class 1, and never for another.
    confusion = np.eye(4)
    confusion[0, :2] = 0.5
    person = SimulatedOracle(y, confusion=confusion, random_state=0)
    assert {person.answer(Question((0,), "", kind="label")).said for _ in range(50)} == {"0", "1"}
    assert not any(person.answer(Question((0, 60), "")).said for _ in range(50))
    with pytest.raises(ValueError, match="4 rows of 4 chances"):
        SimulatedOracle(y, confusion=np.ones((4, 4)))


def test_a_function_of_two_rows_answers_no_labels():
    with pytest.raises(ValueError, match="answers pairs, and the question is about a label"):
        ask(X, by_class, costs={"label": 1})


def test_what_questions_cost_is_limited():
    run = ask(X, SimulatedOracle(Y), max_cost=63, costs="seconds", random_state=0)
    assert 53 < run.spent_ <= 63


class StubModel(BaseHTTPRequestHandler):
    """Answers prompts about numbers as a language model on this machine would: items are alike below 50."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        items = [int(found) for found in re.findall(r"Item \d+: (\d+)", asked["prompt"])]
        kinds = ["small" if item < 50 else "large" for item in items]
        said = {
            "same": kinds[0] == kinds[-1],
            "name": kinds[0],
            "groups": [len(kind) * (kind == "small") for kind in kinds],
        }
        reply = {"response": f"Sure: {json.dumps(said)}", "prompt_eval_count": 100, "eval_count": 7}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *_):
        pass


def test_the_ten_lines_of_the_page_attach_a_model(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "asking.md").read_text()
    code = next(block for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if "urllib" in block)
    server = ThreadingHTTPServer(("127.0.0.1", 0), StubModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = tmp_path / "model.py"
    path.write_text(code.replace("localhost:11434", f"127.0.0.1:{server.server_port}"))
    values = np.r_[np.arange(20), np.arange(60, 80)]
    try:
        with CommandOracle([sys.executable, str(path)], [str(v) for v in values], about="Numbers.") as oracle:
            run = ask(values[:, None] * 1.0, oracle, budget=12, costs="seconds", random_state=0)
    finally:
        server.shutdown()
        server.server_close()
    assert len(code.strip().splitlines()) <= 10
    assert oracle.spent["tokens"] == 107 * len(run.history_) > 0
    assert adjusted_rand_score(values < 50, run.labels_) == 1.0
