"""Stages, bars and how they are asked for."""

import io

import pytest

from sidecut.running import Progress, advance, show_progress, stage, track


class Clock:
    """A clock that goes on by what it is told."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_stages_are_written_when_they_end_with_their_own_seconds():
    clock, stream = Clock(), io.StringIO()
    listener = Progress(2, stream, clock)
    with listener.stage("graph"):
        clock.now += 1
        with listener.stage("neighbours"):
            clock.now += 2
    assert stream.getvalue() == "    neighbours ... 2.00 s\n  graph ... 3.00 s\n"


def test_deeper_stages_are_left_out_at_level_one():
    clock, stream = Clock(), io.StringIO()
    listener = Progress(1, stream, clock)
    with listener.stage("graph"), listener.stage("neighbours"):
        clock.now += 2
    assert stream.getvalue() == "  graph ... 2.00 s\n"


def test_a_stage_that_takes_no_time_is_not_worth_a_line():
    stream = io.StringIO()
    with Progress(1, stream, Clock()).stage("graph"):
        pass
    assert stream.getvalue() == ""


def test_a_stage_that_fails_is_closed():
    clock, stream = Clock(), io.StringIO()
    listener = Progress(1, stream, clock)
    with pytest.raises(RuntimeError), listener.stage("graph"):
        raise RuntimeError
    with listener.stage("labels"):
        clock.now += 1
    assert stream.getvalue() == "  labels ... 1.00 s\n"


def test_a_terminal_has_a_bar_and_what_is_left():
    clock, stream = Clock(), Terminal()
    listener = Progress(1, stream, clock)
    with listener.stage("graph"):
        clock.now += 6
        listener.advance(1, 4)
    assert "graph [######..................] 25%, about 18 s left" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K  graph ... 6.00 s\n")


def test_a_file_has_a_line_every_ten_seconds_at_most():
    clock, stream = Clock(), io.StringIO()
    listener = Progress(1, stream, clock)
    with listener.stage("graph"):
        for done in range(1, 9):
            clock.now += 3
            listener.advance(done, 10)
    lines = stream.getvalue().splitlines()
    assert lines[:-1] == ["  graph: 40%, about 18 s left", "  graph: 80%, about 6.00 s left"]


def test_a_bar_within_hidden_stages_belongs_to_the_one_that_is_seen():
    clock, stream = Clock(), io.StringIO()
    listener = Progress(1, stream, clock)
    with listener.stage("graph"), listener.stage("neighbours"):
        clock.now += 20
        listener.advance(1, 2)
    assert stream.getvalue().splitlines()[0] == "  graph: 50%, about 20 s left"


def test_without_a_listener_nothing_is_written(capsys):
    with show_progress(0, "CSP:"), stage("graph"):
        advance(1, 2)
        assert list(track("ab", 2)) == ["a", "b"]
    assert capsys.readouterr() == ("", "")


def test_a_fit_within_a_fit_has_no_title(capsys):
    with show_progress(True, "AutoCut:"), show_progress(2, "CSP:"):
        pass
    assert capsys.readouterr().err == "AutoCut:\n"


@pytest.mark.parametrize("verbose", ["yes", -1, 0.5, None])
def test_what_verbose_cannot_be(verbose):
    with pytest.raises(ValueError, match="verbose="), show_progress(verbose, "CSP:"):
        pass
