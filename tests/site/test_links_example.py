"""The example of links shows the numbers of CSAP's paper."""

import runpy
from pathlib import Path


def test_the_example_draws_the_figures(tmp_path, monkeypatch, capsys):
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    example = Path(__file__).parents[2] / "examples" / "knowledge" / "links.py"
    runpy.run_path(str(example), run_name="__main__")
    told = capsys.readouterr().out
    assert "after point 30" in told
    assert "after point 10" in told
    assert "algorithm A: affinity of points 5 and 35 is 0.310" in told
    assert "algorithm B: affinity of points 5 and 35 is 0.000" in told
    assert pyplot.get_fignums()
    pyplot.close("all")
