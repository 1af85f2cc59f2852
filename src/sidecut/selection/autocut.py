"""AutoCut: one estimator that chooses method, graph and number of clusters by what is known."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from sidecut.checks import BoolArray, FloatArray, IntArray, Rule, check_count_or_bounds, check_flag, optional
from sidecut.constraints import ConstraintFolds, Constraints, Fold
from sidecut.constraints.folds import consistent, independent_parts
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import Graph, GraphRecipe, recipe
from sidecut.labelling.confidence import calibrate
from sidecut.methods import CSAP, E2CP, NCSC, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.methods.base import Clusterer, GraphClusterer, documented, stand
from sidecut.methods.cut import weighted_means
from sidecut.methods.new_points import is_on_points, neighborhood
from sidecut.methods.task import Answer, Task, is_precomputed
from sidecut.running import stage
from sidecut.selection.both import choose_form, list_forms
from sidecut.selection.comparison import (
    PLAIN,
    Budget,
    Candidate,
    Comparison,
    Consensus,
    Graphs,
    explain,
    explain_contradicted,
    make_model,
    name_by_labels,
    tabulate,
    task_for,
    weights_of,
)
from sidecut.selection.expectation import expect, expect_accuracy, parts_of, read_facts
from sidecut.selection.n_clusters import MIN_PAIRS, NumberCurve, weigh_n_clusters
from sidecut.selection.views import ClassifierAnswer, View, can_train, has_must_links, list_views

#: Candidates are compared on at most this many points; those with constraints come first, up to half.
PILOT_POINTS = 1_000
#: How many candidates are compared beside the cut without constraints, the most promising first; and how many
#: thirds of the constraints are held out in turn.
N_TRIED, N_FOLDS = 8, 2
#: All that were compared may vote where fits are cheap: as many as cluster this many points together, and at
#: least three.
VOTING_POINTS, MIN_VOTERS = 12_000, 3
#: Where too little is known to compare, features are taken as given unless another form of them is believed
#: to gain more than this.
MIN_GAIN = 0.02
#: The methods of the choice, the cut without constraints among them.
METHODS: dict[str, Any] = {
    PLAIN: NormalizedCut(),
    "E2CP": E2CP(),
    "CSAP": CSAP(),
    "NCSC": NCSC(),
    "PoissonMBO": PoissonMBO(),
}
#: Those that are tried where every cluster has a label.
WITH_LABELS: dict[str, Any] = {"PoissonLearning": PoissonLearning()}
#: Those that are tried where must-links make a metric, and where a classifier weighs edges.
ON_METRIC, ON_CLASSIFIER = ("E2CP", "PoissonMBO"), ("PoissonMBO",)
#: Methods whose labelled points always keep their label.
FIXING = ("PoissonMBO", "PoissonLearning")
#: Said where neither the spectrum nor a layer nor what is known shows groups.
NOT_CLEAR = "No groups stand out in these data, so their number is a weak guess: there may be none."
#: How the answer of the classifier alone is called.
CLASSIFIER = "classifier"


def _gives_chances(model: AutoCut) -> bool:
    """Whether chances are given: of sparse points, scikit-learn takes them for a classifier's."""
    task = getattr(model, "_task", None)
    if task is not None and sp.issparse(task.data):
        raise AttributeError("Chances are not given for sparse points; `predict` gives their clusters.")
    return is_on_points(model)


