"""Records compared by dedupe itself, which learns from a person's answers.

Not part of `make test`: `nox -s seats` installs dedupe and runs this.
"""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sidecut.integrations.records import cluster_records

FIRST = [
    "anna",
    "bernd",
    "clara",
    "david",
    "emil",
    "frida",
    "georg",
    "hanna",
    "ivan",
    "julia",
    "karl",
    "lena",
]
LAST = ["schmidt", "miller", "fischer", "weber", "meyer", "wagner", "becker", "koch", "richter", "klein"]
TOWN = ["ulm", "bonn", "kiel", "jena", "trier", "mainz", "essen", "halle"]


def people(rng, n_people=120):
    """Return one to three records of each person, with slips, and who each record is."""
    records, who = {}, []
    for person in range(n_people):
        name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
        town, year = str(rng.choice(TOWN)), str(rng.integers(1940, 2005))
        for copy in range(rng.integers(1, 4)):
            place, letter = rng.integers(len(name)), chr(97 + rng.integers(26))
            slip = name[:place] + letter + name[place + 1 :]
            records[len(who)] = {"name": slip if copy else name, "town": town, "year": year}
            who.append(person)
    return records, np.array(who)


@pytest.fixture(scope="module")
def compared():
    """Return who the records are, dedupe after training, and its own scores."""
    import dedupe

    rng = np.random.default_rng(0)
    records, who = people(rng)
    matcher = dedupe.Dedupe([dedupe.variables.String(name) for name in ("name", "town", "year")], num_cores=0)
    matcher.prepare_training(records)
    pairs = list(combinations(records, 2))
    rng.shuffle(pairs)
    same = [(records[a], records[b]) for a, b in pairs if who[a] == who[b]]
    other = [(records[a], records[b]) for a, b in pairs if who[a] != who[b]]
    matcher.mark_pairs({"match": same[:60], "distinct": other[:200]})
    matcher.train()
    return who, matcher, matcher.score(matcher.pairs(records))


def test_scores_of_dedupe_become_entities(compared):
    who, matcher, scores = compared
    found = cluster_records(scores, records=np.arange(len(who)))
    labels = found.set_index("unique_id").loc[np.arange(len(who)), "cluster_id"]
    theirs = np.arange(len(who)) + len(who)
    for number, (members, _) in enumerate(matcher.cluster(scores, 0.5)):
        theirs[list(members)] = number
    assert adjusted_rand_score(who, labels) >= max(adjusted_rand_score(who, theirs), 0.8)


def test_a_persons_no_holds(compared):
    _, _, scores = compared
    pair = tuple(int(row) for row in scores["pairs"][np.argmax(scores["score"])])
    found = cluster_records(scores, cannot_link=[pair]).set_index("unique_id")["cluster_id"]
    assert found[pair[0]] != found[pair[1]]
