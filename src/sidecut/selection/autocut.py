"""AutoCut: one estimator that chooses method, graph and number of clusters by what is known."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, Rule, check_flag, optional
from sidecut.constraints import ConstraintFolds, Constraints, Fold
from sidecut.constraints.folds import consistent, independent_parts
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import Graph, GraphRecipe, recipe
from sidecut.methods import CCSR, E2CP, NCSC, NormalizedCut
from sidecut.methods.base import Clusterer, GraphClusterer, documented
from sidecut.methods.cut import is_on_neighbors, vote_of_neighbors
from sidecut.methods.task import Answer, Task, check_points, is_precomputed
from sidecut.progress import stage
from sidecut.selection.comparison import (
    PLAIN,
    Budget,
    Candidate,
    Comparison,
    Consensus,
    Graphs,
    View,
    explain,
    make_model,
    tabulate,
    task_for,
)
from sidecut.selection.n_clusters import MIN_PAIRS, choose_n_clusters
from sidecut.selection.views import (
    CLASSIFIER,
    LEARNED,
    ClassifierAnswer,
    can_learn,
    list_views,
    prior_for_scaling,
)

#: Candidates run on at most this many points; those with constraints come first.
PILOT_POINTS = 600
N_FOLDS = 3
#: The most answers that vote, and the most where candidates ran on a pilot: then every fit takes long.
MAX_VOTERS, MAX_VOTERS_ON_PILOT = 5, 3
#: The methods of the choice. More of them were tried, and chosen by luck mostly: docs/selection.md.
METHODS: dict[str, Any] = {"E2CP": E2CP(), "CCSR": CCSR()}
#: A third one, where the folds hold out at least this many points.
WITH_MANY_CONSTRAINTS: dict[str, Any] = {"NCSC": NCSC()}
MIN_HELD_OUT_POINTS = 50
#: The number of methods that try every graph.
N_FIRST_METHODS = 2


def _has_neighbors(model: AutoCut) -> bool:
    """Whether the graph is one of neighbours, which new points can be linked to."""
    if (isinstance(model.affinity, str) and model.affinity == "auto") or is_on_neighbors(model):
        return True
    raise AttributeError(
        f"affinity={model.affinity!r}: new points have no place in this graph. AutoCut predicts with "
        "affinity='auto', 'knn' or a Neighbors recipe."
    )


@documented
@dataclass(eq=False, repr=False)
class AutoCut(Clusterer):
    """Clustering that chooses by what is known: the graph, the method, the number of clusters.

    Constraints are split into folds. Two methods are given one part and judged by the other, on two graphs:
    that of the features as given, and that of scaled features or, for words, of angles. Where 50 or
    more points are known, a third method is tried, `NCSC`; where every class has labels, and eight in the
    mean, so is a graph whose edges a classifier weighs. The best method answers, or the vote of all on a
    graph. Of more points, a sample of 600 is tried
    on. Where little is known the cuts of the graphs are judged by all of it; where nothing is known, the
    answer is that of `NormalizedCut`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        The number of clusters. "auto": the classes of the labels, and the clusters that should hold a label
        and hold none; without labels, the gaps in the spectrum propose and the folds decide.
    candidates : dict of str to clusterer or None, default=None
        The methods to choose among, by name; None for `E2CP` and `CCSR`, and `NCSC` where much is known. The
        first two are tried on every graph, the others on the best one. Their `n_clusters`, `affinity` and
        `random_state` are set, everything else is as given.
    budget : int, str or None, default=None
        What may be spent on choosing: a number of fits, or a time such as "30s" or "5min". None is fourteen
        fits on at most 600 points, twelve more where much is known, and more where `candidates` are given.
    {graph}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    n_clusters_ : int
        The number of clusters that was asked for, or found.
    best_estimator_ : clusterer
        The fitted method, or the `Consensus` of several.
    candidates_ : dict of lists
        The table of all candidates: method, graph, score, spread, folds, seconds, verdict.
        ``pandas.DataFrame(model.candidates_)`` shows it.
    explanation_ : str
        What was chosen and why, in words.
    {results}

    See Also
    --------
    sidecut.selection.ConstraintSearch : choose parameters of one method by the same folds.
    NormalizedCut : the cut where nothing is known.

    References
    ----------
    M. Pourrajabi, D. Moulavi, R. Campello, A. Zimek, J. Sander, R. Goebel. Model selection for
    semi-supervised clustering. EDBT, 2014.

    T. Van Craenendonck, H. Blockeel. Constraint-based clustering selection. Machine Learning 106, 2017.

    A. Chao. Nonparametric estimation of the number of classes in a population. Scandinavian Journal of
    Statistics 11, 1984.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sidecut import AutoCut
    >>> from sidecut.constraints import sample_labels
    >>> from sidecut.evaluation import adjusted_rand_index
    >>> X, y = load_wine(return_X_y=True)
    >>> known = sample_labels(y, 12, random_state=0)
    >>> model = AutoCut(n_clusters=3, random_state=0).fit(X, constraints=known)
    >>> print(f"{adjusted_rand_index(y, model.labels_, constraints=known):.2f}")
    0.89
    """

    n_clusters: int | str = "auto"  # type: ignore[assignment]
    _: KW_ONLY
    affinity: str | GraphRecipe = "auto"
    candidates: Mapping[str, Any] | None = None
    budget: int | str | None = None
    hard: bool = False
    rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": lambda _, value: check_number(value),
        "affinity": lambda _, value: check_affinity(value),
        "candidates": optional(lambda _, value: check_candidates(value)),
        "budget": lambda _, value: Budget(value),
        "hard": check_flag,
    }

    def _solve(self, task: Task) -> Answer:
        views = self._list_views(task.data)
        if task.constraints.is_empty:
            return self._cut(task, views[0])
        pilot, graphs = draw_pilot(task), Graphs()
        folds = make_folds(pilot.constraints, task.seed)
        if not task.n_clusters:
            n_clusters = choose_n_clusters(
                [graphs(view, pilot) for view in views], pilot.constraints, task.seed
            )
            task, pilot = (replace(one, n_clusters=n_clusters) for one in (task, pilot))
        comparison = Comparison(pilot, folds, graphs, Budget(self.budget), bool(self.hard))
        teams = self._compare(comparison, views)
        is_pilot = pilot.n_points < task.n_points
        chosen = comparison.choose(teams, MAX_VOTERS_ON_PILOT if is_pilot else MAX_VOTERS)
        return self._finish_with(task, comparison, chosen)

    def _compare(self, comparison: Comparison, views: list[View]) -> list[list[Candidate]]:
        """Try two methods on every graph, the others on the best one, and a graph that learns."""
        methods = METHODS if self.candidates is None else dict(self.candidates)
        first, others = dict([*methods.items()][:N_FIRST_METHODS]), dict([*methods.items()][N_FIRST_METHODS:])
        n_held_out = sum(len(fold.held_out) for fold in comparison.folds)
        if self.candidates is None and n_held_out >= MIN_HELD_OUT_POINTS:
            others = WITH_MANY_CONSTRAINTS
        # Of a small budget, most is for the methods.
        n_views = int(max(1, min(comparison.budget.fits / 8, len(views))))
        teams = [comparison.enter_view(view, first) for view in views[:n_views]]
        best = max(teams, key=comparison.expected_gain)
        known, k = comparison.task.constraints, comparison.task.n_clusters
        is_free = isinstance(self.affinity, str) and self.affinity == "auto"
        if is_free and comparison.folds and can_learn(known, k):
            view = replace(best[0].view, name=best[0].view.name + LEARNED, learns=True)
            alone = {} if self.hard else {CLASSIFIER: ClassifierAnswer()}
            teams.append(comparison.enter_methods(view, first | alone))
        best += comparison.enter_methods(best[0].view, others)
        return teams

    def _list_views(self, data: Any) -> list[View]:
        """Return the graphs to choose among, the usual one first."""
        if isinstance(data, Graph):
            return [View("the graph given", "precomputed")]
        if not (isinstance(self.affinity, str) and self.affinity == "auto"):
            return [View("the graph asked for", recipe(self.affinity))]
        found = list_views(data)
        prior_gains = prior_for_scaling(data, found)
        return [View(name, how, prior_gains[name]) for name, how in found.items()]

    def _cut(self, task: Task, view: View) -> Answer:
        """Cut the usual graph: there are no constraints that favour another."""
        graph = view.build(task)
        n_clusters = task.n_clusters or choose_n_clusters([graph], task.constraints, 0)
        candidate = Candidate(PLAIN, view, NormalizedCut(), verdict="chosen")
        task = replace(task, graph=graph, n_clusters=n_clusters)
        model = self._fit(candidate, task)
        return self._describe([model], task, [candidate], [candidate])

    def _finish_with(self, task: Task, comparison: Comparison, chosen: list[Candidate]) -> Answer:
        """Solve the whole task by those that were chosen."""
        view = chosen[0].view
        task = replace(task, graph=comparison.graphs(view, task))
        models, kept = [], []
        # What one of several methods warns of is its own affair; what is wrong with the data is not.
        ignored = ConstraintWarning if len(chosen) > 1 else ()
        with _each_warning_once(ignored):
            for candidate in chosen:
                try:
                    with stage(f"{candidate.method}, given all constraints"):
                        models.append(self._fit(candidate, task))
                    kept.append(candidate)
                except Exception as error:  # another may answer
                    candidate.verdict = f"failed: {type(error).__name__}: {error}"
            if not models:
                kept = [comparison.candidates[0]]
                kept[0].verdict = "chosen"
                models = [self._fit(kept[0], task)]
        return self._describe(models, task, comparison.candidates, kept)

    def _fit(self, candidate: Candidate, task: Task, **own: Any) -> Any:
        """Return the method of a candidate, fitted."""
        model = make_model(candidate, task, bool(self.hard), **own)
        if isinstance(model, GraphClusterer):
            model.affinity = candidate.view.recipe_for(task)
        given = task.without_constraints() if candidate.method == PLAIN else task
        given = task_for(model, given)
        # Held-out pairs have judged a candidate that was compared; the guard judges the others.
        answer = model._solve(given) if candidate.counts else model._answer_to(given)
        return model._keep(given, model._finish(given, answer))

    def _describe(
        self, models: list[Any], task: Task, candidates: list[Candidate], chosen: list[Candidate]
    ) -> Answer:
        best = models[0]
        if len(models) > 1:
            named = [(one.method, clone(model)) for one, model in zip(chosen, models, strict=True)]
            best = Consensus(named).gather(models)
        results = {
            "best_estimator_": best,
            "n_clusters_": int(task.n_clusters),
            "candidates_": tabulate(candidates),
            "explanation_": explain(candidates, chosen, task.n_clusters, self.n_clusters == "auto"),
        }
        # Not `affinity_matrix_`: those that vote may have changed the graph each in its way.
        return Answer(best.labels_, results={**results, "graph": task.graph})

    def _finish(self, task: Task, answer: Answer) -> Answer:
        # The method that answers has satisfied the links.
        return answer

    @available_if(_has_neighbors)
    def predict(self, X: Any) -> IntArray:
        """Put new points into the clusters that were found.

        A new point is linked to its nearest neighbours among the old ones, in the graph that was chosen, and
        joins the cluster that most of its weight goes to. A point equal to an old one gets its label.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_new, n_features)
            New points. Only where the graph is one of neighbours, as with ``affinity="auto"``.

        Returns
        -------
        array of shape (n_new,)
            Their clusters.
        """
        check_is_fitted(self, "labels_")
        X = check_points(self, X, reset=False)
        edges, exact_matches = self._answer.results["graph"].extension.edges(self._task.data, X)
        labels = vote_of_neighbors(edges, self.labels_)
        return np.where(exact_matches >= 0, self.labels_[exact_matches], labels).astype(np.intp)

    def _measure_confidence(self) -> FloatArray:
        """Return how sure the chosen methods are, as far as they say so, times the share that agrees."""
        best = self.best_estimator_
        models = best.estimators_ if isinstance(best, Consensus) else [best]
        agreement = best.agreement_ if isinstance(best, Consensus) else np.ones(len(self.labels_))
        return agreement * np.mean([model.confidence_ for model in models], axis=0)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome and when X is a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.positive_only = is_precomputed(self)
        return tags


def check_number(n_clusters: Any) -> None:
    """Refuse a number of clusters that is neither a count nor "auto"."""
    if isinstance(n_clusters, str) and n_clusters != "auto":
        raise ValueError(f"n_clusters={n_clusters!r} must be a whole number, at least 1, or 'auto'.")


def check_affinity(affinity: Any) -> None:
    """Refuse an affinity that is neither "auto", nor a graph, nor a recipe."""
    if not isinstance(affinity, GraphRecipe) and affinity not in ("auto", "precomputed"):
        recipe(affinity)


def check_candidates(candidates: Any) -> None:
    """Refuse candidates that are no mapping."""
    if not isinstance(candidates, Mapping):
        raise TypeError(
            f"candidates={candidates!r} must be a dict of names and clusterers, such as "
            "{'E2CP': E2CP()}, or None."
        )


def make_folds(constraints: Constraints, seed: int) -> list[Fold]:
    """Return the folds candidates are compared by, none where too little is known."""
    if constraints.n_independent_pairs < MIN_PAIRS:
        return []
    return list(ConstraintFolds(N_FOLDS, random_state=seed).split(constraints))


def draw_pilot(task: Task) -> Task:
    """Return the task on the points candidates run on: all, or a sample of many.

    A graph is not sampled: it would fall to pieces.
    """
    if task.n_points <= PILOT_POINTS or isinstance(task.data, Graph):
        return task
    rng = np.random.default_rng(task.seed)
    # Half of the pilot may be known points, so that there is a graph between them.
    known = _draw_known(task.constraints, PILOT_POINTS // 2, rng)
    others = np.setdiff1d(np.arange(task.n_points), known)
    rows = np.sort(np.concatenate([known, rng.choice(others, PILOT_POINTS - len(known), replace=False)]))
    return replace(task, data=task.data[rows], constraints=task.constraints.restricted_to(rows))


@contextmanager
def _each_warning_once(ignored: type[Warning] | tuple[type[Warning], ...]) -> Iterator[None]:
    """Collect warnings and issue each once, except those that are ignored."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in {str(warning.message): warning for warning in caught}.values():
        if not issubclass(warning.category, ignored):
            warn(str(warning.message), warning.category)


def _draw_known(constraints: Constraints, count: int, rng: np.random.Generator) -> IntArray:
    """Return some of the known points; sets that do not speak of each other are kept whole."""
    knowledge = consistent(constraints).components
    part = independent_parts(knowledge)[knowledge.component]
    turn = rng.permutation(part.max(initial=0) + 1)[part] + rng.random(len(part))
    return knowledge.points[np.argsort(turn)[:count]]
