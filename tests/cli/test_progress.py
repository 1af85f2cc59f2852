import io
import warnings

import pytest

from sidecut.cli.progress import Progress, collected_warnings


def test_stages_are_told_with_their_time():
    stream = io.StringIO()
    progress = Progress(True, stream)
    with progress.stage("first"):
        pass
    with pytest.raises(ZeroDivisionError), progress.stage("second"):
        1 / 0
    assert stream.getvalue().startswith("  first ... 0.0")
    assert stream.getvalue().endswith("  second ... failed\n")
    assert list(progress.seconds) == ["first"]


def test_the_quiet_are_told_nothing_but_time_is_taken():
    stream = io.StringIO()
    progress = Progress(False, stream)
    with progress.stage("first"):
        pass
    assert stream.getvalue() == ""
    assert progress.total == progress.seconds["first"] > 0


def test_warnings_for_authors_of_libraries_are_not_passed_on():
    with collected_warnings() as messages:
        warnings.warn("old name", DeprecationWarning, stacklevel=1)
        warnings.warn("thin\n   ice", UserWarning, stacklevel=1)
    assert messages == ["thin ice"]


def test_on_a_terminal_the_seconds_are_counted_and_then_replaced_by_the_time_taken(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    progress = Progress(True, stream)
    monkeypatch.setattr(progress, "tick", 0.001)
    with progress.stage("counting", "sheep"):
        while "sheep ... 2 s" not in stream.getvalue():
            pass
    last = stream.getvalue().split("\r")[-1]
    assert last == f"  counting sheep ... {progress.seconds['counting']:.2f} s\n"
