"""AutoCut: one estimator that chooses method, graph and number of clusters by what is known."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import Graph, GraphRecipe, recipe
from sidecut.methods import CCSR, E2CP, NCSC, NormalizedCut, PoissonMBO
from sidecut.methods.base import ConstrainedClusterer
from sidecut.methods.extension import is_on_neighbors, vote_of_neighbors
from sidecut.methods.inputs import (
    check_constraints,
    check_data,
    check_points,
    is_precomputed,
    n_points,
    refuse_contradictions,
)
from sidecut.methods.safeguard import KnownPairs
from sidecut.parameters import check_flag, check_n_clusters
from sidecut.progress import stage
from sidecut.selection.budget import make_teller, parse_budget
from sidecut.selection.candidate import Candidate, explain, tabulate
from sidecut.selection.consensus import Consensus
from sidecut.selection.folds import ConstraintFolds, Fold, consistent, independent_parts
from sidecut.selection.learned import can_learn, unshared
from sidecut.selection.n_clusters import choose_n_clusters
from sidecut.selection.race import PLAIN, Race
from sidecut.selection.views import Shared, lean_by_units, list_views

#: Candidates run on at most so many points, all those that something is known about first.
PILOT = 600
N_FOLDS = 3
#: At most so many answers vote; fewer where there are so many points that every fit takes its time.
VOTERS, VOTERS_OF_MANY = 5, 3
#: Fewer facts than this tell nothing about a method: experience chooses. Eight labels are seven facts, and so
#: are seven scattered pairs.
FEW = 7
#: The methods of the choice. More of them were tried, and chosen by luck mostly: docs/selection.md.
METHODS: dict[str, Any] = {"E2CP": E2CP(), "CCSR": CCSR()}
#: A third one, where the folds hold out so many points that they can tell.
THIRD: dict[str, Any] = {"NCSC": NCSC()}
MANY = 50
#: These vote with them, without having been tried: more voters help, more candidates do not. Only where there
#: are so few points that a fit is quick.
JOINERS: dict[str, Any] = {"NCSC": NCSC(), "PoissonMBO": PoissonMBO()}


def _has_neighbors(model: AutoCut) -> bool:
    """Whether the graph is one of neighbours, which new points can be linked to."""
    if (isinstance(model.affinity, str) and model.affinity == "auto") or is_on_neighbors(model):
        return True
    raise AttributeError(
        f"affinity={model.affinity!r}: new points have no place in this graph. AutoCut predicts with "
        "affinity='auto', 'knn' or a Neighbors recipe."
    )


class AutoCut(ConstrainedClusterer):
    """Clustering that chooses by what is known: the graph, the method, the number of clusters.

    What is known is split into folds. Two methods are told one part and judged by the other, on each of two
    graphs: that of the features as given, and that of scaled features or, for words, of angles. Where 50 or
    more points are known, a third method is tried, `NCSC`; where every class has labels, and eight in the
    mean, so is a graph whose edges a classifier weighs. The best method answers, or the vote of all on a
    graph; of at most 600 points, `NCSC` and `PoissonMBO` vote too. Of more points, a sample of 600 is tried
    on. Where little is known the cuts of the graphs are judged by all of it; where nothing is known, the
    answer is that of `NormalizedCut`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        The number of clusters. "auto": the classes of the labels, and the clusters that should hold a label
        and hold none; without labels, the gaps in the spectrum propose and the folds decide.
    affinity : "auto", "precomputed", str or GraphRecipe, default="auto"
        "auto" chooses the graph. "precomputed": X is the graph itself. Another name or a recipe: as in
        the methods, and only the method is chosen.
    candidates : dict of str to clusterer or None, default=None
        The methods to choose among, by name; None for `E2CP` and `CCSR`, and `NCSC` where much is known. The
        first two are tried on every graph, the others on the best one. Their `n_clusters`, `affinity` and
        `random_state` are set, everything else is as given.
    budget : int, str or None, default=None
        What may be spent on choosing: a number of fits, or a time such as "30s" or "5min". None is fourteen
        fits on at most 600 points, twelve more where much is known, and more where `candidates` are given.
    hard : bool, default=False
        Satisfy all must-links and as many cannot-links as possible. The best method answers alone: a vote
        could break what each voter keeps.
    progress : bool or callable, default=False
        Show what is tried. True is tqdm; or give another with its signature.
    n_jobs : int or None, default=None
        How many threads a fit may use. None: all cores that OMP_NUM_THREADS allows, but one in a worker of
        joblib or Dask. -1: all cores.
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    random_state : int, RandomState or None, default=None
        Folds and candidates; an int makes the result reproducible.

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
    confidence_ : array of shape (n_samples,)
        How sure each label is, from 0 to 1: the confidence of those that voted, times the share that agrees.
    n_features_in_ : int
        The number of features.

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
    0.91
    """

    n_clusters: Any
    #: `predict` needs the data themselves.
    _keeps_data = True

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        affinity: str | GraphRecipe = "auto",
        candidates: Mapping[str, Any] | None = None,
        budget: int | str | None = None,
        hard: bool = False,
        progress: bool | Callable[..., Any] = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.candidates = candidates
        self.budget = budget
        self.hard = hard
        self.progress = progress
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        self._check_parameters()
        data = check_data(self, X)
        is_given = self.n_clusters != "auto"
        constraints = check_constraints(constraints, n_points(data), self.n_clusters if is_given else None)
        refuse_contradictions(self, constraints)
        if is_given:
            check_n_clusters(self.n_clusters, n_points(data))
        affinities = self._list_affinities(data)
        if constraints.is_empty:
            self._cut(data, affinities)
            return
        # The cut that votes is then the one that `NormalizedCut` makes with the same random state.
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        race = self._make_race(data, constraints, affinities, seed)
        self._finish(data, constraints, race, race.run())

    def _check_parameters(self) -> None:
        if isinstance(self.n_clusters, str) and self.n_clusters != "auto":
            raise ValueError(f"n_clusters={self.n_clusters!r} must be a whole number, at least 1, or 'auto'.")
        parse_budget(self.budget)
        check_flag("hard", self.hard)
        if self.candidates is not None and not isinstance(self.candidates, Mapping):
            raise TypeError(
                f"candidates={self.candidates!r} must be a dict of names and clusterers, such as "
                "{'E2CP': E2CP()}, or None."
            )
        if not isinstance(self.affinity, GraphRecipe) and self.affinity not in ("auto", "precomputed"):
            recipe(self.affinity)

    def _list_affinities(self, data: Any) -> dict[str, Any]:
        """Return the graphs to choose among; each is built once."""
        if isinstance(data, Graph):
            return {"the graph given": "precomputed"}
        if isinstance(self.affinity, str) and self.affinity == "auto":
            return {name: Shared(view) for name, view in list_views(data).items()}
        return {"the graph asked for": Shared(recipe(self.affinity))}

    # Nothing known

    def _cut(self, data: Any, affinities: dict[str, Any]) -> None:
        """Cut the usual graph: nothing is known that could speak for another."""
        graph, affinity = next(iter(affinities.items()))
        n_clusters = self.n_clusters
        if isinstance(n_clusters, str):
            n_clusters = choose_n_clusters(data, Constraints.none(n_points(data)), [], [affinity], 0)
        model = NormalizedCut(n_clusters, random_state=self.random_state)
        model.affinity = affinity
        candidate = Candidate(PLAIN, graph, model, verdict="chosen")
        self._remember(data, [model.fit(data)], n_clusters, [candidate], [candidate])

    # Something known

    def _make_race(self, data: Any, constraints: Constraints, affinities: dict[str, Any], seed: int) -> Race:
        pilot, known = draw_pilot(data, constraints, seed)
        folds = make_folds(known, seed)
        n_clusters = self.n_clusters
        if isinstance(n_clusters, str):
            n_clusters = choose_n_clusters(pilot, known, folds, [*affinities.values()], seed)
        is_free = isinstance(self.affinity, str) and self.affinity == "auto"
        return Race(
            pilot,
            known,
            folds,
            n_clusters,
            affinities,
            self._lean(pilot, affinities),
            self._list_methods(folds),
            seed,
            parse_budget(self.budget),
            VOTERS if pilot is data else VOTERS_OF_MANY,
            bool(self.hard),
            make_teller(self.progress),
            JOINERS if self.candidates is None and n_points(data) <= PILOT else {},
            is_free and can_learn(known, n_clusters),
        )

    def _list_methods(self, folds: list[Fold]) -> Mapping[str, Any]:
        """Return the methods to choose among: more of them where more is known."""
        if self.candidates is not None:
            return self.candidates
        return METHODS | THIRD if sum(len(fold.held_out) for fold in folds) >= MANY else METHODS

    def _lean(self, data: Any, affinities: dict[str, Any]) -> dict[str, float]:
        return {} if isinstance(data, Graph) else lean_by_units(data, affinities)

    def _finish(self, data: Any, constraints: Constraints, race: Race, chosen: list[Candidate]) -> None:
        """Fit what was chosen on all points, told everything."""
        models, kept = [], []
        # What one of several methods warns of is its own affair; what is wrong with the data is not.
        ignored = ConstraintWarning if len(chosen) > 1 else ()
        with _each_warning_once(ignored):
            for candidate in chosen:
                race.tell(f"{candidate.method}, told everything")
                try:
                    with stage(f"{candidate.method}, told everything"):
                        models.append(race.fit(candidate, data, constraints))
                    kept.append(candidate)
                except Exception as error:  # another may answer
                    candidate.verdict = f"failed: {type(error).__name__}: {error}"
            if not models:
                kept = [race.candidates[0]]
                kept[0].verdict = "chosen"
                models = [race.fit(kept[0], data, None)]
        self._remember(data, models, race.n_clusters, race.candidates, kept)

    def _remember(
        self,
        data: Any,
        models: list[Any],
        n_clusters: int,
        candidates: list[Candidate],
        chosen: list[Candidate],
    ) -> None:
        shared = getattr(models[0], "affinity", None)
        self._seen = (data, shared.build(data)) if isinstance(shared, Shared) else (None, None)
        for model in models:
            if hasattr(model, "affinity"):
                model.affinity = unshared(model.affinity)
        self.best_estimator_ = models[0]
        if len(models) > 1:
            named = [
                (candidate.method, clone(model)) for candidate, model in zip(chosen, models, strict=True)
            ]
            self.best_estimator_ = Consensus(named).gather(models)
        self.labels_ = self.best_estimator_.labels_
        self.n_clusters_ = int(n_clusters)
        self.candidates_ = tabulate(candidates)
        self.explanation_ = explain(candidates, chosen, self.n_clusters_, self.n_clusters == "auto")

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
        old, graph = self._seen
        edges, twins = graph.extension.edges(old, X)
        return vote_of_neighbors(edges, twins, self.labels_)

    def _measure_confidence(self) -> FloatArray:
        """Return how sure the chosen methods are, as far as they say so, times the share that agrees."""
        best = self.best_estimator_
        models = best.estimators_ if isinstance(best, Consensus) else [best]
        agreement = best.agreement_ if isinstance(best, Consensus) else np.ones(len(self.labels_))
        said = [model.confidence_ for model in models if hasattr(model, "confidence_")]
        return agreement * np.mean(said, axis=0) if said else agreement

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome and when X is a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.positive_only = is_precomputed(self)
        return tags


def make_folds(constraints: Constraints, seed: int) -> list[Fold]:
    """Return the folds candidates are compared by, none where too little is known.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    seed : int
        For the folds.
    """
    if constraints.is_empty or KnownPairs(constraints, np.random.RandomState(seed)).n_facts < FEW:
        return []
    return list(ConstraintFolds(N_FOLDS, random_state=seed).split(constraints))


def draw_pilot(data: Any, constraints: Constraints, seed: int) -> tuple[Any, Constraints]:
    """Return the points candidates run on, and what is known about them: all, or a sample of many.

    Parameters
    ----------
    data : array, sparse matrix or Graph
        The points. A graph is not sampled: it would fall to pieces.
    constraints : Constraints
        What is known.
    seed : int
        For the sample.
    """
    n_samples = n_points(data)
    if n_samples <= PILOT or isinstance(data, Graph):
        return data, constraints
    rng = np.random.default_rng(seed)
    # Half of the pilot may be known points, so that there is a graph between them.
    known = _draw_known(constraints, PILOT // 2, rng)
    others = np.setdiff1d(np.arange(n_samples), known)
    rows: npt.NDArray[np.intp] = np.sort(
        np.concatenate([known, rng.choice(others, PILOT - len(known), replace=False)])
    )
    return data[rows], constraints.restricted_to(rows)


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
    knowledge = consistent(constraints).contracted()
    part = independent_parts(knowledge)[knowledge.component]
    turn = rng.permutation(part.max(initial=0) + 1)[part] + rng.random(len(part))
    return knowledge.points[np.argsort(turn)[:count]]
