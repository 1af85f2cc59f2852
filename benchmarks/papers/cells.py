"""One cell of an experiment: one draw of side information, given to every method on the same graph."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sidecut
from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.second_graph import rows_of_languages
from benchmarks.papers.side_information import draw as draw_constraints
from benchmarks.papers.side_information import held_out, with_printed_diagonal
from benchmarks.papers.signs import BY_SIGN, SignCut
from benchmarks.papers.synthetic import MADE
from sidecut import Constraints, NormalizedCut
from sidecut.datasets import Dataset, load
from sidecut.datasets.dataset import Scaling
from sidecut.evaluation import evaluate
from sidecut.exceptions import SolverError, SpectralError
from sidecut.graphs import DenseGraph, Graph, GraphRecipe

#: What a method may say instead of an answer; anything else is a fault of the harness and is not caught.
FAILURES = (ValueError, SpectralError, SolverError, np.linalg.LinAlgError, MemoryError)
#: How many data sets, graphs and models a process remembers.
REMEMBERED = 4
#: Up to so many nodes a graph that is only applied, such as the heat kernel, is made a matrix once for all.
SMALL = 2_000


@lru_cache(REMEMBERED)
def points(name: str, sample: int, scaling: Scaling, folder: Path | None) -> Dataset:
    """Return the data, loaded or generated."""
    data = MADE[name.removeprefix("made:")](sample) if name.startswith("made:") else load(name, folder)
    return data.scaled(scaling)


class Memory:
    """What was made last and several cells share."""

    def __init__(self) -> None:
        self._kept: dict[tuple, Any] = {}

    def recall(self, key: tuple, make: Callable[[], Any]) -> Any:
        """Return what was made under a key, the same object each time, or make it now."""
        if key not in self._kept:
            while len(self._kept) >= REMEMBERED:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = make()
        return self._kept[key]


#: Graphs are keyed by their recipe's text.
_graphs, _baselines, _models, _unconstrained = Memory(), Memory(), Memory(), Memory()


def graph_of(recipe: GraphRecipe, data_key: tuple) -> Graph:
    """Return the graph of some points, the same object each time."""

    def build() -> Graph:
        graph = recipe.build(points(*data_key).X)
        only_applied = graph.matrix is None and graph.n_nodes <= SMALL
        return DenseGraph(graph.toarray()) if only_applied else graph

    return _graphs.recall((repr(recipe), *data_key), build)


def unconstrained_labels(recipe: GraphRecipe, data_key: tuple) -> np.ndarray:
    """Return the normalised cut of the shared graph, whose mistakes "wrong pairs" are drawn from."""

    def cut() -> np.ndarray:
        k = points(*data_key).n_classes
        model = (SignCut if k == 2 else NormalizedCut)(k, affinity="precomputed", random_state=0)
        return model.fit(graph_of(recipe, data_key)).labels_

    return _baselines.recall((repr(recipe), *data_key), cut)


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


class Fit(NamedTuple):
    """Labels, and how long they took where all of the work was done for them."""

    labels: np.ndarray
    seconds: float | None


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
        self._starts: dict[int, np.ndarray] = {}

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
                kept.append(judge.satisfaction(self._fit(settings, learn).labels))
            except FAILURES:
                kept.append(-1.0)
        return choices[int(np.argmax(kept))]

    def _fit(self, settings: dict, known: Constraints) -> Fit:
        """Fit, or recall what the method says whatever is known."""
        if self.contender.uses_constraints:
            return self._fitted(settings, known)
        key = (self.experiment.fingerprint(self.contender), self.draw, repr(settings))
        return _unconstrained.recall(key, lambda: self._fitted(settings, None))

    def _fitted(self, settings: dict, known: Constraints | None) -> Fit:
        model, X = self._model(settings, known)
        if known is not None and settings.get("diagonal") == "all":
            known = with_printed_diagonal(known)
        is_whole = not hasattr(model, "labels_") and isinstance(getattr(model, "init", ""), str)
        start = time.perf_counter()
        labels = model.fit(X, constraints=known).labels_
        seconds = round(time.perf_counter() - start, 4) if is_whole else None
        if hasattr(model, "start_"):
            self._starts[id(known)] = model.start_
        return Fit(labels, seconds)

    def _model(self, settings: dict, known: Constraints | None) -> tuple[Any, Any]:
        """Return the model and what to fit; work that other settings and sizes share is not done again."""
        method = getattr(sidecut, self.contender.method)
        arguments = {"n_clusters": self.data.n_classes, "random_state": self.draw, **settings}
        if arguments.pop("labelling", None) == "sign":
            method = BY_SIGN[self.contender.method]
        if arguments.get("diagonal") == "all":
            # SCACS takes Q as the constraints have it: `_fitted` adds the ones of eq. 20 to them.
            arguments["diagonal"] = "given"
        has = signature(method).parameters
        if "n_jobs" in has:
            arguments["n_jobs"] = 1
        if "safe" in has:
            # The papers' methods follow the constraints whatever it costs.
            arguments["safe"] = False
        if "n_landmarks" in has:
            # The codes of a draw are the same whatever is known.
            key = (self.experiment.fingerprint(self.contender), self.draw)
            model = _models.recall(key, lambda: method(warm_start=True))
            return model.set_params(**arguments), self.data.X
        if "affinity" not in has:
            return method(**arguments), self.data.X
        if set(self.contender.grid) == {"gamma_cannot"} and id(known) in self._starts:
            # NCSC starts at the same place whatever cannot-links cost.
            arguments["init"] = self._starts[id(known)]
        graph = graph_of(self.contender.graph or self.experiment.graph, self.data_key)
        return method(**arguments, affinity="precomputed"), graph

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
        try:
            labels, row["seconds"] = self._fit(settings, self.known)
        except FAILURES as error:
            return {**row, "failure": f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"}
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
