import base64
import csv
import io
import json
import threading
import zipfile

import numpy as np
import pytest

from sidecut.active import ActiveClustering, Answer
from sidecut.constraints import Constraints
from sidecut.graphs import Neighbors
from sidecut.studio import ContradictionError, Items, Session, Setup
from sidecut.studio.items import carry_numbers
from sidecut.studio.project import ProjectBusyError, export_file
from sidecut.studio.requests import SessionHandler


def answer_truly(session, y, n):
    for _ in range(n):
        question = session.question()
        if question is None:
            return
        session.answer(bool(y[question.i] == y[question.j]))


def text_of(file):
    return base64.b64decode(file["data"]).decode()


def test_scripted_answers_give_the_labels_of_the_api(open_session, data):
    X, y = data
    session = open_session(None)
    answer_truly(session, y, 12)
    run = ActiveClustering(random_state=0).start(X)
    for _ in range(len(session.run.history_)):
        question = run.question()
        run.answer(bool(y[question.i] == y[question.j]))
    np.testing.assert_array_equal(session.run.labels_, run.labels_)
    assert [(a.i, a.j, a.same) for a in session.run.history_] == [(a.i, a.j, a.same) for a in run.history_]


def test_the_map_uses_the_graph_of_the_run(data):
    X, _ = data
    session = Session(X)
    expected = Neighbors(10).build(X).matrix
    assert abs(session._affinity.graph_.matrix - expected).max() == 0
    assert session.places.shape == (len(X), 2)
    assert np.abs(session.places).max() == pytest.approx(1.0)


def test_a_session_goes_on_where_it_was(open_session, data):
    session = open_session()
    answer_truly(session, data[1], 5)
    session.name(0, "left")
    before = session.labels, session.question(), session.numbers, session.places
    session.close()
    again = open_session()
    np.testing.assert_array_equal(again.labels, before[0])
    assert again.question() == before[1]
    np.testing.assert_array_equal(again.numbers, before[2])
    np.testing.assert_array_equal(again.places, before[3])
    assert "left" in again.cluster_names().values()


def test_undo_takes_back_whole_steps_after_a_restart_too(open_session):
    session = open_session()
    session.join([0, 1, 2, 3])
    session.link(0, 25, False)
    session.forget([0])
    session.close()
    again = open_session()
    assert len(again.run.history_) == 3
    assert [len(again.undo().run.history_) for _ in range(3)] == [4, 3, 0]
    with pytest.raises(ValueError, match="no answer to take back"):
        again.undo()


def test_two_studios_do_not_share_a_folder(open_session):
    session = open_session()
    with pytest.raises(ProjectBusyError, match="open in another studio"):
        open_session()
    session.close()
    open_session()


def test_a_folder_belongs_to_its_data(open_session, tmp_path, data):
    open_session().close()
    with pytest.raises(ValueError, match="answers about other data"):
        Session(data[0] + 1, folder=tmp_path / "project")


def test_join_says_that_all_are_one(open_session):
    session = open_session(None).join([3, 25, 45])
    assert len(set(session.labels[[3, 25, 45]])) == 1
    assert len(session.run.history_) == 2


def test_part_asks_about_two_halves(open_session, data):
    session = open_session(None)
    question = session.part(list(range(40)))
    assert session.question() == question
    assert data[1][question.i] != data[1][question.j]
    session.answer(False)
    assert session.run.history_[-1] == Answer(
        question.i, question.j, False, strategy="part_question", changed=session.run.history_[-1].changed
    )
    assert session.labels[question.i] != session.labels[question.j]


def test_names_are_knowledge(open_session, data):
    session = open_session(None)
    a, b = session.labels[0], session.labels[25]
    session.name(a, "left")
    session.name(session.labels[25], "right")
    names = session.cluster_names()
    assert (names[session.labels[0]], names[session.labels[25]]) == ("left", "right")
    session.name(session.labels[25], "east")
    assert session.cluster_names()[session.labels[25]] == "east"
    assert len(session.run.history_) == 2
    # Two clusters of one name are one.
    session.name(session.labels[25], "left")
    assert session.labels[0] == session.labels[25]
    session.undo()
    assert session.labels[0] != session.labels[25]
    assert a != b


def test_a_contradiction_is_told_with_its_chain(open_session):
    session = open_session(None).link(0, 1, True).link(1, 2, True).link(5, 6, True)
    with pytest.raises(ContradictionError) as caught:
        session.link(2, 0, False)
    links = caught.value.contradiction["links"]
    assert [(link["same"], link["positions"], link["is_new"]) for link in links] == [
        (False, [], True),
        (True, [0], False),
        (True, [1], False),
    ] or [(link["same"], link["positions"]) for link in links[1:]] == [(True, [1]), (True, [0])]
    assert len(session.run.history_) == 3
    assert "chain of 2 answers puts them together" in str(caught.value)
    # The way out: take one of them back.
    session.link(2, 0, False, forget=[0])
    assert [(a.i, a.j) for a in session.run.history_] == [(1, 2), (5, 6), (2, 0)]


