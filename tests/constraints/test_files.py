import bz2
import gzip
import lzma
import re

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecut.constraints import Constraints, read_constraints, write_constraints
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning

quick = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANY = st.from_type(Constraints)


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "known.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return written


@quick
@given(ANY)
def test_what_is_written_is_read_back_exactly(tmp_path, c):
    path = tmp_path / "known.csv"
    write_constraints(path, c)
    assert read_constraints(path, on_conflict="weigh") == c
    if c.n_conflicts == 0:
        assert read_constraints(str(path), n_samples=c.n_samples) == c


def test_strengths_keep_every_digit(tmp_path):
    c = Constraints.from_pairs(3, [(0, 1)], [(1, 2)], 0.1 + 0.2, 1e-300)
    write_constraints(tmp_path / "c.csv", c)
    assert read_constraints(tmp_path / "c.csv") == c


PAIRS = Constraints.from_pairs(6, [(0, 1)], [(1, 4), (2, 5)])


@pytest.mark.parametrize(
    "text",
    [
        "i,j,strength\n0,1,1\n1,4,-1\n5,2,-1.0\n",
        "0,1,1\n1,4,-1\n2,5,-1\n",
        "0,1,1.0\n1,4,-1.0\n2,5,-1.0\n",
        "0,1,must-link\n1,4,cannot-link\n2,5,CL\n",
        "# by hand\n\ni,j,kind\n0,1,ML\n\n# more\n1,4,cannot\n2,5,-1\n",
        "I, J, Type\n0, 1, must_link\n1, 4, cannot_link\n2, 5, cl\n",
        "link,i,j\n+1,0,1\n-1,1,4\n-1,2,5\n",
        "index,j,kind,weight\n0,1,must,1\n1,4,cl,1.0\n2.0,5,cl,1\n",
        '\ufeffi,j,kind\n"0","1","ml"\n1,4,cl\n2,5,cl\n',
        "i,j,strength\r\n0,1,1\r\n1,4,-1\r\n2,5,-1\r\n",
        "i,j,strength\n0,1,1\ni,j,kind\n1,4,cl\n2,5,cl\n",
        "i,j,kind\n0,1,together\n1,4,apart\n2,5,Apart\n",
        "i,j,same\n0,1,yes\n1,4,no\n2,5,N\n",
        "left,right,Same\n0,1,1\n1,4,0\n2,5,False\n",
    ],
)
def test_the_forms_pairs_may_take(write, text):
    assert read_constraints(write(text)) == PAIRS


@pytest.mark.parametrize(
    "text",
    [
        "i,label\n0,cat\n1,cat\n3,dog\n",
        "index,label\n3,dog\n0,cat\n1,cat\n2,\n",
        'i,class\n0,"cat"\n1,cat\n2,\n3,dog\n0,cat\n',
        "label,point\ncat,0\ncat,1\ndog,3\n,2\n",
    ],
)
def test_the_forms_labels_may_take(write, text):
    assert read_constraints(write(text)) == Constraints.from_labels(["a", "a", None, "b"])


def test_weights_of_kinds(write):
    c = read_constraints(write("i,j,kind,weight\n0,1,ml,2.5\n1,2,cl,0.5\n"))
    assert c.strengths.tolist() == [2.5, -0.5]


def test_labels_and_links_written_by_hand_are_united(write):
    text = "i,label\n0,a\n1,a\n2,b\ni,j,kind\n0,1,ml\n2,3,ml\n"
    united = Constraints.from_labels([0, 0, 1, -1]) | Constraints.from_pairs(4, [(0, 1), (2, 3)])
    assert read_constraints(write(text)) == united
    assert read_constraints(write(text)).strengths.max() == 1.0


def test_the_number_of_samples_may_be_given(write):
    path = write("i,j,strength\n0,1,1\n")
    assert read_constraints(path).n_samples == 2
    assert read_constraints(path, n_samples=100).n_samples == 100


