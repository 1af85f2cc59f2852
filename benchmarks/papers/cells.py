"""One cell of an experiment: one draw of side information, given to every method on the same graph."""

from __future__ import annotations

import time
import warnings
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import sidecut
from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.second_graph import rows_of_languages
from benchmarks.papers.side_information import draw as draw_constraints
from benchmarks.papers.side_information import held_out
from benchmarks.papers.synthetic import MADE
from sidecut import Constraints, NormalizedCut
from sidecut.datasets import Dataset, load
from sidecut.datasets.dataset import Scaling
from sidecut.evaluation import evaluate
from sidecut.exceptions import ProgrammeError, SpectralError
from sidecut.graphs import Graph, GraphRecipe

#: What a method may say instead of an answer; anything else is a fault of the harness and is not caught.
FAILURES = (ValueError, SpectralError, ProgrammeError, np.linalg.LinAlgError, MemoryError)
#: How many data sets and graphs a process remembers; graphs are keyed by their recipe's text.
REMEMBERED = 4


@lru_cache(REMEMBERED)
def points(name: str, sample: int, scaling: Scaling, folder: Path | None) -> Dataset:
    """Return the data, loaded or generated."""
    data = MADE[name.removeprefix("made:")](sample) if name.startswith("made:") else load(name, folder)
    return data.scaled(scaling)


_graphs: dict[tuple, Graph] = {}


def graph_of(recipe: GraphRecipe, data_key: tuple) -> Graph:
    """Return the graph of some points, the same object each time."""
    key = (repr(recipe), *data_key)
    if key not in _graphs:
        while len(_graphs) >= REMEMBERED:
            _graphs.pop(next(iter(_graphs)))
        _graphs[key] = recipe.build(points(*data_key).X)
    return _graphs[key]


_baselines: dict[tuple, np.ndarray] = {}


def unconstrained_labels(recipe: GraphRecipe, data_key: tuple) -> np.ndarray:
    """Return the normalised cut of the shared graph, whose mistakes "wrong pairs" are drawn from."""
    key = (repr(recipe), *data_key)
    if key not in _baselines:
        k = points(*data_key).n_classes
        labelling = "sign" if k == 2 else "kmeans"
        model = NormalizedCut(k, affinity="precomputed", labelling=labelling, random_state=0)
        _baselines[key] = model.fit(graph_of(recipe, data_key)).labels_
    return _baselines[key]


def run_cell(
    experiment: Experiment, size: Any, draw: int, contenders: list[Contender], folder: Path | None
) -> list[dict[str, Any]]:
    """Run methods on one draw and return a row for each method and setting."""
    data_key = (experiment.data, experiment.sample_of(draw), experiment.scaling, folder)
    data = points(*data_key)
    if experiment.kind == "second graph":
        return rows_of_languages(experiment, size, draw, contenders, data)
    amount = experiment.fixed if experiment.sweep else size
    with warnings.catch_warnings(action="ignore"):
        wrong_from = experiment.kind == "wrong pairs" and experiment.protocol.pairs == "paper"
        labels = unconstrained_labels(experiment.graph, data_key) if wrong_from else data.y
        known = draw_constraints(experiment, data.y, labels, amount, [draw, int(amount)])
        rows = []
        for contender in contenders:
            trial = Trial(experiment, contender, data, data_key, known, size, draw)
            rows += trial.rows()
    return rows


class Trial:
    """A contender in a cell."""

    def __init__(
        self,
        experiment: Experiment,
        contender: Contender,
        data: Dataset,
        data_key: tuple,
        known: Constraints,
        size: Any,
        draw: int,
    ) -> None:
        self.experiment, self.contender, self.data, self.data_key = experiment, contender, data, data_key
        self.known, self.size, self.draw = known, size, draw

    def rows(self) -> list[dict[str, Any]]:
        """Fit with every setting, or with the one that held-out constraints favour, and score."""
        choices = self.contender.choices
        if self.experiment.sweep:
            choices = [{**settings, self.experiment.sweep: self.size} for settings in choices]
        if len(choices) > 1 and self.experiment.protocol.choose == "held-out":
            choices = [self._favoured(choices)]
        return [self._row(settings) for settings in choices]

    def _favoured(self, choices: list[dict]) -> dict:
        learn, judge = held_out(self.known, [self.draw, 1])
        kept = []
        for settings in choices:
            try:
                kept.append(judge.satisfaction(self._fit(settings, learn)))
            except FAILURES:
                kept.append(-1.0)
        return choices[int(np.argmax(kept))]

    def _fit(self, settings: dict, known: Constraints) -> np.ndarray:
        method = getattr(sidecut, self.contender.method)
        has = signature(method).parameters
        X = self.data.X
        arguments = {"n_clusters": self.data.n_classes, "random_state": self.draw, **settings}
        if "affinity" in has:
            X = graph_of(self.contender.graph or self.experiment.graph, self.data_key)
            arguments["affinity"] = "precomputed"
        if "n_jobs" in has:
            arguments["n_jobs"] = 1
        model = method(**arguments)
        return model.fit(X, constraints=known if self.contender.uses_constraints else None).labels_

    def _row(self, settings: dict) -> dict[str, Any]:
        tuned = {name: settings[name] for name in self.contender.grid}
        row: dict[str, Any] = {
            "method": self.contender.label,
            "setting": " ".join(f"{name}={value}" for name, value in tuned.items()),
            "size": self.size,
            "draw": self.draw,
            "n_must": self.known.n_must_link,
            "n_cannot": self.known.n_cannot_link,
            "config": self.experiment.fingerprint(self.contender),
        }
        start = time.perf_counter()
        try:
            labels = self._fit(settings, self.known)
        except FAILURES as error:
            return {**row, "failure": f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"}
        row["seconds"] = round(time.perf_counter() - start, 4)
        return {**row, **self._scores(labels), "failure": ""}

    def _scores(self, labels: np.ndarray) -> dict[str, float]:
        scores = evaluate(self.data.y, labels, self.known)
        found = {"kept": scores.constraint_satisfaction}
        for suffix, agreement in (("", scores.all_points), ("_free", scores.unconstrained_points)):
            if agreement is not None:
                found[f"ari{suffix}"] = agreement.adjusted_rand_index
                found[f"rand{suffix}"] = agreement.rand_index
                found[f"acc{suffix}"] = agreement.clustering_accuracy
        return {name: round(value, 5) for name, value in found.items() if value is not None}