def test_the_same_pair_both_ways_is_a_contradiction(open_session):
    session = open_session(None).link(0, 1, True)
    with pytest.raises(ContradictionError, match=r"point 0 and point 1 .* another answer puts them together"):
        session.link(0, 1, False)
    session.link(0, 1, False, confidence=0.8)
    assert len(session.run.history_) == 2


def test_names_can_contradict(open_session):
    session = open_session(None)
    session.name(session.labels[0], "left")
    session.name(session.labels[25], "right")
    i, j = (record.i for record in session.run.history_)
    with pytest.raises(ContradictionError) as caught:
        session.link(i, j, True)
    assert caught.value.contradiction["links"][0]["positions"] == [0, 1]


def test_points_of_one_grain_cannot_be_apart():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(0, 1, (1_500, 2)), rng.normal(9, 1, (1_000, 2))])
    items = Items([str(row) for row in range(2_500)], {"x": X[:, 0], "y": X[:, 1]})
    session = Session(X, items, setup=Setup(axes=("x", "y")))
    grain = session.run.precomputed_.micro_clusters.index_of
    i, j = np.flatnonzero(grain == np.bincount(grain).argmax())[:2]
    with pytest.raises(ContradictionError, match="so near each other that they are asked about as one"):
        session.link(int(i), int(j), False)


def test_an_answer_can_be_changed_in_the_list(open_session):
    session = open_session(None).link(0, 1, True).link(0, 25, False)
    session.change(0, None)
    assert [(fact["i"], fact["same"]) for fact in session.facts()] == [(0, False), (0, None)]
    with pytest.raises(ValueError, match="nothing in place 7"):
        session.forget([7])


def test_a_wrong_answer_is_a_suspect(open_session):
    session = open_session(None)
    known = [(start + k, start + k + 8) for start in (0, 20, 40) for k in range(10)]
    session.take(Constraints.from_pairs(60, known, [(k, k + 20) for k in range(10)]))
    session.link(19, 16, False)
    *others, wrong = session.facts()
    assert wrong["suspect"] > 0.5
    assert "the graph alone puts the two points into one cluster" in wrong["reason"]
    assert max(fact["suspect"] for fact in others) < 0.5


def test_an_uncertain_answer_that_is_not_kept_is_a_violated_line(open_session):
    session = open_session(None).link(0, 1, True).link(0, 1, False, confidence=0.8)
    assert [(line["same"], line["violated"]) for line in session.lines()] == [(True, False), (False, True)]
    assert [fact["violated"] for fact in session.facts()] == [False, True]


def test_reasons_call_points_by_name(open_session):
    handler = SessionHandler(open_session(None))
    assert handler._with_names("point 3: it is torn") == "point 3: it is torn"
    handler.session.items = Items([f"p{row}" for row in range(60)])
    assert handler._with_names("point 3: it is torn") == "p3: it is torn"


def test_numbers_stay_with_clusters(open_session, data):
    session = open_session(None)
    for _ in range(8):
        before = session.labels
        question = session.question()
        session.answer(bool(data[1][question.i] == data[1][question.j]))
        assert set(session.changed) == set(np.flatnonzero(before != session.labels))
        assert np.mean(before == session.labels) >= 0.5
        assert len(np.unique(session.numbers)) == session.run.n_clusters_


def test_a_cluster_that_splits_and_grows_together_keeps_its_number():
    """In the trial the largest cluster, number 0, ended as number 12: its smaller part grew, step by step."""
    first = np.repeat([0, 1], [250, 50])
    shown = first.copy()
    # A small part leaves, grows, and takes the rest of the cluster it came from.
    for n_moved in (30, 140, 165, 250):
        labels = np.where(np.arange(300) < n_moved, 2, first)
        labels = np.unique(labels, return_inverse=True)[1]
        numbers = carry_numbers(shown, first, labels)
        shown = numbers[labels]
    np.testing.assert_array_equal(shown, first)


