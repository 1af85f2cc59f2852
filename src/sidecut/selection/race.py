"""The race: graphs first, then methods, fold by fold; losers are dropped early."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.methods import NormalizedCut
from sidecut.progress import stage
from sidecut.selection.budget import Budget
from sidecut.selection.candidate import SCOUTS, Candidate, IntArray, expected_gain
from sidecut.selection.consensus import vote
from sidecut.selection.folds import Fold, hold_everything_out

#: What the cut without constraints is called in the table, and the vote of several.
PLAIN, VOTE = "NormalizedCut", "vote"
SPENT = "the budget was spent"
#: Another graph is tried on the first fold only if less is believed of it than of the usual one by this.
HOPELESS = 0.1
#: So many methods, scouts included, are tried on all folds of the best graph.
FINALISTS = 4
#: The usual graph is left for an answer whose score is better than that of its cut by the first number and so
#: many standard errors: for one method alone more than for a vote.
NOTEWORTHY, LUCK, LUCK_OF_ONE = 0.02, 1.0, 2.0
#: The cut of the usual graph is left for the vote on it if the score is not worse by so many.
LUCK_OF_USUAL = 0.5


@dataclass
class Race:
    """Candidates, and what they run on.

    Parameters
    ----------
    data : array, sparse matrix or Graph
        The points, or the graph itself.
    constraints : Constraints
        What is known about them.
    folds : list of Fold
        Splits of the constraints; without any, experience decides.
    n_clusters : int
        The number of clusters.
    affinities : mapping of str to affinity
        The graphs by name, the usual one first; each is a recipe, or "precomputed".
    leanings : mapping of str to float
        What experience expects of some of the graphs, over the usual one.
    methods : mapping of str to clusterer
        The methods by name, not fitted.
    seed : int
        The random state of all.
    budget : Budget
        What the race may cost.
    n_voters : int
        At most so many answers vote.
    hard : bool
        Whether all must-links have to be satisfied.
    tell : callable
        Told what is tried next.
    """

    data: Any
    constraints: Constraints
    folds: list[Fold]
    n_clusters: int
    affinities: Mapping[str, Any]
    leanings: Mapping[str, float]
    methods: Mapping[str, Any]
    seed: int
    budget: Budget
    n_voters: int
    hard: bool
    tell: Callable[[str], None]
    candidates: list[Candidate] = field(default_factory=list)

    def run(self) -> list[Candidate]:
        """Return the candidates to be fitted with all constraints: one, or those that vote."""
        teams = self._compare_graphs()
        plain, *scouts = max(teams, key=_mean_belief)
        finalists = self._compare_methods(plain, scouts)
        if self.hard:
            return [self._choose_one(teams[0][0], [*scouts, *finalists] or [plain])]
        votes = [self._let_vote(team) for team in teams]
        if finalists and self.n_voters > len([plain, *scouts]):
            votes.append(self._let_vote([plain, *scouts, *finalists][: self.n_voters]))
        return self._choose(votes, [*scouts, *finalists])

    # Graphs

    def _compare_graphs(self) -> list[list[Candidate]]:
        """Return for every graph the cut and the scouts, the usual graph first.

        Every graph is cut without constraints, and two methods try it fold by fold, the scouts. A graph that
        looks hopeless after the first fold is given up, never the usual one.
        """
        teams = self._enter_teams()
        for number, fold in enumerate(self.folds):
            for team in teams:
                for scout in team[1:]:
                    self._try(scout, fold)
            if number == 0:
                teams = self._keep_hopeful(teams)
        return teams

    def _enter_teams(self) -> list[list[Candidate]]:
        """Enter for every graph the cut, which is made, and the scouts."""
        # Of a small budget, most is for the methods.
        n_graphs = int(max(1, min(self.budget.fits / 8, len(self.affinities))))
        cuts = [self._enter(PLAIN, graph, NormalizedCut(), 0.0) for graph in [*self.affinities][:n_graphs]]
        for cut in cuts:
            self._cut(cut)
        usual = 0.5 if np.isnan(cuts[0].score) else cuts[0].score
        for cut in cuts:
            cut.leaning = self.leanings.get(cut.graph, 0.0)
            cut.expected = usual + cut.leaning
        return [[cut, *self._enter_methods(cut, self._by_experience()[:2])] for cut in cuts]

    def _keep_hopeful(self, teams: list[list[Candidate]]) -> list[list[Candidate]]:
        least = _mean_belief(teams[0]) - HOPELESS
        kept = [team for team in teams if team is teams[0] or _mean_belief(team) >= least]
        for team in teams:
            for candidate in team if team not in kept else []:
                candidate.verdict = candidate.verdict or "another graph suits what is known better"
        return kept

    def _cut(self, candidate: Candidate) -> None:
        """Fit once: what is not told anything has the same answer in all folds."""
        labels = self._answer(candidate, None)
        if labels is None:
            return
        # Without folds everything known can judge it.
        for fold in self.folds or hold_everything_out(self.constraints):
            self._score(candidate, fold, labels)

    # Methods

    def _compare_methods(self, plain: Candidate, scouts: list[Candidate]) -> list[Candidate]:
        """Try the other methods on the first fold and the best of them on the other folds."""
        n_kept = FINALISTS - len(scouts)
        candidates = self._enter_methods(plain, self._by_experience()[2:])
        for number, fold in enumerate(self.folds):
            for candidate in candidates:
                self._try(candidate, fold)
            candidates = sorted(
                (e for e in candidates if not e.failed), key=lambda candidate: -candidate.belief
            )
            if number == 0:
                for candidate in candidates[n_kept:]:
                    candidate.verdict = candidate.verdict or "dropped after one fold, others were better"
            candidates = candidates[:n_kept]
        return candidates[:n_kept]

    def _by_experience(self) -> list[str]:
        """Return the names of the methods: the scouts, then by what is expected of them."""
        return sorted(
            self.methods, key=lambda name: (name not in SCOUTS, -expected_gain(name, self.constraints))
        )

    def _enter_methods(self, plain: Candidate, names: list[str]) -> list[Candidate]:
        candidates = []
        for name in names:
            expected = plain.expected + expected_gain(name, self.constraints)
            candidates.append(self._enter(name, plain.graph, self.methods[name], expected))
            candidates[-1].leaning = plain.leaning
        return candidates

    def _try(self, candidate: Candidate, fold: Fold) -> None:
        labels = None if candidate.failed else self._answer(candidate, fold.train)
        if labels is not None:
            self._score(candidate, fold, labels)

    # Choice

    def _let_vote(self, members: list[Candidate]) -> Candidate:
        """Enter the vote of some candidates, and score it on the folds that all of them answered."""
        members = [member for member in members if not member.failed]
        best = members[0] if members else self.candidates[0]
        together = self._enter(VOTE, best.graph, None, best.expected)
        together.leaning, together.members = best.leaning, members
        answered = zip(*(member.answers for member in members), strict=False) if self.folds else ()
        for fold, answers in zip(self.folds, answered, strict=False):
            self._score(together, fold, vote(answers))
        return together

    def _choose(self, votes: list[Candidate], alone: list[Candidate]) -> list[Candidate]:
        """Return who answers: the cut of the usual graph, the vote on it, or who is surely better."""
        usual = self.candidates[0]
        gains = {id(together): together.sure_gain_over(usual, LUCK) for together in votes}
        for together in votes:
            # A graph whose cut alone is clearly better is better for the vote on it too.
            if together.members and together.members[0].method == PLAIN and not self._is_outdone(together):
                gain = together.members[0].sure_gain_over(usual, LUCK)
                gains[id(together)] = max(gains[id(together)], gain)
        tried = [candidate for candidate in alone if not candidate.failed and candidate.counts]
        gains |= {id(candidate): candidate.sure_gain_over(usual, LUCK_OF_ONE) for candidate in tried}
        best = max([*votes, *tried], key=lambda candidate: gains[id(candidate)])
        if gains[id(best)] <= NOTEWORTHY:
            best = votes[0] if votes[0].sure_gain_over(usual, LUCK_OF_USUAL) >= 0 else usual
        return self._tell_verdicts(best)

    def _is_outdone(self, together: Candidate) -> bool:
        """Tell whether a vote is worse than the cut that takes part in it."""
        return bool(together.counts) and together.gain_over(together.members[0])[0] < 0

    def _choose_one(self, usual: Candidate, candidates: list[Candidate]) -> Candidate:
        """Return the best candidate that answers alone."""
        able = [candidate for candidate in candidates if not candidate.failed] or candidates
        best = max(able, key=lambda candidate: (candidate.sure_gain_over(usual, LUCK), candidate.belief))
        return self._tell_verdicts(best)[0]

    def _tell_verdicts(self, best: Candidate) -> list[Candidate]:
        chosen = best.members if best.method == VOTE and best.members else [best]
        for candidate in self.candidates:
            is_member = any(candidate is member for member in chosen)
            if is_member and len(chosen) > 1:
                candidate.verdict = "in the vote"
            elif candidate is best or is_member:
                candidate.verdict = "chosen"
            else:
                candidate.verdict = candidate.verdict or "others were better, or not better beyond luck"
        return chosen

    # Work

    def _enter(self, method: str, graph: str, model: Any, expected: float) -> Candidate:
        candidate = Candidate(method, graph, model, expected)
        self.candidates.append(candidate)
        return candidate

    def fit(self, candidate: Candidate, data: Any, told: Constraints | None) -> Any:
        """Return the method of a candidate, fitted on its graph; the plain cut is told nothing."""
        # What folds have judged need not judge itself.
        own = {"safe": False} if self.folds else {}
        return self._make(candidate, **own).fit(data, constraints=None if candidate.method == PLAIN else told)

    def _make(self, candidate: Candidate, **own: Any) -> Any:
        """Return the candidate's method, not fitted, with its graph and with what all have in common."""
        model = clone(candidate.model)
        own |= {"n_clusters": self.n_clusters, "random_state": self.seed, "hard": self.hard}
        settings = {name: value for name, value in own.items() if name in model.get_params(deep=False)}
        model.set_params(**settings)
        if hasattr(model, "affinity"):
            # Set, not cloned: the graph behind it is shared.
            model.affinity = self.affinities[candidate.graph]
        return model

    def _answer(self, candidate: Candidate, told: Constraints | None) -> IntArray | None:
        if not self.budget.spend():
            candidate.verdict = SPENT
            return None
        self.tell(f"{candidate.method}, {candidate.graph}")
        start = time.perf_counter()
        try:
            # The folds judge; a method that judges itself as well would take twice as long.
            model = self._make(candidate, safe=False)
            with (
                warnings.catch_warnings(action="ignore", category=SidecutWarning),
                stage(f"{candidate.method}, {candidate.graph}"),
            ):
                return model.fit(self.data, constraints=told).labels_
        except Exception as error:  # whatever is wrong with one method, another may answer
            candidate.failed = True
            candidate.verdict = f"failed: {type(error).__name__}: {error}"
            return None
        finally:
            candidate.seconds += time.perf_counter() - start

    def _score(self, candidate: Candidate, fold: Fold, labels: IntArray) -> None:
        candidate.answers.append(labels)
        candidate.counts.append(fold.count(labels))
        candidate.by_point.append(fold.count_by_point(labels))


def _mean_belief(team: list[Candidate]) -> float:
    """Return what is believed of a graph: the mean over those that answered on it."""
    return float(np.mean([candidate.belief for candidate in team if not candidate.failed] or [-np.inf]))
