"""What a person corrects is applied, kept, taken back, and never contradicts itself unsaid."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import Constraints, NormalizedCut, PoissonMBO
from sidecut.exceptions import ConflictError, ConstraintError
from sidecut.lasting import Corrections

LABELS = np.repeat([0, 1, 2], 20)


def blobs(seed=0, n=20):
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    X, y = make_blobs([n, n, n], centers=centres, random_state=seed)
    return X, y


@pytest.fixture
def model():
    return NormalizedCut(3, n_neighbors=8, random_state=0).fit(blobs()[0])


def test_merge_move_and_detach_change_the_labels_and_are_knowledge():
    fixes = Corrections(LABELS).merge(0, 1).move([45, 46], to=0).detach([50])
    assert fixes.labels[:40].tolist() == [0] * 40
    assert fixes.labels[[45, 46, 50, 51]].tolist() == [0, 0, 3, 2]
    known = fixes.constraints
    assert known.n_conflicts == 0
    assert known.satisfaction(fixes.labels) == 1.0
    assert known.satisfaction(LABELS) < 1.0
    component = known.must_link_components()
    assert component[0] == component[20] == component[45] != component[50]
    assert known.closed().entries(np.array([50, 45, 45]), np.array([47, 47, 0])).tolist() == [-1, -1, 1]


def test_corrections_are_taken_back_one_by_one():
    fixes = Corrections(LABELS).merge(0, 1).move([45], to=0).name(2, "Ann")
    assert fixes.undo(0).labels.tolist() == [*LABELS[:45], 0, *LABELS[46:]]
    assert fixes.undo().names == {}
    assert fixes.undo(1).undo(0).undo().constraints.is_empty
    assert len(fixes) == 3
    with pytest.raises(IndexError, match="there are 3 corrections"):
        fixes.undo(3)


def test_what_contradicts_an_earlier_correction_is_said_with_the_chain():
    fixes = Corrections(LABELS).move([45], to=0)
    with pytest.raises(ConflictError) as refused:
        fixes.merge(0, 2)
    words = str(refused.value)
    assert "clusters 0 and 2 are one: this contradicts correction 0 (moved 1 point to cluster 0)" in words
    assert "contradicts the must-links" in words
    assert refused.value.conflicts


def test_a_cluster_is_split_by_a_cut_or_by_points_of_its_parts(model):
    _, y = blobs()
    merged = model.corrections().merge(0, 1)
    model.apply(merged)
    assert len(np.unique(model.labels_)) == 2
    for into in (2, [[int(np.flatnonzero(y == y[0])[1])], [int(np.flatnonzero(y != y[0])[0])]]):
        big = int(np.bincount(model.labels_).argmax())
        inside = np.flatnonzero(model.labels_ == big)
        if into != 2:
            into = [[int(inside[y[inside] == c][0])] for c in np.unique(y[inside])]
        fixes = model.corrections().split(big, into=into)
        parts = [set(fixes.labels[inside[y[inside] == c]]) for c in np.unique(y[inside])]
        assert all(len(part) == 1 for part in parts)
        assert parts[0] != parts[1]
        assert fixes.constraints.satisfaction(fixes.labels) == 1.0


def test_a_model_takes_corrections_and_an_update_keeps_them(model):
    X, y = blobs()
    a, b = (int(model.labels_[y == k][0]) for k in range(2))
    some = np.flatnonzero(y == 2)[:3]
    model.apply(model.corrections().move(some, to=a).name(b, "Bob"))
    assert set(model.labels_[some]) == {a}
    assert model.cluster_classes_ == {b: "Bob"}
    assert model.changes_.n_points("moved") == 3
    assert (model.confidence_[some] == 1).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new, y_new = blobs(seed=1, n=4)
    model.update(new)
    assert set(model.labels_[some]) == {a}
    assert model.cluster_classes_ == {b: "Bob"}
    assert (model.labels_[60:][y_new == 1] == b).all()


def test_the_next_fit_and_another_method_use_them(model):
    X, _ = blobs()
    fixes = model.corrections().merge(0, 1)
    again = PoissonMBO(2, n_neighbors=25, random_state=0, safe=False).fit(X, constraints=fixes.constraints)
    assert fixes.constraints.satisfaction(again.labels_) == 1.0


def test_corrections_are_saved_and_read(tmp_path):
    fixes = Corrections(LABELS).merge(0, 1).move([45], to=0).name(2, "Ann")
    fixes.save(tmp_path / "fixes.json")
    read = Corrections.load(tmp_path / "fixes.json")
    np.testing.assert_array_equal(read.labels, fixes.labels)
    assert (read.names, read.constraints, str(read)) == (fixes.names, fixes.constraints, str(fixes))
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ConstraintError, match="holds no corrections"):
        Corrections.load(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda fixes: fixes.merge(0, 9), "there is no cluster 9: the clusters are 0, 1, 2"),
        (lambda fixes: fixes.merge(1, 1), "are one cluster already"),
        (lambda fixes: fixes.move([99], to=0), "give row numbers from 0 to 59"),
        (lambda fixes: fixes.detach([0, 30]), "detach those of one at a time"),
        (lambda fixes: fixes.detach(range(20)), "nothing would be left"),
        (lambda fixes: fixes.split(0), "split needs a graph"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, words):
    with pytest.raises(ConstraintError, match=words):
        wrong(Corrections(LABELS))


def test_corrections_of_other_clusters_are_refused(model):
    with pytest.raises(ConstraintError, match=r"begin with model\.corrections"):
        model.apply(Corrections(np.zeros(60, dtype=int)))


def test_constraints_of_corrections_extend_to_points_that_come(model):
    fixes = model.corrections().detach([3])
    assert isinstance(fixes.constraints.extended(70), Constraints)
    model.apply(fixes)
    assert model.labels_[3] == 3
    model.update(blobs(seed=2, n=3)[0])
    assert (model.labels_ == 3).sum() == 1