def test_merge_and_borders(open_session):
    session = open_session(None)
    border = session.borders()[0]
    assert session.labels[border.i] == border.cluster
    assert session.labels[border.j] == border.other
    assert 0 < border.closeness <= 1
    weights = session._graph().matrix
    assert weights[[border.i]][:, [border.j]].sum() > 0
    inside = np.isin(session.labels, [border.cluster, border.other])
    session.merge([border.cluster, border.other])
    assert len(set(session.labels[inside])) == 1
    assert session.labels[inside][0] in (border.cluster, border.other)
    assert session.n_actions == 1
    with pytest.raises(ValueError, match=r"There is no cluster 99; there are 0"):
        session.merge([0, 99])
    with pytest.raises(ValueError, match=r"numbers of at least two clusters"):
        session.merge([0, 0])


def test_actions_are_counted_not_links(open_session):
    session = open_session(None).join([0, 1, 2, 3]).link(0, 25, False).join([25, 26, 27])
    assert len(session.run.history_) > 4
    assert session.n_actions == 3
    session.name(int(session.labels[0]), "left")
    assert session.n_actions == 4
    session.take(Constraints.from_labels([None] * 40 + [1, 1, 1] + [None] * 17))
    assert session.n_actions == 5
    session.undo().undo()
    assert session.n_actions == 3


def test_exports(open_session, data, tmp_path):
    session = open_session()
    answer_truly(session, data[1], 6)
    session.name(session.labels[0], "=left")
    rows = list(csv.DictReader(io.StringIO(text_of(export_file(session, "labels")))))
    assert list(rows[0]) == ["index", "label", "class", "confidence"]
    assert [int(row["label"]) for row in rows] == session.labels.tolist()
    assert rows[0]["class"] == "'=left"
    assert text_of(export_file(session, "constraints")).startswith("# sidecut constraints n_samples=60")
    archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(export_file(session, "model")["data"])))
    archive.extractall(tmp_path / "unpacked")
    run = ActiveClustering.load(tmp_path / "unpacked" / "run")
    np.testing.assert_array_equal(run.labels_, session.run.labels_)
    beside = (tmp_path / "unpacked" / "labels.csv").read_text(encoding="utf-8")
    assert list(csv.DictReader(io.StringIO(beside))) == rows
    session.link(0, 1, True)
    assert len(run.history_) + 1 == len(session.run.history_)
    with pytest.raises(ValueError, match="no export 'all'"):
        export_file(session, "all")


def test_the_report_escapes_names(open_session):
    session = open_session(None)
    session.name(0, "<script>alert(1)</script>")
    report = text_of(export_file(session, "report"))
    assert "<script>" not in report
    assert "&lt;script&gt;alert(1)" in report
    assert report.count("<circle") == 60


def test_constraints_of_a_session_can_be_taken_by_another(open_session, data):
    session = open_session(None)
    answer_truly(session, data[1], 8)
    exported = text_of(export_file(session, "constraints"))
    other = open_session(None)
    reply = SessionHandler(other).handle({"do": "import", "step": 0, "text": exported})
    assert reply["reply"]["n_answers"] > 0
    told, taken = session.run.constraints_, other.run.constraints_
    np.testing.assert_array_equal(taken.must_link_components(), told.must_link_components())
    for i, j in told.cannot_link:
        assert other.run.labels_[i] != other.run.labels_[j]
    by_name = SessionHandler(other).handle(
        {"do": "import", "step": 1, "text": "i,j,kind\npoint 0,point 1,must-link\n"}
    )
    assert by_name["reply"]["n_answers"] == 2
    wrong = SessionHandler(other).handle({"do": "import", "step": 2, "text": "i,j,kind\n0,1,maybe\n"})
    assert "maybe" in wrong["error"]["words"]
    assert "tmp" not in wrong["error"]["words"]


def test_constraints_of_other_data_are_refused(open_session):
    with pytest.raises(ValueError, match="60"):
        open_session(None).take(Constraints.from_pairs(5, [(0, 1)]))


def test_an_answer_to_a_page_that_is_behind_is_refused(open_session):
    handler = SessionHandler(open_session(None))
    assert handler.handle({"do": "answer", "step": 0, "said": True})["reply"]["step"] == 1
    late = handler.handle({"do": "answer", "step": 0, "said": False})["error"]
    assert late["is_stale"]
    assert len(handler.session.run.history_) == 1


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ([], "object with the verb"),
        ({"do": "explode"}, "There is no 'explode'"),
        ({"do": "answer"}, "lacks something"),
        ({"do": "answer", "step": 0, "said": "yes"}, "must be True"),
        ({"do": "answer", "step": 0, "said": True, "confidence": 2}, "from 0.5"),
        ({"do": "join", "step": 0, "points": [0, 60]}, "from 0 to 59"),
        ({"do": "join", "step": 0, "points": "all"}, "list of row numbers"),
        ({"do": "cards", "points": [-1]}, "from 0 to 59"),
        ({"do": "name", "step": 0, "cluster": 99, "name": "x"}, "no cluster 99"),
        ({"do": "column", "name": "z"}, "There is no column 'z'; there are x, y, note, class"),
        ({"do": "undo", "step": 0}, "no answer to take back"),
    ],
)
def test_requests_that_make_no_sense_are_refused_in_words(open_session, request_, words):
    reply = SessionHandler(open_session(None)).handle(request_)
    assert words in reply["error"]["words"]


