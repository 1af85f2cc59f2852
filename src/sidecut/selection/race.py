"""The race: graphs first, then methods, fold by fold; losers are dropped early."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.methods import NormalizedCut
from sidecut.progress import stage
from sidecut.selection.budget import Budget
from sidecut.selection.candidate import Candidate, believe
from sidecut.selection.consensus import vote
from sidecut.selection.folds import Fold, hold_everything_out
from sidecut.selection.learned import LEARNED, Believed, Learning

#: What the cut without constraints is called in the table, the vote of several, and what a classifier says.
PLAIN, VOTE, CLASSIFIER = "NormalizedCut", "vote", "classifier"
#: What a classifier has for a graph.
LABELS = "the labels alone"
SPENT = "the budget was spent"
#: So many methods try every graph, the scouts; of others so many are tried on all folds of the best graph.
SCOUTS, FINALISTS = 2, 2
#: Another graph is tried on the first fold only if less is believed of it than of the usual one by this.
HOPELESS = 0.1
#: What one candidate gains over all of its graph is believed by so much: the rest is luck.
TRUST = 0.6
#: The vote on the usual graph is left for an answer that is believed to be better than its cut by this.
NOTEWORTHY = 0.02


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
    joiners : mapping of str to clusterer
        Methods that are not tried, and vote in the end if others do.
    learns : bool
        Whether a graph that learns from the labels is tried, too.
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
    joiners: Mapping[str, Any] = field(default_factory=dict)
    learns: bool = False
    candidates: list[Candidate] = field(default_factory=list)

    def run(self) -> list[Candidate]:
        """Return the candidates to be fitted with all constraints: one, or those that vote."""
        teams = self._compare_graphs()
        if self.learns and self.folds:
            teams += self._try_learning(max(teams, key=self._believe_in))
        best = max((team for team in teams if team[0].method != CLASSIFIER), key=self._believe_in)
        best += self._compare_methods(best[0].graph)
        if self.hard:
            return self._tell_verdicts(self._choose_one(best))
        votes = [self._let_vote(team) if len(team) > 1 else team[0] for team in teams]
        return self._tell_verdicts(self._choose(teams, votes))

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
        cuts = [self._enter(PLAIN, graph, NormalizedCut()) for graph in [*self.affinities][:n_graphs]]
        for cut in cuts:
            self._cut(cut)
        return [[cut, *self._enter_methods(cut.graph, [*self.methods][:SCOUTS])] for cut in cuts]

    def _keep_hopeful(self, teams: list[list[Candidate]]) -> list[list[Candidate]]:
        least = self._believe_in(teams[0]) - HOPELESS
        kept = [team for team in teams if team is teams[0] or self._believe_in(team) >= least]
        for team in teams:
            for candidate in team if team not in kept else []:
                candidate.verdict = candidate.verdict or "another graph suits what is known better"
        return kept

    def _try_learning(self, team: list[Candidate]) -> list[list[Candidate]]:
        """Return the scouts on a graph whose edges are weighed by a classifier, and the classifier itself.

        The graph is made from that of the given team. In every fold the classifier learns anew, from what is
        told there alone. It has no graph to be believed by, and stands for itself.
        """
        graph = team[0].graph + LEARNED
        learning = Learning(self.affinities[team[0].graph], self.seed)
        self.affinities = {**self.affinities, graph: learning, LABELS: learning}
        self.leanings = {**self.leanings, graph: team[0].leaning}
        scouts = self._enter_methods(graph, [*self.methods][:SCOUTS])
        # What a classifier says may break links.
        alone = [] if self.hard else [self._enter(CLASSIFIER, LABELS, Believed())]
        for fold in self.folds:
            for candidate in scouts + alone:
                self._try(candidate, fold)
        return [candidates for candidates in (scouts, alone) if candidates]

    def _cut(self, candidate: Candidate) -> None:
        """Fit once: what is not told anything has the same answer in all folds."""
        labels = self._answer(candidate, None)
        if labels is None:
            return
        # Without folds everything known can judge it.
        for fold in self.folds or hold_everything_out(self.constraints):
            self._score(candidate, fold, labels)

    # Methods

    def _compare_methods(self, graph: str) -> list[Candidate]:
        """Try methods that are no scouts on the first fold, and the best of them on the other folds."""
        candidates = self._enter_methods(graph, [*self.methods][SCOUTS:])
        for number, fold in enumerate(self.folds):
            for candidate in candidates:
                self._try(candidate, fold)
            candidates = sorted(
                (e for e in candidates if not e.failed), key=lambda candidate: -self._gain(candidate)
            )
            if number == 0:
                for candidate in candidates[FINALISTS:]:
                    candidate.verdict = candidate.verdict or "dropped after one fold, others were better"
            candidates = candidates[:FINALISTS]
        return candidates[:FINALISTS]

    def _enter_methods(self, graph: str, names: list[str]) -> list[Candidate]:
        return [self._enter(name, graph, self.methods[name]) for name in names]

    def _try(self, candidate: Candidate, fold: Fold) -> None:
        labels = None if candidate.failed else self._answer(candidate, fold.train)
        if labels is not None:
            self._score(candidate, fold, labels)

    # Beliefs

    def _gain(self, candidate: Candidate) -> float:
        """Return how much better than the cut of the usual graph a candidate has done; 0 if not tried."""
        return float(np.nan_to_num(candidate.gain_over(self.candidates[0])))

    def _mean_gain(self, team: list[Candidate]) -> float:
        """Return the mean gain of those on a graph that have answered."""
        gains = [self._gain(candidate) for candidate in team if candidate.counts and not candidate.failed]
        return float(np.mean(gains)) if gains else 0.0

    def _believe_in(self, team: list[Candidate]) -> float:
        """Return by how much a graph is believed to be better than the usual one."""
        return believe(self._mean_gain(team), team[0].leaning, max(each.held_out for each in team))

    def _believe(self, candidate: Candidate, team: list[Candidate]) -> float:
        """Return by how much a candidate is believed to be better than the cut of the usual graph.

        What is believed of its graph, and a part of what the candidate gains over that.
        """
        own = self._gain(candidate) - self._mean_gain(team) if candidate.counts else 0.0
        return self._believe_in(team) + TRUST * believe(own, 0.0, candidate.held_out)

    # Choice

    def _let_vote(self, members: list[Candidate]) -> Candidate:
        """Enter the vote of some candidates, and score it on the folds that all of them answered."""
        members = [member for member in members if not member.failed][: self.n_voters]
        best = members[0] if members else self.candidates[0]
        together = self._enter(VOTE, best.graph, None)
        together.members = members
        answered = zip(*(member.answers for member in members), strict=False) if self.folds else ()
        for fold, answers in zip(self.folds, answered, strict=False):
            self._score(together, fold, vote(answers))
        return together

    def _choose(self, teams: list[list[Candidate]], votes: list[Candidate]) -> Candidate:
        """Return who answers: the vote on the usual graph, or who is believed to be better."""
        beliefs = []
        for team, together in zip(teams, votes, strict=True):
            beliefs.append((self._believe(together, team), together))
            alone = [one for one in team if one.method != PLAIN and one.counts and not one.failed]
            beliefs += [(self._believe(candidate, team), candidate) for candidate in alone]
        belief, best = max(beliefs, key=lambda pair: pair[0])
        return best if belief > NOTEWORTHY else votes[0]

    def _choose_one(self, team: list[Candidate]) -> Candidate:
        """Return the best method on a graph that answers alone."""
        able = [one for one in team if one.method != PLAIN and not one.failed] or team
        return max(able, key=self._gain)

    def _tell_verdicts(self, best: Candidate) -> list[Candidate]:
        chosen = self._list_voters(best) if best.method == VOTE and best.members else [best]
        for candidate in self.candidates:
            is_member = any(candidate is member for member in chosen)
            if is_member and len(chosen) > 1:
                candidate.verdict = "in the vote" if candidate.counts else "in the vote, not compared"
            elif candidate is best or is_member:
                candidate.verdict = "chosen"
            else:
                candidate.verdict = candidate.verdict or "others were better, or not better beyond luck"
        return chosen

    def _list_voters(self, best: Candidate) -> list[Candidate]:
        """Return the members of a vote, and those that join them: where folds have judged the graph."""
        there = {member.method for member in best.members}
        joiners = [(name, model) for name, model in self.joiners.items() if self.folds and name not in there]
        return best.members + [self._enter(name, best.graph, model) for name, model in joiners]

    # Work

    def _enter(self, method: str, graph: str, model: Any) -> Candidate:
        candidate = Candidate(method, graph, model, self.leanings.get(graph, 0.0))
        self.candidates.append(candidate)
        return candidate

    def fit(self, candidate: Candidate, data: Any, told: Constraints | None) -> Any:
        """Return the method of a candidate, fitted on its graph; the plain cut is told nothing."""
        # What folds have judged need not judge itself.
        own = {"safe": False} if self.folds else {}
        told = None if candidate.method == PLAIN else told
        return self._make(candidate, told, **own).fit(data, constraints=told)

    def _make(self, candidate: Candidate, told: Constraints | None, **own: Any) -> Any:
        """Return the candidate's method, not fitted, with its graph and with what all have in common."""
        model = clone(candidate.model)
        own |= {"n_clusters": self.n_clusters, "random_state": self.seed, "hard": self.hard}
        settings = {name: value for name, value in own.items() if name in model.get_params(deep=False)}
        model.set_params(**settings)
        if hasattr(model, "affinity"):
            # Set, not cloned: the graph behind it is shared.
            affinity = self.affinities[candidate.graph]
            model.affinity = affinity.told(told) if isinstance(affinity, Learning) else affinity
        return model

    def _answer(self, candidate: Candidate, told: Constraints | None) -> IntArray | None:
        if not self.budget.spend():
            candidate.verdict = SPENT
            return None
        self.tell(f"{candidate.method}, {candidate.graph}")
        start = time.perf_counter()
        try:
            # The folds judge; a method that judges itself as well would take twice as long.
            model = self._make(candidate, told, safe=False)
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
        candidate.held_out += len(fold.held_out)
