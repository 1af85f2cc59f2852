import builtins

import pytest

from sidecut.plots.canvas import require_matplotlib


def test_missing_matplotlib_is_named_with_the_cure(monkeypatch):
    real_import = builtins.__import__

    def without_matplotlib(name, *rest, **options):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real_import(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        require_matplotlib()
