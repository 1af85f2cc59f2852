import subprocess
import sys

import pytest

import sidecut


def modules_after(statement):
    code = f"{statement}; import sys; print(*sys.modules)"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_to_import_sidecut_imports_nothing_else():
    assert {name for name in modules_after("import sidecut") if name.startswith("sidecut")} == {"sidecut"}


def test_an_estimator_needs_no_optional_or_slow_package():
    slow = {"pyamg", "clarabel", "networkx", "matplotlib", "numba", "dask", "PIL", "typer"}
    assert not slow & modules_after("from sidecut import CSP")


def test_a_method_is_loaded_without_the_others():
    loaded = modules_after("from sidecut import CSP")
    assert "sidecut.methods.csp.estimator" in loaded
    others = {"ccsr", "csap", "e2cp", "ncsc", "poisson", "scacs", "sskk", "baselines"}
    assert not {f"sidecut.methods.{name}" for name in others} & loaded


@pytest.mark.parametrize("name", sidecut.methods.__all__)
def test_every_method_is_there_when_asked_for(name):
    found = getattr(sidecut.methods, name)
    assert found.__module__.startswith("sidecut.methods.")
    assert name in dir(sidecut.methods)


@pytest.mark.parametrize("name", sidecut.__all__)
def test_every_name_is_there_when_asked_for(name):
    assert getattr(sidecut, name) is not None
    assert name in dir(sidecut)


def test_rooms_are_attributes():
    assert sidecut.evaluation.__name__ == "sidecut.evaluation"


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="module 'sidecut' has no attribute 'DBSCAN'"):
        sidecut.DBSCAN
    with pytest.raises(AttributeError, match=r"module 'sidecut.methods' has no attribute 'DBSCAN'"):
        sidecut.methods.DBSCAN
