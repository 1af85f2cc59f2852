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
from sidecut.selection.consensus import vote
from sidecut.selection.entry import SCOUTS, Entry, IntArray, expected_gain
from sidecut.selection.folds import Fold
from sidecut.selection.purse import Purse

#: What the cut without constraints is called in the table, and the vote of the best.
PLAIN, VOTE = "NormalizedCut", "vote"
SPENT = "the budget was spent"
#: So many graphs are tried on all folds, after all were tried on the first.
GRAPH_FINALISTS = 2
#: So many methods, scouts included, are tried on all folds of the best graph.
FINALISTS = 4
#: One answer is preferred to the vote only where its score is better by this.
CLEARLY = 0.25


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
    purse : Purse
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
    purse: Purse
    n_voters: int
    hard: bool
    tell: Callable[[str], None]
    entries: list[Entry] = field(default_factory=list)

    def run(self) -> list[Entry]:
        """Return the candidates to be fitted with all constraints: the best one, or those that vote."""
        plain, *scouts = self._compare_graphs()
        finalists = scouts + self._compare_methods(plain, scouts)
        return self._choose(finalists if self.hard and finalists else [plain, *finalists])

    # Graphs

    def _compare_graphs(self) -> list[Entry]:
        """Return the cut and the scouts on the best graph.

        Every graph is cut without constraints, and two methods try it on the first fold, the
        scouts; on the two best graphs they try all folds.
        """
        teams = self._enter_teams()
        for number, fold in enumerate(self.folds):
            for team in teams:
                for scout in team[1:]:
                    self._try(scout, fold)
            if number == 0:
                teams = self._keep_best(teams, GRAPH_FINALISTS)
        return self._keep_best(teams, 1)[0]

    def _enter_teams(self) -> list[list[Entry]]:
        """Enter for every graph the cut, which is made, and the scouts."""
        # Of a small budget, most is for the methods.
        n_graphs = int(max(1, min(self.purse.fits / 8, len(self.affinities))))
        cuts = [self._enter(PLAIN, graph, NormalizedCut(), 0.0) for graph in [*self.affinities][:n_graphs]]
        for cut in cuts:
            self._cut(cut)
        usual = 0.5 if np.isnan(cuts[0].score) else cuts[0].score
        for cut in cuts:
            cut.expected = usual + self.leanings.get(cut.graph, 0.0)
        return [[cut, *self._enter_methods(cut, self._by_experience()[:2])] for cut in cuts]

    def _keep_best(self, teams: list[list[Entry]], n_kept: int) -> list[list[Entry]]:
        order = sorted(teams, key=_mean_belief, reverse=True)
        for team in order[n_kept:]:
            for entry in team:
                entry.verdict = entry.verdict or "another graph suits what is known better"
        return order[:n_kept]

    def _cut(self, entry: Entry) -> None:
        """Fit once: what is not told anything has the same answer in all folds."""
        labels = self._answer(entry, None)
        if labels is None:
            return
        for fold in self.folds:
            self._score(entry, fold, labels)

    # Methods

    def _compare_methods(self, plain: Entry, scouts: list[Entry]) -> list[Entry]:
        """Try the other methods on the first fold and the best of them on the other folds."""
        n_kept = FINALISTS - len(scouts)
        entries = self._enter_methods(plain, self._by_experience()[2:])
        for number, fold in enumerate(self.folds):
            for entry in entries:
                self._try(entry, fold)
            entries = sorted((e for e in entries if not e.failed), key=lambda entry: -entry.belief)
            if number == 0:
                for entry in entries[n_kept:]:
                    entry.verdict = entry.verdict or "dropped after one fold, others were better"
            entries = entries[:n_kept]
        return entries[:n_kept]

    def _by_experience(self) -> list[str]:
        """Return the names of the methods: the scouts, then by what is expected of them."""
        return sorted(
            self.methods, key=lambda name: (name not in SCOUTS, -expected_gain(name, self.constraints))
        )

    def _enter_methods(self, plain: Entry, names: list[str]) -> list[Entry]:
        return [
            self._enter(
                name, plain.graph, self.methods[name], plain.expected + expected_gain(name, self.constraints)
            )
            for name in names
        ]

    def _try(self, entry: Entry, fold: Fold) -> None:
        labels = None if entry.failed else self._answer(entry, fold.train)
        if labels is not None:
            self._score(entry, fold, labels)

    # Choice

    def _choose(self, entries: list[Entry]) -> list[Entry]:
        """Return the voters, or the best alone; who was not compared for want of budget does not vote."""
        entries = sorted((e for e in entries if not e.failed), key=lambda entry: -entry.belief) or entries[:1]
        for entry in entries:
            entry.verdict = entry.verdict or "others were better"
        voters = [entry for entry in entries if entry.verdict != SPENT or entry.counts][: self.n_voters]
        best = entries[0]
        together = self._enter(VOTE, best.graph, None, best.expected)
        self._let_vote(together, voters)
        if self.hard or len(voters) < 3 or best.belief > together.belief + CLEARLY:
            together.verdict, best.verdict = "one answers alone", "chosen"
            return [best]
        together.verdict = "chosen"
        for entry in voters:
            entry.verdict = "in the vote"
        return voters

    def _let_vote(self, together: Entry, voters: list[Entry]) -> None:
        for number, fold in enumerate(self.folds):
            answers = [entry.answers[number] for entry in voters if len(entry.answers) > number]
            if answers:
                self._score(together, fold, vote(answers))

    # Work

    def _enter(self, method: str, graph: str, model: Any, expected: float) -> Entry:
        entry = Entry(method, graph, model, expected)
        self.entries.append(entry)
        return entry

    def fit(self, entry: Entry, data: Any, told: Constraints | None) -> Any:
        """Return the entry's method with its graph, fitted; the cut without constraints is told nothing."""
        return self._make(entry).fit(data, constraints=None if entry.method == PLAIN else told)

    def _make(self, entry: Entry, **own: Any) -> Any:
        """Return the entry's method, not fitted, with its graph and with what all have in common."""
        model = clone(entry.model)
        own |= {"n_clusters": self.n_clusters, "random_state": self.seed, "hard": self.hard}
        settings = {name: value for name, value in own.items() if name in model.get_params(deep=False)}
        model.set_params(**settings)
        if hasattr(model, "affinity"):
            # Set, not cloned: the graph behind it is shared.
            model.affinity = self.affinities[entry.graph]
        return model

    def _answer(self, entry: Entry, told: Constraints | None) -> IntArray | None:
        if not self.purse.pay():
            entry.verdict = SPENT
            return None
        self.tell(f"{entry.method}, {entry.graph}")
        start = time.perf_counter()
        try:
            # The folds judge; a method that judges itself as well would take twice as long.
            model = self._make(entry, safe=False)
            with warnings.catch_warnings(action="ignore", category=SidecutWarning):
                return model.fit(self.data, constraints=told).labels_
        except Exception as error:  # whatever is wrong with one method, another may answer
            entry.failed = True
            entry.verdict = f"failed: {type(error).__name__}: {error}"
            return None
        finally:
            entry.seconds += time.perf_counter() - start

    def _score(self, entry: Entry, fold: Fold, labels: IntArray) -> None:
        entry.answers.append(labels)
        entry.counts.append(fold.count(labels))
        entry.held_out += len(fold.held_out)


def _mean_belief(team: list[Entry]) -> float:
    """Return what is believed of a graph: the mean over those that answered on it."""
    return float(np.mean([entry.belief for entry in team if not entry.failed] or [-np.inf]))
