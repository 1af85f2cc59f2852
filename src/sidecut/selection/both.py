"""Points with a graph of them: which of the two, or what of both, is clustered."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from sidecut.constraints import Fold
from sidecut.exceptions import InfeasibleError, SidecutWarning, SpectralError
from sidecut.graphs import Graph, GraphRecipe, SparseGraph, as_graph, average_along, sum_graphs
from sidecut.graphs.both import AveragedExtension
from sidecut.methods import E2CP
from sidecut.methods.task import Answer, Task
from sidecut.running import stage

#: The forms, by what they are called; the first answers where nothing is known.
AVERAGES, SUM, FEATURES, GRAPH = (
    "features averaged along the graph",
    "the graph of features and the graph given, summed",
    "the features alone",
    "the graph given alone",
)
#: What another form must gain over the averages, in balanced accuracy of pairs that were held out.
MIN_GAIN = 0.02


@dataclass(frozen=True, eq=False)
class Form:
    """One form of points and a graph: what is clustered, and the graph that forms are compared on."""

    name: str
    data: Any
    graph: Graph

    def solved_by(self, answer: Answer, scores: dict[str, float]) -> Answer:
        """Return the answer on this form, which says so, and to whose graph new points can be linked."""
        graph = answer.results["graph"]
        extension = getattr(graph, "extension", None)
        if self.name == AVERAGES and isinstance(graph, SparseGraph) and extension is not None:
            graph.extension = AveragedExtension(extension, self.data)
        explanation = f"Of points and graph, {self.name} were used. {answer.results['explanation_']}"
        if self.name == GRAPH:
            explanation = explanation.replace(" were used", " was used", 1)
        return answer.with_results(explanation_=explanation, forms_=scores)


def list_forms(task: Task, recipe: GraphRecipe) -> list[Form]:
    """Return the four forms of the points and the graph of a task, the usual one first."""
    alone = as_graph(task.given_graph)
    averages = average_along(alone, task.data)
    near = recipe.build(task.data)
    if isinstance(near, SparseGraph) and isinstance(alone, SparseGraph):
        # New points have features only.
        alone = SparseGraph(alone.matrix, extension=near.extension)
    total = sum_graphs(near, alone)
    return [
        Form(AVERAGES, averages, recipe.build(averages)),
        Form(SUM, total, total),
        Form(FEATURES, task.data, near),
        Form(GRAPH, alone, alone),
    ]


def choose_form(forms: list[Form], task: Task, folds: list[Fold]) -> tuple[Form, dict[str, float]]:
    """Return the form on which E2CP agrees best with pairs that were held out, and the scores of all."""
    # Another form than the averages must be better than these by more than chance may make it.
    if not folds:
        return forms[0], {form.name: float("nan") for form in forms}
    scores = {}
    for form in forms:
        with stage(form.name), warnings.catch_warnings(action="ignore", category=SidecutWarning):
            scores[form.name] = _score(form, task, folds)
    best = max(forms, key=lambda form: scores[form.name])
    n_held_out = sum(len(fold.held_out) for fold in folds)
    needed = MIN_GAIN + 0.25 / np.sqrt(n_held_out)
    return (best if scores[best.name] > scores[forms[0].name] + needed else forms[0]), scores


def _score(form: Form, task: Task, folds: list[Fold]) -> float:
    """Return the balanced accuracy of E2CP on pairs that were held out; 0 where it finds no clusters."""
    model = E2CP(task.n_clusters, affinity="precomputed", safe=False)
    counts = []
    for fold in folds:
        given = replace(task, data=None, graph=form.graph, constraints=fold.train)
        try:
            counts.append(fold.count(model._solve_parts(given).labels))
        except (InfeasibleError, SpectralError, ValueError):
            return 0.0
    return float(reduce(add, counts).balanced_accuracy)
