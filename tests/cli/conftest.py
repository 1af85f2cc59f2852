import csv

import numpy as np
import pytest

from sidecut.cli import main


class Shell:
    """Runs command lines in a directory of their own, as a user would."""

    def __init__(self, directory, capsys):
        self.directory = directory
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words):
        try:
            code = main([str(word) for word in words])
        except SystemExit as exit_:
            code = exit_.code
        self.out, self.err = self._capsys.readouterr()
        return code

    def write(self, name, text):
        (self.directory / name).write_text(text, encoding="utf-8")
        return name

    def table(self, name):
        with (self.directory / name).open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    def labels(self, name="labels.csv"):
        return [int(row[1]) for row in self.table(name)[1:]]


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


@pytest.fixture
def two_clouds():
    """Two clouds of ten points each, far apart, in no order: no method can miss them."""
    rng = np.random.default_rng(0)
    classes = rng.permutation(np.repeat([0, 1], 10))
    return rng.normal(size=(20, 2)) + 20 * classes[:, None], classes


@pytest.fixture
def clouds_csv(shell, two_clouds):
    X, classes = two_clouds
    rows = [
        f"{x!r},{y!r},{'ab'[c]},p{i},{'ab'[c] if i < 4 else ''}"
        for i, ((x, y), c) in enumerate(zip(X.tolist(), classes, strict=True))
    ]
    return shell.write("clouds.csv", "\n".join(["x,y,class,name,seen", *rows]) + "\n")
