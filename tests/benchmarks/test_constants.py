"""The table of constants that decide labels is that of the code."""

from benchmarks.choices import constants


def test_the_constants_of_the_table_have_the_values_of_the_code():
    assert constants.faults() == []


def test_a_constant_that_is_gone_or_changed_is_found(tmp_path, monkeypatch):
    lines = ["module,name,value,what,set_on,twice", "methods.guard,GONE,1,,,", "checks,__name__,other,,,"]
    path = tmp_path / "constants.csv"
    path.write_text("\n".join(lines))
    monkeypatch.setattr(constants, "TABLE", path)
    assert constants.faults() == [
        "methods.guard.GONE is gone",
        "checks.__name__ is sidecut.checks, and other was recorded",
    ]


def test_every_line_says_what_it_is_and_what_it_was_set_on():
    rows = constants.read()
    assert (rows[["what", "set_on", "twice"]] != "").all(axis=None)
    assert not rows[["module", "name"]].duplicated().any()


def test_constants_that_are_doubled_are_in_the_table():
    rows = constants.read()
    assert set(constants.doubled.CONSTANTS) <= set(rows["module"] + "." + rows["name"])