def test_nobody_waits_for_a_second_opinion(open_session, monkeypatch):
    handler, go_on, replies = SessionHandler(open_session(None)), threading.Event(), []
    monkeypatch.setattr(
        "sidecut.studio.requests.second_opinion", lambda *given: go_on.wait(30) and "an opinion"
    )
    asker = threading.Thread(target=lambda: replies.append(handler.handle({"do": "opinion"})))
    asker.start()
    assert handler.handle({"do": "answer", "step": 0, "said": True})["reply"]["step"] == 1
    assert not replies
    go_on.set()
    asker.join()
    assert replies == [{"reply": "an opinion"}]


def test_all_replies_are_json(open_session):
    handler = SessionHandler(open_session(None))
    for request in ("open", "state", "clusters", "facts", "opinion"):
        reply = handler.handle({"do": request})
        assert "reply" in json.loads(json.dumps(reply)), reply
    columns = [handler.handle({"do": "column", "name": name})["reply"] for name in ("x", "note", "class")]
    assert [column["is_number"] for column in columns] == [True, False, False]


def test_a_graph_can_be_opened(data):
    graph = Neighbors(5).build(data[0]).matrix
    names = [f"node {row}" for row in range(60)]
    session = Session(graph, Items(names, graph=graph.tocsr()), setup=Setup(is_graph=True))
    pair = session.items.pair(0, 1)
    assert pair["left"]["neighbours"][0]["words"].startswith("node ")
    shared = {w["words"] for w in pair["left"]["neighbours"] if not w["differs"]}
    assert shared == {w["words"] for w in pair["right"]["neighbours"] if not w["differs"]}
    session.answer(True)


def three_clusters(open_session, data):
    """A session that has found the three groups, and the rows of each."""
    session, y = open_session(), data[1]
    for _ in range(12):
        question = session.question()
        session.answer(bool(y[question.i] == y[question.j]))
    assert session.run.n_clusters_ == 3
    return session, [np.flatnonzero(session.labels == number) for number in sorted(session.numbers)]


def unmentioned(session, rows, count):
    """Points that no answer is about."""
    said = {row for record in session.run.history_ for row in (record.i, record.j)}
    return [int(row) for row in rows if row not in said][:count]


def test_points_move_to_another_cluster_and_the_rest_stays(open_session, data):
    session, (first, second, _) = three_clusters(open_session, data)
    to = int(session.labels[second[0]])
    moved = unmentioned(session, first, 2)
    n_before = session.n_actions
    session.move(moved, to)
    assert set(session.labels[moved]) == {to}
    assert set(session.labels[second]) == {to}
    assert np.mean(session.labels[np.setdiff1d(first, moved)] != to) > 0.9
    assert session.n_actions == n_before + 1
    session.undo()
    assert set(session.labels[first]) != {to}


def test_all_points_of_a_cluster_that_move_make_the_two_one(open_session, data):
    session, (first, second, _) = three_clusters(open_session, data)
    to = int(session.labels[second[0]])
    session.move(first.tolist(), to)
    assert len(set(session.labels[np.concatenate([first, second])])) == 1
    assert session.run.n_clusters_ == 2


def test_points_that_are_detached_are_a_cluster_with_a_new_number(open_session, data):
    session, (first, second, third) = three_clusters(open_session, data)
    own = unmentioned(session, first, 3)
    before = set(session.numbers.tolist())
    session.detach(own)
    number = set(session.labels[own]).pop()
    assert number not in before
    assert number not in set(session.labels[np.concatenate([second, third])])
    with pytest.raises(ValueError, match="a cluster of their own already"):
        session.detach(np.flatnonzero(session.labels == number).tolist())


def test_a_move_against_an_earlier_answer_is_told_with_the_chain(open_session, data):
    session, (first, second, _) = three_clusters(open_session, data)
    to = int(session.labels[second[0]])
    [point] = unmentioned(session, first, 1)
    session.link(point, int(session.members(to, 1).typical[0]), False)
    with pytest.raises(ContradictionError) as told:
        session.move([point], to)
    assert [link["same"] for link in told.value.contradiction["links"]].count(False) == 1
    session.move([point], to, forget=[len(session.run.history_) - 1])
    assert session.labels[point] == to
