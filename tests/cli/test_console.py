import io
import warnings

import pytest

from sidecut.cli.console import Stages, collected_warnings


def test_stages_are_told_with_their_time():
    stream = io.StringIO()
    stages = Stages(True, stream)
    with stages.stage("first"):
        pass
    with pytest.raises(ZeroDivisionError), stages.stage("second"):
        1 / 0
    assert stream.getvalue().startswith("  first ... 0.0")
    assert stream.getvalue().endswith("  second ... failed\n")
    assert list(stages.seconds) == ["first"]


def test_the_quiet_are_told_nothing_but_time_is_taken():
    stream = io.StringIO()
    stages = Stages(False, stream)
    with stages.stage("first"):
        pass
    assert stream.getvalue() == ""
    assert stages.total == stages.seconds["first"] > 0


def test_warnings_for_authors_of_libraries_are_not_passed_on():
    with collected_warnings() as messages:
        warnings.warn("old name", DeprecationWarning, stacklevel=1)
        warnings.warn("thin\n   ice", UserWarning, stacklevel=1)
    assert messages == ["thin ice"]


def test_on_a_terminal_a_clock_runs_and_is_then_replaced_by_the_time_taken(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    stages = Stages(True, stream)
    with stages.stage("counting", "sheep"):
        pass
    assert "counting sheep" in stream.getvalue().split("  counting sheep ... ")[0]
    assert stream.getvalue().endswith(f"  counting sheep ... {stages.seconds['counting']:.2f} s\n")
