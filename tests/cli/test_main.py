import json
import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import pytest

import sidecut.cli
from sidecut.cli import methods
from sidecut.cli.console import UsageError
from sidecut.cli.methods import METHODS, NEEDED_MOST, method_named
from sidecut.exceptions import ConflictError, SpectralError


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (SpectralError("no convergence"), 1, "the computation failed: no convergence"),
        (np.linalg.LinAlgError("singular"), 1, "the computation failed: singular"),
        (MemoryError(), 1, "the computation failed: MemoryError"),
        (KeyError("x"), 1, "KeyError: 'x' (this is unexpected; --debug shows where it happened)"),
        (ConflictError("0 - 1"), 2, "0 - 1"),
        (ValueError("two\n  lines"), 2, "two lines"),
        (PermissionError(13, "Permission denied", "l.csv"), 2, "l.csv: Permission denied"),
    ],
)
def test_errors_become_exit_codes_and_one_line(shell, monkeypatch, error, code, message):
    def fail(options):
        raise error

    monkeypatch.setattr(methods, "run", fail)
    assert shell("methods") == code
    assert shell.err == f"sidecut: error: {message}\n"
    assert shell("methods", "--debug") == code
    assert "Traceback" in shell.err


def test_version_and_help_name_the_exit_codes(shell):
    assert shell("--version") == 0
    assert shell.out == f"sidecut {sidecut.__version__}\n"
    for command in ((), ("cluster",), ("check",), ("evaluate",), ("demo",), ("methods",)):
        assert shell(*command, "--help") == 0
        assert "3 done, but hard constraints are violated" in " ".join(shell.out.split())


def test_switches_are_not_said_to_take_a_value(shell):
    assert shell("cluster", "--help") == 0
    switches = [line for line in shell.out.splitlines() if "--impute" in line or "--header" in line]
    assert len(switches) == 2
    assert not any("bool" in line.lower() for line in switches)
    for words in (("cluster", "--help"), ("--help",), ()):
        assert shell(*words) == 0
        assert "<bool>" not in shell.out.lower()
        assert "{" not in shell.out


def test_a_misspelt_method_is_asked_about(shell):
    shell.write("p.csv", "x\n1.5\n2\n")
    assert shell("cluster", "p.csv", "-k", 2, "-o", "l.csv", "--method", "e2pc") == 2
    assert "There is no method 'e2pc'; did you mean e2cp? There are auto, " in shell.err


def test_no_command_shows_the_help(shell):
    assert shell() == 0
    assert "Usage: sidecut" in shell.out
    assert "cluster" in shell.out


def test_methods_are_listed_for_people_and_programs(shell):
    assert shell("methods") == 0
    assert max(map(len, shell.out.splitlines())) <= 80
    first = [line.split()[0] for line in shell.out.splitlines() if line[:1].isalpha()]
    assert first[1:7] == list(NEEDED_MOST)
    assert set(METHODS) <= set(first)
    assert shell("methods", "--json") == 0
    assert list(json.loads(shell.out)) == list(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_listed_is_a_clusterer_that_takes_constraints(name):
    from inspect import signature

    estimator = method_named(name).load()
    assert "constraints" in signature(estimator.fit).parameters
    assert "n_clusters" in estimator().get_params()


def test_an_unknown_method_is_refused():
    with pytest.raises(UsageError, match="no method 'magic'"):
        method_named("magic")


def test_it_runs_as_a_program(shell, two_clouds):
    np.save("x.npy", two_clouds[0])
    command = [sys.executable, "-m", "sidecut", "cluster", "x.npy", "-k", "2", "--neighbors", "5"]
    command += ["--no-report", "-o"]
    done = subprocess.run([*command, "l.csv"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 clusters" in done.stdout
    failed = subprocess.run([*command, "l.gif"], capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stderr.startswith("sidecut: error: l.gif")


@pytest.mark.parametrize("package", ["pandas", "matplotlib"])
def test_a_missing_package_is_named_with_the_cure(shell, monkeypatch, package):
    shell.write("x.csv", "x\n1\n2\n")
    monkeypatch.setitem(sys.modules, package, None)
    assert shell("cluster", "x.csv", "-k", 2, "-o", "l.csv") == 2
    assert f"needs {package}, which is not installed: pip install {package}" in shell.err


def test_main_is_the_console_script():
    (script,) = entry_points(group="console_scripts", name="sidecut")
    assert script.load() is sidecut.cli.main


def test_without_its_packages_the_command_line_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; import sidecut.cli; sys.exit(sidecut.cli.main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("sidecut: error: the command line needs typer: pip install typer rich ")


def test_a_group_of_commands_alone_shows_its_help(capsys):
    assert sidecut.cli.main(["graph"]) == 0
    shown = capsys.readouterr()
    assert "Build a graph from points or edges." in shown.out
    assert "<bool>" not in shown.out
    assert shown.err == ""


def test_no_warning_shows_a_path_of_the_code():
    """Python printed the path of a file and a line of it before a warning that no command had collected."""
    code = (
        "import sys, warnings; from sidecut.cli import main; sys.argv = ['sidecut', 'methods']; main(); "
        "warnings.warn('A file is not UTF-8;\\n  name its encoding')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "sidecut: warning: A file is not UTF-8; name its encoding with --encoding\n"
