"""The JSON interface, as a program or a language model uses it: the client of the page of the studio."""

import json
import re
from pathlib import Path

import numpy as np

from sidecut.studio.requests import SessionHandler

PAGE = Path(__file__).parents[2] / "docs" / "studio.md"


def client():
    """The code of the page, to be run as it stands there."""
    return re.search(r"<!-- client -->\n\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


def test_the_client_of_the_page_clusters_by_its_answers(served, data):
    session, address = served
    y = data[1]
    space = {}
    exec(client(), space)  # The page is ours.
    assert len(client().strip().splitlines()) <= 25

    def same(left, right):
        return y[int(left["name"].split()[1])] == y[int(right["name"].split()[1])]

    found = space["cluster_by_asking"](address, same, 12)
    assert found["n_answers"] == session.n_actions == len(session.run.history_)
    by_number = {cluster["cluster"]: cluster["size"] for cluster in found["clusters"]}
    numbers, sizes = np.unique(session.labels, return_counts=True)
    assert by_number == dict(zip(numbers.tolist(), sizes.tolist(), strict=True))
    assert len(numbers) == 3
    assert all(len(set(session.labels[y == label])) == 1 for label in range(3))


def test_clusters_members_borders_and_merge(open_session):
    session = open_session(None, axes=("x", "y"))
    handler = SessionHandler(session)

    def ask(do, **values):
        return json.loads(json.dumps(handler.handle({"do": do, **values})))["reply"]

    border = ask("borders")[0]
    assert border["names"] == [f"cluster {border['cluster']}", f"cluster {border['other']}"]
    assert session.labels[border["pair"]["left"]["point"]] == border["cluster"]
    assert session.labels[border["pair"]["right"]["point"]] == border["other"]
    members = ask("members", cluster=border["cluster"], n=3)
    assert [session.labels[one["point"]] for one in members] == [border["cluster"]] * 3
    size = sum(one["size"] for one in ask("clusters") if one["name"] in border["names"])
    brief = ask("merge", step=0, clusters=[border["cluster"], border["other"]], brief=True)
    assert size in [one["size"] for one in brief["clusters"]]
    assert brief["step"] == 1
    assert [set(point) for point in brief["question"]["points"]] == [{"name", "x", "y", "note"}] * 2
