import sys

import pytest

from sidecut.cli.bench_command import find_clone
from sidecut.cli.errors import UsageError


def make_suite(folder, source):
    suite = folder / "benchmarks" / "papers"
    suite.mkdir(parents=True)
    # Regular packages, lest the real benchmarks, which other tests put on the path, come first.
    for package in (suite, suite.parent):
        (package / "__init__.py").touch()
    (suite / "__main__.py").write_text(source)


def test_the_nearest_clone_above_is_found(tmp_path):
    make_suite(tmp_path, "")
    inner = tmp_path / "docs" / "results"
    inner.mkdir(parents=True)
    assert find_clone(inner, "papers") == tmp_path


def test_outside_a_clone_it_says_what_to_do(shell):
    assert shell("bench", "papers", "--quick") == 2
    assert "clone the repository and run this inside it" in shell.err


@pytest.fixture
def forgetful(monkeypatch):
    """Forget the real benchmarks for the while of a test, and the test's afterwards."""

    def loaded():
        return [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]

    for name in loaded():
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in loaded():
        del sys.modules[name]


@pytest.mark.usefixtures("forgetful")
def test_arguments_are_handed_on_and_the_exit_code_back(shell):
    make_suite(shell.directory, "def main(arguments):\n    print(arguments)\n    return 1\n")
    assert shell("bench", "papers", "--only", "csp", "--quick") == 1
    assert shell.out == "['--only', 'csp', '--quick']\n"


def test_no_clone_at_the_root(tmp_path):
    with pytest.raises(UsageError, match="There is no benchmarks/other"):
        find_clone(tmp_path, "other")