def test_a_file_about_other_samples_is_refused(tmp_path):
    write_constraints(tmp_path / "c.csv", Constraints.none(5))
    assert read_constraints(tmp_path / "c.csv") == Constraints.none(5)
    with pytest.raises(ConstraintError, match="is about 5 samples, not 6"):
        read_constraints(tmp_path / "c.csv", n_samples=6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i,j,strength\n0,1,1\n# note\n0,x,1\n", r"known\.csv, line 4: j 'x' is not a whole number"),
        ("i,j,strength\n0,1,1\n0,1.5,1\n", r"line 3: j '1\.5' is not a whole number"),
        ("i,j,strength\n0,1,much\n", r"line 2: strength 'much' is not a number"),
        ("i,j,strength\n0,1,1\n1,2,0\n", r"line 3: strength 0\.0 must be finite and not 0"),
        ("i,j,strength\n0,1,nan\n", r"line 2: strength nan"),
        ("i,j,strength\n0,1\n", r"line 2: '0,1' has 2 columns, not 3 \(i,j,strength\)"),
        ("i,j,strength\n3,3,1\n", r"line 2: \(3, 3\): a point cannot be linked with itself"),
        ("i,j,strength\n0,-4,1\n", r"line 2: \[0, -4\] is not within the samples"),
        ("i,j,strength\n0,30,1\n", r"line 2: \[0, 30\] is not within the samples 0 to 9"),
        ("i,j,kind\n0,1,maybe\n", r"line 2: kind 'maybe' is neither must-link nor cannot-link"),
        ("i,j,same\n0,1,yes\n0,2,perhaps\n", r"line 3: same 'perhaps' is neither yes nor no"),
        ("i,j,kind,weight\n0,1,ml,-2\n", r"line 2: weight -2\.0 must be positive"),
        ("i,label\n0,a\n1,b\n0,b\n", r"line 4: sample 0 has label 'b' here and another one above"),
        ("i,label\n0,a\nlabel_a,label_b\n0,a\n", r"line 4: label_a '0' is the label of no sample"),
        ("i,label\n12,a\n", r"line 2: \[12\] is not within"),
        ("i,j\n0,1\n", r"line 1: header 'i,j' is none of i,j,strength"),
        ("i,i,strength\n0,1,1\n", r"line 1: header 'i,i,strength'"),
        ("0,1\n1,2\n", r"line 1: '0,1' is neither a known header nor .* begin the file with"),
        ("from,to,how\n1,2,3\n", r"line 1: 'from,to,how' is neither a known header"),
        ("# sidecut constraints n_samples=many\ni,j,strength\n", r"n_samples=many"),
        ("# sidecut constraints n_samples=10 weight=-1\ni,label\n0,1\n", r"weight = '-1'"),
    ],
)
def test_errors_name_the_file_and_the_line(write, text, message):
    with pytest.raises(ConstraintError, match=message):
        read_constraints(write(text), n_samples=None if "n_samples=" in text else 10)


def test_an_empty_file_needs_the_number_of_samples(write):
    with pytest.raises(ConstraintError, match="names no samples: pass n_samples"):
        read_constraints(write("i,j,strength\n"))


@pytest.mark.parametrize("text", ["", "i,label\n", "# nothing yet\ni,j,kind\n"])
def test_a_file_without_constraints_is_warned_of(write, text):
    with pytest.warns(ConstraintWarning, match=r"known\.csv holds no constraints"):
        assert read_constraints(write(text), n_samples=3) == Constraints.none(3)


@pytest.mark.parametrize("text", ["i;j;strength\n0;1;0,5\n", "i\tj\tstrength\n0\t1\t0.5\n", "0;1;0,5\n"])
def test_semicolons_tabs_and_decimal_commas(write, text):
    assert read_constraints(write(text)) == Constraints.from_pairs(2, [(0, 1)], must_weight=0.5)


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_compressed_files(tmp_path, suffix, module):
    path = tmp_path / f"known.csv{suffix}"
    path.write_bytes(module.compress(b"i,label\n0,cat\n2,dog\n"))
    assert read_constraints(path) == Constraints.from_labels(["cat", None, "dog"])
    path.write_bytes(b"i,label\n")
    with pytest.raises(ConstraintError, match=rf"known\.csv\{suffix} is not a whole compressed file"):
        read_constraints(path)


def test_parquet_files(tmp_path):
    pandas.DataFrame({"i": [0, 1, 2], "label": ["cat", None, "dog"]}).to_parquet(tmp_path / "known.parquet")
    assert read_constraints(tmp_path / "known.parquet") == Constraints.from_labels(["cat", None, "dog"])


