import re

import numpy as np
import pandas as pd


def test_the_demo_shows_before_and_after_and_its_own_commands_repeat_it(shell):
    assert shell("demo", "-o", "demo", "--quiet") == 0
    for name in ("moons", "digits"):
        for suffix in (".csv", "_known.csv", "_labels.csv", "_labels.html", ".png"):
            assert (shell.directory / "demo" / f"{name}{suffix}").exists()
    told = shell.out
    before, after = (
        [float(value) for value in re.findall(rf"^  {row} +(\S+) +(\S+)", told, re.M)[0]]
        for row in ("without constraints", r"(?!without)\w+")
    )
    # The moons are the first rows of the table; the gain must be visible beyond the points given away.
    assert after[1] > before[1] + 0.2

    command = re.findall(r"^\$ sidecut (.*)$", told, re.M)[0].split()
    labels = pd.read_csv("demo/moons_labels.csv")["label"]
    assert shell(*command) == 0
    np.testing.assert_array_equal(pd.read_csv("demo/moons_labels.csv")["label"], labels)