@documented
@dataclass(eq=False, repr=False)
class AutoCut(Clusterer):
    """Clustering that chooses by what is known: the graph, the method, the number of clusters.

    Stored experiments say what to expect of a method on a graph: of features as given or scaled, in a metric
    learned from must-links, with edges weighed by a classifier. The most promising candidates are given one
    part of the constraints and judged by the other. They answer together, by a vote in which those believed
    to be best count most. Of more than 1,000 points, a sample is used to compare. Where nothing is known, the
    answer is that of `NormalizedCut`. Points whose class was given keep it.

    Parameters
    ----------
    n_clusters : int, tuple of int or "auto", default="auto"
        The number of clusters, or the least and the most, such as (2, 6). "auto": the classes of the labels,
        and the clusters that should hold a label and hold none; without labels, the gaps in the spectrum and
        the layers of the density propose, and what is known decides.
    candidates : dict of str to clusterer or None, default=None
        The methods to choose among, by name: all are compared on the most promising graph. None for
        `PoissonMBO`, `E2CP`, `CSAP` and `NCSC`, on several graphs, and `PoissonLearning` where every cluster
        has a label. Their `n_clusters`, `affinity` and `random_state` are set, everything else is as given.
    budget : int, str or None, default=None
        What may be spent on choosing: a number of fits, or a time such as "30s" or "5min". None is 16 fits
        and a few cuts on at most 1,000 points, and more where `candidates` are given.
    {graph}
    {constraints}
    overrule : bool, default=False
        Whether points whose class was given may be put into a cluster of another class. By default they keep
        what was given; `contradicted_` lists those that the clusters speak against.
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    n_clusters_ : int
        The number of clusters that was asked for, or found.
    n_clusters_curve_ : NumberCurve
        Where the number was found: the evidence for each number. `to_frame` gives a table,
        `sidecut.plots.plot_n_clusters` a picture.
    best_estimator_ : clusterer
        The fitted method, or the `Consensus` of several.
    candidates_ : dict of lists
        The table of all candidates, those believed to be best first: what was expected of them beforehand,
        their score on held-out constraints, and what is believed after both, as gains in adjusted Rand index.
        ``model.candidates_.to_frame()`` shows it.
    explanation_ : str
        What was chosen and why, in words.
    forms_ : dict of str to float
        With `graph` in fit: the balanced accuracy on held-out pairs of features averaged along the graph, of
        the two graphs summed, and of each alone. The averages are used unless another form is clearly better.
    expected_accuracy_ : float
        The share of points that is expected to be right, by held-out constraints and past experience; the
        mean of `confidence_` over the points without constraints. Not there where nothing is known.
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
    0.82
    """

    n_clusters: int | str | tuple[int, int] = "auto"  # type: ignore[assignment]
    _: KW_ONLY
    affinity: str | GraphRecipe = "auto"
    candidates: Mapping[str, Any] | None = None
    budget: int | str | None = None
    hard: bool = False
    takes_graph = takes_bounds = True
    overrule: bool = False
    rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": check_count_or_bounds,
        "affinity": lambda _, value: check_affinity(value),
        "candidates": optional(lambda _, value: check_candidates(value)),
        "budget": lambda _, value: Budget(value),
        "hard": check_flag,
        "overrule": check_flag,
    }
    lasting: ClassVar[tuple[str, ...]] = (
        "best_estimator_",
        "candidates_",
        "explanation_",
        "expected_accuracy_",
    )

    def _solve(self, task: Task) -> Answer:
        if task.given_graph is None:
            return self._choose(task)
        asked = self.affinity if isinstance(self.affinity, GraphRecipe) or self.affinity != "auto" else "knn"
        forms = list_forms(task, recipe(asked))
        folds = make_folds(task.constraints, task.seed)
        k = task.n_clusters or self._weigh([forms[0].graph], task).best
        form, scores = choose_form(forms, replace(task, n_clusters=k), folds)
        return form.solved_by(self._choose(replace(task, data=form.data, given_graph=None)), scores)

    def _choose(self, task: Task) -> Answer:
        views = self._list_views(task.data)
        if task.constraints.is_empty:
            return self._cut(task, views[0])
        pilot, graphs, curve = draw_pilot(task), Graphs(), None
        if not task.n_clusters:
            curve = self._weigh([graphs(view, pilot) for view in views], pilot)
            task, pilot = (replace(one, n_clusters=curve.best) for one in (task, pilot))
        facts = read_facts(task.data, task.constraints, int(task.n_clusters))
        folds = make_folds(pilot.constraints, task.seed)
        comparison = Comparison(pilot, folds, graphs, Budget(self.budget), facts, bool(self.hard))
        entered = self._list_candidates(task, views)
        for one in entered:
            parts = parts_of(one.method, one.view.form, one.view.uses_metric, one.view.uses_classifier)
            one.expected = expect(facts, parts)
        if not folds and self.candidates is None:
            entered = _of_one_form(entered, comparison)
        comparison.enter(self._most_promising(entered))
        chosen = comparison.choose(count_voters(task.n_points))
        answer, voted = self._finish_with(task, comparison, chosen)
        return self._check(task, with_curve(answer, curve), comparison.check(voted))

    def _weigh(self, graphs: list[Graph], task: Task) -> NumberCurve:
        """Return the evidence for each number of clusters, within the bounds if there are some."""
        bounds = self.n_clusters if isinstance(self.n_clusters, tuple) else None
        return weigh_n_clusters(graphs, task.constraints, task.seed, bounds)

    def _list_candidates(self, task: Task, views: list[View]) -> list[Candidate]:
        """Return all methods on all graphs."""
        if self.candidates is not None:
            given = {PLAIN: METHODS[PLAIN], **self.candidates}
            return [Candidate(name, view, model) for view in views for name, model in given.items()]
        has_features = isinstance(self.affinity, str) and self.affinity == "auto" and views[0].form != "given"
        metrics = []
        if has_features and has_must_links(task.constraints) and views[-1].form != "angles":
            metrics = [view.with_metric() for view in views if view.form != "numeric"]
        is_named = can_train(task.constraints, task.n_clusters)
        methods = METHODS | (WITH_LABELS if is_named else {})
        entered = [Candidate(name, view, model) for view in views for name, model in methods.items()]
        entered += [Candidate(name, view, METHODS[name]) for view in metrics for name in ON_METRIC]
        if has_features and is_named:
            weighed = [view.with_classifier() for view in (*views, *metrics)]
            entered += [Candidate(name, view, METHODS[name]) for view in weighed for name in ON_CLASSIFIER]
            if not self.hard:
                entered.append(Candidate(CLASSIFIER, weighed[0], ClassifierAnswer()))
        return entered

    def _most_promising(self, entered: list[Candidate]) -> list[Candidate]:
        """Return the candidates that are compared, the most promising first."""
        order = sorted(entered, key=lambda one: -one.expected)
        if self.candidates is not None:
            return [one for one in order if one.view == order[0].view]
        tried = [one for one in order if one.method != PLAIN][:N_TRIED]
        # Cuts show what nothing known comes to, and which form of the features shows the classes.
        forms = {one.view.form for one in tried} | {"raw", "words", "given"}
        return tried + [one for one in order if one.method == PLAIN and one.view.form in forms]

    def _list_views(self, data: Any) -> list[View]:
        """Return the graphs to choose among, the usual one first."""
        if isinstance(data, Graph):
            return [View("the graph given", "precomputed")]
        if not (isinstance(self.affinity, str) and self.affinity == "auto"):
            return [View("the graph asked for", recipe(self.affinity))]
        return list_views(data)

    def _check(self, task: Task, answer: Answer, checked: tuple[float, int]) -> Answer:
        """Say how many points are expected to be right: by held-out constraints, and by past experience."""
        best, free, (right, n_held_out) = (
            answer.results["best_estimator_"],
            free_points(task.constraints),
            checked,
        )
        labels = task.constraints.labels
        agreement, sure = (float(each[free].mean()) for each in (_agreement(best), _sureness(best)))
        share = expect_accuracy(labels is not None, agreement, sure, right, n_held_out)
        if labels is not None:
            share *= float(has_name(best.labels_, labels)[free].mean())
        if n_held_out and labels is not None:
            shown = f"{right:.0f} of {n_held_out} held-out labels were found"
        elif n_held_out:
            shown = "so the held-out pairs say"
        else:
            shown = "past experience says so: too little was given to check it"
        said = f"{answer.results['explanation_']} About {share:.0%} of the points should be right ({shown})."
        return answer.with_results(explanation_=said, expected_accuracy_=share)

    def _cut(self, task: Task, view: View) -> Answer:
        """Cut the usual graph: there are no constraints that favour another."""
        graph = view.build(task)
        curve = None
        if not task.n_clusters:
            pilot = draw_pilot(task) if isinstance(task.data, Graph) else task
            curve = self._weigh([view.build(pilot)], replace(pilot, seed=0))
        n_clusters = task.n_clusters if curve is None else curve.best
        candidate = Candidate(PLAIN, view, NormalizedCut(), verdict="chosen")
        task = replace(task, graph=graph, n_clusters=n_clusters)
        model = self._fit(candidate, task)
        return with_curve(self._describe([model], task, [candidate], [candidate]), curve)

    def _finish_with(
        self, task: Task, comparison: Comparison, chosen: list[Candidate]
    ) -> tuple[Answer, list[Candidate]]:
        """Solve the whole task by those that were chosen, and return who of them voted."""
        models, kept = [], []
        # What one of several methods warns of is its own affair; what is wrong with the data is not.
        ignored = ConstraintWarning if len(chosen) > 1 else ()
        with _each_warning_once(ignored):
            for candidate in chosen:
                try:
                    graph = comparison.graphs(candidate.view, task)
                    with stage(f"{candidate.method}, given all constraints"):
                        models.append(self._fit(candidate, replace(task, graph=graph)))
                    kept.append(candidate)
                except Exception as error:  # another may answer
                    candidate.verdict = f"failed: {type(error).__name__}: {error}"
            if not models:
                view = comparison.candidates[0].view
                kept = [Candidate(PLAIN, view, NormalizedCut(), verdict="chosen")]
                comparison.candidates += kept
                models = [self._fit(kept[0], replace(task, graph=comparison.graphs(view, task)))]
        models, kept = _name_most(models, kept, task.constraints)
        task = replace(task, graph=comparison.graphs(kept[0].view, task))
        return self._describe(models, task, comparison.candidates, kept), kept

    def _fit(self, candidate: Candidate, task: Task, **own: Any) -> Any:
        """Return the method of a candidate, fitted."""
        model = make_model(candidate, task, bool(self.hard), **own)
        if isinstance(model, GraphClusterer):
            model.affinity = candidate.view.recipe_for(task)
        given = task.without_constraints() if candidate.method == PLAIN else task
        given = task_for(model, given)
        # Held-out pairs have judged a candidate that was compared; the guard judges the others.
        answer = model._solve_parts(given) if candidate.counts else model._answer_to(given)
        return model._keep(given, model._finish(given, answer))

    def _describe(
        self, models: list[Any], task: Task, candidates: list[Candidate], chosen: list[Candidate]
    ) -> Answer:
        best = models[0]
        if len(models) > 1:
            named = [(one.method, clone(model)) for one, model in zip(chosen, models, strict=True)]
            best = Consensus(named, weights_of(chosen)).gather(models)
        results = {
            "best_estimator_": best,
            "n_clusters_": int(task.n_clusters),
            "candidates_": tabulate(candidates),
            "used_constraints_": any(one.method != PLAIN for one in chosen),
            "explanation_": explain(
                candidates, chosen, task.n_clusters, isinstance(self.n_clusters, str | tuple)
            ),
        }
        labels = best.labels_.copy()
        judges = [i for i, one in enumerate(chosen) if one.method not in FIXING]
        if isinstance(best, Consensus) and judges and task.constraints.labels is not None:
            # What others say of labelled points: the rest repeat what was given.
            given = np.flatnonzero(np.asarray(task.constraints.labels) >= 0)
            labels[given] = best.vote_of(judges)[given]
        # Not `affinity_matrix_`: those that vote may have changed the graph each in its way.
        return Answer(labels, results={**results, "graph": task.graph})

    def _finish(self, task: Task, answer: Answer) -> Answer:
        # The method that answers has satisfied the links.
        return answer

    def _let_stand(self, task: Task, answer: Answer) -> Answer:
        """Return the answer in which labelled points keep their class, unless they may be overruled."""
        # Methods that repeat labels do not judge them, but they name clusters like the others.
        voted = answer.results["best_estimator_"].labels_
        found = stand(replace(task, n_clusters=answer.results["n_clusters_"]), answer, voted)
        moved, said = found.results["contradicted_"], answer.results["explanation_"]
        if moved.size:
            n_labels = int(np.count_nonzero(np.asarray(task.constraints.labels) >= 0))
            said += " " + explain_contradicted(moved.size, n_labels, self.overrule)
        answer = answer if self.overrule else found
        return answer.with_results(explanation_=said, contradicted_=moved)

    @available_if(_gives_chances)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the chance that new points belong to each cluster; `cluster_classes_` names the clusters.

        The likeliest cluster is the one `predict` gives, and as likely as the neighbours of the point are
        sure in the mean. The others share the rest as they share the neighbours.

        Parameters
        ----------
        X : array or data frame of shape (n_new, n_features)
            New points, not sparse.

        Returns
        -------
        array of shape (n_new, n_clusters_)
            Every row adds up to one.
        """
        labels, rows = self.predict(X), self._as_rows(self._read_new(X))
        edges, exact_matches = neighborhood(self).edges(rows)
        # Nothing is stored by a prediction.
        known = self._measure_confidence() if self._confidence is None else self._confidence
        members = np.eye(int(self.labels_.max()) + 1)
        sure = np.where(exact_matches >= 0, known[exact_matches], weighted_means(edges, known[:, None])[:, 0])
        votes = weighted_means(edges, members[self.labels_]) + 1e-12
        votes[np.arange(len(labels)), labels] = 0.0
        if votes.shape[1] == 1:
            return np.ones((len(labels), 1))
        others = votes / votes.sum(axis=1, keepdims=True)
        largest = others.max(axis=1)
        # No other cluster is likelier than the one that predict gives.
        sure = np.maximum(sure, (largest + 1e-9) / (1.0 + largest))
        return sure[:, None] * members[labels] + (1.0 - sure)[:, None] * others

    def _measure_confidence(self) -> FloatArray:
        """Return how sure the chosen methods are, so that the mean is the share expected to be right."""
        # A point's own confidence is that of the methods times the share of them that agree; what it is in
        # the mean, held-out constraints tell. Without constraints it says how sure the clusters are.
        sure = _sureness(self.best_estimator_)
        sure[self._answer.results["contradicted_"]] = 0.0
        if "expected_accuracy_" not in self._answer.results:
            return sure
        return calibrate(sure, self.expected_accuracy_, free_points(self._task.constraints))

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome and when X is a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.positive_only = is_precomputed(self)
        return tags


def _of_one_form(entered: list[Candidate], comparison: Comparison) -> list[Candidate]:
    """Return the candidates on the form of the features that is believed to be best."""
    # Nothing can be held out, but the cut of each form, which uses no constraints, is judged by all of them.
    usual, cuts = entered[0].view.form, [one for one in entered if one.method == PLAIN]
    if comparison.task.constraints.n_pairs >= MIN_PAIRS:
        comparison.enter(cuts)
    best = max(entered, key=lambda one: comparison.belief_in(one) + MIN_GAIN * (one.view.form == usual))
    comparison.candidates = []
    return [one for one in entered if one.view.form == best.view.form]


def free_points(constraints: Constraints) -> IntArray:
    """Return the points about which nothing was given; all, where something was given about each."""
    free = np.setdiff1d(np.arange(constraints.n_samples), constraints.constrained_points)
    return free if free.size else np.arange(constraints.n_samples)


def _agreement(best: Any) -> FloatArray:
    """Return for each point the share of those that voted which agree."""
    return best.agreement_ if isinstance(best, Consensus) else np.ones(len(best.labels_))


def _sureness(best: Any) -> FloatArray:
    """Return for each point the share of those that voted which agree, times how sure all are in the mean."""
    models = best.estimators_ if isinstance(best, Consensus) else [best]
    return _agreement(best) * np.mean([model.confidence_ for model in models], axis=0)


def has_name(clusters: IntArray, labels: IntArray) -> BoolArray:
    """Return which points are in a cluster that holds a label: no other has a name that could be right."""
    given = np.flatnonzero(np.asarray(labels) >= 0)
    return name_by_labels(clusters, labels, given) >= 0


def _name_most(
    models: list[Any], chosen: list[Candidate], constraints: Constraints
) -> tuple[list[Any], list[Candidate]]:
    """Return those whose clusters have the most classes: the others join classes that labels keep apart."""
    labels, given = constraints.labels, constraints.constrained_points
    if labels is None:
        return models, chosen
    named = [len(np.unique(name_by_labels(one.labels_, labels, given)[given])) for one in models]
    for one, count in zip(chosen, named, strict=True):
        if count < max(named):
            one.verdict = "others give more classes a cluster of their own"
    most = [place for place, count in enumerate(named) if count == max(named)]
    return [models[place] for place in most], [chosen[place] for place in most]


def with_curve(answer: Answer, curve: NumberCurve | None) -> Answer:
    """Return the answer with the evidence for each number of clusters, where that was weighed."""
    if curve is None:
        return answer
    if not curve.is_clear:
        said = f"{answer.results['explanation_']} {NOT_CLEAR}"
        answer = answer.with_results(explanation_=said)
    return answer.with_results(n_clusters_curve_=curve)


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


def count_voters(n_points: int) -> int:
    """Return how many candidates may vote."""
    return int(np.clip(VOTING_POINTS // n_points, MIN_VOTERS, N_TRIED))


def make_folds(constraints: Constraints, seed: int) -> list[Fold]:
    """Return the folds candidates are compared by, none where too little is known."""
    if constraints.n_independent_pairs < MIN_PAIRS:
        return []
    return list(ConstraintFolds(3, random_state=seed).split(constraints))[:N_FOLDS]


def draw_pilot(task: Task) -> Task:
    """Return the task on the points candidates run on: all, or a sample of many."""
    # Of a graph on a disk or a cluster, all nodes join those of the sample. A graph in memory is not sampled.
    if task.n_points <= PILOT_POINTS:
        return task
    rng = np.random.default_rng(task.seed)
    # Half of the pilot may be known points, so that there is a graph between them.
    known = _draw_known(task.constraints, PILOT_POINTS // 2, rng)
    others = np.setdiff1d(np.arange(task.n_points), known)
    rows = np.sort(np.concatenate([known, rng.choice(others, PILOT_POINTS - len(known), replace=False)]))
    constraints = task.constraints.restricted_to(rows)
    if not isinstance(task.data, Graph):
        return replace(task, data=task.data[rows], constraints=constraints)
    small = task.data.contracted(rows)
    return task if small is None else replace(task, data=small, graph=small, constraints=constraints)


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