def test_samples_may_be_called_by_name(write):
    names = ("ann", "bob, jr", "7", "0")
    by_number = Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(1, 3)])
    assert (
        read_constraints(write('a,b,kind\nann,"bob, jr",must\n"bob, jr",0,cannot\n'), 4, names=names)
        == by_number
    )
    assert read_constraints(write('ann,"bob, jr",1\n"bob, jr",0,-1\n'), 4, names=names) == by_number
    with pytest.raises(ConstraintError, match=r"line 2: no sample is called 'zoe'; names look like 'ann'"):
        read_constraints(write("who,label\nzoe,x\n"), 4, names=names)


@pytest.mark.parametrize("marker", ["?", "unknown", "nan", "None", "-1", "NA"])
def test_labels_that_may_mean_unknown_are_asked_about(write, marker):
    path = write(f"i,label\n0,cat\n1,{marker}\n2,dog\n")
    with pytest.raises(ConstraintError, match=rf"label\[1\] = '{re.escape(marker)}'.*unknown=\(\)"):
        read_constraints(path)
    assert read_constraints(path, unknown=marker) == Constraints.from_labels(["cat", None, "dog"])
    assert read_constraints(path, unknown=()) == Constraints.from_labels([0, 1, 2])


def test_other_encodings(tmp_path):
    path = tmp_path / "known.csv"
    path.write_bytes("who,label\nZoë,x\nann,y\n".encode("latin-1"))
    assert read_constraints(path, 2, names=("Zoë", "ann"), encoding="latin-1").n_cannot_link == 1
    with pytest.warns(ConstraintWarning, match=r"known\.csv is not UTF-8 and was read as Windows text"):
        read_constraints(path, 2, names=("Zoë", "ann"))
    with pytest.raises(ConstraintError, match=r"known\.csv is not text in utf-8: name another encoding"):
        read_constraints(path, 2, names=("Zoë", "ann"), encoding="utf-8")


def test_contradictions_in_a_file_are_refused_or_kept_as_asked(write):
    path = write("0,1,ml\n1,2,ml\n0,2,cl\n")
    with pytest.raises(ConflictError, match=r"known\.csv: cannot_link \(0, 2\).*0 - 1 - 2") as caught:
        read_constraints(path)
    assert caught.value.conflicts[0].chain == (0, 1, 2)
    assert read_constraints(path, on_conflict="weigh").n_pairs == 3


def test_a_label_file_is_one_line_per_label(tmp_path):
    write_constraints(tmp_path / "c.csv", Constraints.from_labels([7] * 5000 + [8] * 5000))
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 10_002


@pytest.mark.parametrize(
    "names",
    [
        ("cat", "dog", "cow"),
        ("?", "unknown", "nan"),
        ("a, b", 'say "so"', "semi;colon"),
        ("ø", "日本", "a b"),
        (3, 7, 20),
        ("-1", "0", "1"),
        ("#hash", "x", " padded"),
        ("line\nbreak", "x", "y"),
    ],
)
def test_class_names_are_written_and_read_back(tmp_path, names):
    y = np.array([names[0], None, names[1], names[2], names[0], None], dtype=object)
    known = Constraints.from_labels(y, unknown=())
    write_constraints(tmp_path / "known.csv", known)
    again = read_constraints(tmp_path / "known.csv")
    assert again == known
    is_text_that_survives = not any(str(name) in ("-1", "#hash", "line\nbreak") for name in names)
    if is_text_that_survives:
        assert again.known_classes.tolist() == [None if name is None else str(name) for name in y]
        assert f"0,{names[0]}" in (tmp_path / "known.csv").read_text().replace('"', "")
    else:
        assert again.known_classes is None


def test_groups_that_are_no_classes_keep_their_numbers(tmp_path):
    """A must-link joins two labelled points of no class to one that has."""
    labels = Constraints.from_labels(["cat", None, "dog", None])
    known = (labels | Constraints.from_pairs(4, must_link=[(0, 1)])).closed()
    write_constraints(tmp_path / "known.csv", known)
    assert read_constraints(tmp_path / "known.csv") == known
