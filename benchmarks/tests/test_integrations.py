"""The page of integrations shows what is stored."""

import json
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
STORED = json.loads((ROOT / "benchmarks" / "results" / "quality" / "integrations.json").read_text())
PAGE = (ROOT / "docs" / "lab" / "integrations.md").read_text(encoding="utf-8").replace("**", "")

CELLS = {
    "Leiden, resolution 1": "Leiden, resolution 1",
    "Leiden, best resolution by the truth": "Leiden, the best of four resolutions by the truth",
    "label spreading, alpha 0.2": "label spreading, α = 0.2 (scikit-learn's default)",
    "label spreading, alpha 0.8": "label spreading, α = 0.8",
    "sidecut": "sidecut",
}
REAL_CELLS = {
    "Leiden, resolution 1": "Leiden, resolution 1",
    "Leiden, best resolution by the truth": "Leiden, the best of four resolutions by the truth",
    "logistic regression": "logistic regression on the components",
    "label spreading, alpha 0.2": "label spreading, α = 0.2 (scikit-learn's default)",
    "label spreading, alpha 0.8": "label spreading, α = 0.8",
    "label spreading, best alpha by the truth": "label spreading, the best of five α by the truth",
    "sidecut": "sidecut",
    "sidecut, number of types given": "sidecut, with the number of types",
    "PoissonMBO on the graph": "sidecut, `PoissonMBO` on the graph",
    "PoissonMBO on components and graph": "sidecut, `PoissonMBO` on components and graph",
}
TOPICS = {
    "BERTopic's default: UMAP, HDBSCAN": "BERTopic's default, UMAP and HDBSCAN",
    "BERTopic's with known topics: UMAP told, HDBSCAN": "the same, known topics handed to UMAP",
    "sidecut after UMAP": "sidecut after UMAP",
    "sidecut after UMAP told": "sidecut after UMAP with known topics",
    "sidecut without UMAP": "sidecut on the embeddings as they are",
}


def mean(rows, name):
    """Return the mean of a column as the page writes it."""
    return f"{np.mean([row[name] for row in rows]) + 1e-9:.2f}".lstrip("0")


@pytest.mark.parametrize("method", CELLS)
def test_cells(method):
    cells = []
    for clear in (1.6, 1.3, 1.0):
        rows = [row for row in STORED["cells"]["rows"] if (row["method"], row["clear"]) == (method, clear)]
        cells.append(f"{mean(rows, 'ARI')} / {mean(rows, 'accuracy')}")
    assert f"| {CELLS[method]} | {' | '.join(cells)} |" in PAGE


@pytest.mark.parametrize("method", REAL_CELLS)
def test_real_cells(method):
    cells = []
    for share in (0.02, 0.05, 0.1, 0.2):
        rows = [
            row for row in STORED["real_cells"]["rows"] if (row["method"], row["share"]) == (method, share)
        ]
        assert len(rows) == 10
        cells.append(f"{mean(rows, 'accuracy')} / {mean(rows, 'balanced accuracy')}")
    assert f"| {REAL_CELLS[method]} | {' | '.join(cells)} |" in PAGE


@pytest.mark.parametrize("method", TOPICS)
def test_topics(method):
    cells = []
    for name in ("comp2", "different3", "politics3"):
        rows = [row for row in STORED["topics"]["rows"] if (row["method"], row["set"]) == (method, name)]
        topics = round(np.mean([row["topics"] for row in rows]))
        cells.append(f"{mean(rows, 'ARI')} ({topics})")
    assert f"| {TOPICS[method]} | {' | '.join(cells)} |" in PAGE


def test_the_number_of_draws():
    draws = {name: len({row["draw"] for row in STORED[name]["rows"]}) for name in ("cells", "topics")}
    numbers = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    cells, topics = numbers[draws["cells"]], numbers[draws["topics"]]
    assert (
        f"There are {cells} draws of cells, {topics} of topics, two of records and one of speakers"
        in " ".join(PAGE.split())
    )
