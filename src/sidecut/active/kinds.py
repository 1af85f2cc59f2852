"""Pairs, labels and sets: which kind of question brings most for its cost.

One rule compares them: the number of pairs of points that the answer is expected to regroup, per cost. Let
W_ab = p_ab |a| |b| for two classes that may be one (`merge_gains`). For a point x whose likeliest class is a,
G_xa = m(x)(1 - p_a)|a| and G_xc = m(x) p_c |c| for the others (`expected_change`) say what it brings to know
whether x is of the class. The numbers are

    pair    W_ab, or Σ_c G_xc / Σ i p_(i): x is compared with its likeliest class first, then with the next;
    label   of x: Σ G_xc over the classes c that have a name, since nothing is known of others;
            of a class a without a name: Σ_b W_ab v_b + max_x G_xa / 2, with v = 1 for a class with a name and
            else 1/2, since it takes two labels to compare two things without names;
    set     Σ W_ab over the classes a, b in it + Σ G_xc (1 - r_x²) over its points x and classes c, where r_x
            is the largest correlation of x with a point chosen before.

Each is multiplied by the share of earlier gains that questions of this strategy reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sidecut.active.belief import Belief
from sidecut.active.records import MAX_SET, Answer, ClassAnswer, Record, SetAnswer
from sidecut.active.strategies import (
    MAX_CANDIDATES,
    Proposal,
    Strategy,
    doubt_of_placed,
    doubtful_sets,
    doubts,
    influence,
    kept_share,
    largest,
    merge_gains,
    regrouping,
)
from sidecut.checks import BoolArray, FloatArray, IntArray


def choose_question(
    belief: Belief,
    history: Sequence[Record],
    rng: np.random.RandomState,
    costs: Mapping[str, float],
    strategy: Strategy,
) -> Proposal | None:
    """Return the question, of the kinds that have a cost, with the largest expected gain per cost."""
    answers = [record for record in history if isinstance(record, Answer)]
    pair = strategy(belief, answers, rng) if "pair" in costs else None
    if len(costs) == 1 and "pair" in costs:
        return pair
    options = Options(belief, history, answers, rng)
    found = {
        "pair": None if pair is None else (pair, pair.gain / options.n_comparisons(pair)),
        "label": options.label() if "label" in costs else None,
        "set": options.set() if "set" in costs else None,
    }
    best, most = pair, -1.0
    for kind, option in found.items():
        if option is None:
            continue
        proposal, gain = option
        value = gain * kept_share(proposal.strategy, history) / costs[kind]
        if value > most:
            best, most = proposal, value
    return best


@dataclass(frozen=True)
class Options:
    """What labels and sets would bring."""

    belief: Belief
    history: Sequence[Record]
    answers: list[Answer]
    rng: np.random.RandomState

    @cached_property
    def merges(self) -> FloatArray:
        """W, symmetric."""
        if self.belief.n_classes < 2:
            return np.zeros((self.belief.n_classes,) * 2)
        gain = merge_gains(self.belief, self.answers)[0]
        return gain + gain.T

    @cached_property
    def skipped(self) -> dict[str, set[int]]:
        """The micro-clusters that a person was unsure of, or that were asked about in this way."""
        index_of = self.belief.precomputed.micro_clusters.index_of
        labelled = {int(index_of[r.i]) for r in self.history if isinstance(r, ClassAnswer)}
        in_sets = [int(index_of[i]) for r in self.history if isinstance(r, SetAnswer) for i in r.points]
        unsure = {
            int(index_of[i])
            for r in self.history
            if isinstance(r, SetAnswer)
            for i, group in zip(r.points, r.groups, strict=True)
            if group is None
        }
        often = {node for node in set(in_sets) if in_sets.count(node) >= MAX_SET}
        return {"label": labelled, "point": unsure | often, "class": unsure}

    @cached_property
    def candidates(self) -> IntArray:
        """Points whose class is in doubt."""
        belief = self.belief
        found = largest(regrouping(belief) * belief.variances, MAX_CANDIDATES)
        # If all points seem sure, some may still be wrong.
        if not len(found):
            found = largest(np.where(belief.is_placed, 0.0, belief.variances), MAX_CANDIDATES)
        return found if len(found) else largest(doubt_of_placed(belief), MAX_CANDIDATES)

    @cached_property
    def gains(self) -> FloatArray:
        """G: what it brings to know whether a candidate (row) is of a class (column)."""
        belief, x = self.belief, self.candidates
        gains = belief.chances[x] * belief.class_sizes
        own = belief.labels[x]
        gains[np.arange(len(x)), own] = (1.0 - belief.chances[x, own]) * belief.class_sizes[own]
        return np.maximum(gains * influence(belief, x)[:, None], 1e-9)

    @cached_property
    def named(self) -> BoolArray:
        """Which classes have a name."""
        groups, index_of = self.belief.groups, self.belief.precomputed.micro_clusters.index_of
        found = {
            groups.group_of(int(index_of[record.i]))
            for record in self.history
            if isinstance(record, ClassAnswer) and record.name is not None
        }
        return np.isin(self.belief.classes, [group for group in found if group is not None])

    def representative(self, column: int, skipped: set[int]) -> int | None:
        """Return the most typical known member of a class."""
        members = self.belief.members(column)
        members = members[~np.isin(members, list(skipped))]
        if not len(members):
            return None
        alike = self.belief.kernel[np.ix_(members, self.belief.labels == column)].sum(axis=1)
        return int(members[np.argmax(alike)])

    def n_comparisons(self, pair: Proposal) -> float:
        """Return Σ i p_(i) for a question about a point, 1 for one about two classes."""
        if pair.closeness > 0:
            return 1.0
        chances = -np.sort(-self.belief.chances[pair.a])
        return float(chances @ np.arange(1, len(chances) + 1))

    def label(self) -> tuple[Proposal, float] | None:
        """Return the point whose name brings most, and the gain."""
        belief = self.belief
        by_class = self.merges @ np.where(self.named, 1.0, 0.5) + 0.5 * self.gains.max(axis=0, initial=0.0)
        by_class[self.named] = 0.0
        by_point = self.gains @ self.named
        nodes: list[tuple[float, int, str]] = []
        for column in np.argsort(-by_class)[:5]:
            node = self.representative(int(column), self.skipped["label"]) if by_class[column] > 0 else None
            if node is not None:
                reason = f"a group of about {belief.class_sizes[column]:.0f} points has no name yet"
                nodes.append((float(by_class[column]), node, reason))
        for at in np.argsort(-by_point):
            x = int(self.candidates[at])
            if x not in self.skipped["label"]:
                share = belief.chances[x].max()
                reason = f"point {{{x}}} is in its group with a chance of {share:.0%}, and others follow it"
                nodes.append((float(by_point[at]), x, reason))
                break
        # Where answers may be wrong, a label may check one.
        for check in (doubts(belief, self.answers, self.rng), doubtful_sets(belief, self.answers, self.rng)):
            open_ends = [] if check is None else [x for x in check.nodes if x not in self.skipped["label"]]
            if check is not None and open_ends:
                nodes.append((check.gain / len(open_ends), open_ends[0], check.reason))
        if not nodes:
            return None
        gain, node, reason = max(nodes)
        return Proposal(node, node, gain, 1.0, reason, strategy="label", kind="label"), gain

    def set(self) -> tuple[Proposal, float] | None:
        """Return the set of points that brings most, and the gain: classes and points, added one by one."""
        belief = self.belief
        typical = [self.representative(c, self.skipped["class"]) for c in range(belief.n_classes)]
        taken = self.skipped["point"].union(node for node in typical if node is not None)
        keep = ~np.isin(self.candidates, list(taken))
        points, gains = self.candidates[keep], self.gains[keep]
        pairs = np.block([[self.merges, gains.T], [gains, np.zeros((len(points),) * 2)]])
        is_askable = np.append([node is not None for node in typical], np.ones(len(points), dtype=bool))
        pairs[~is_askable], pairs[:, ~is_askable] = 0.0, 0.0
        chosen, total = self._greedy(pairs, points)
        if len(chosen) < 3:
            return None
        columns = [at for at in chosen if at < belief.n_classes]
        inside = [int(points[at - belief.n_classes]) for at in chosen if at >= belief.n_classes]
        nodes = [node for at in columns if (node := typical[at]) is not None] + inside
        reason = f"the answer compares {len(columns)} groups"
        if inside:
            groups = f"{len(columns)} groups" if len(columns) > 1 else "a group"
            reason = f"the answer compares {_counted(len(inside), 'point')} with {groups}"
        others = tuple(nodes[2:])
        return Proposal(
            nodes[0], nodes[1], total, 0.5, reason, strategy="set", kind="set", others=others
        ), total

    def _greedy(self, pairs: FloatArray, points: IntArray) -> tuple[list[int], float]:
        """Choose up to nine rows whose pairs are worth most; each point makes those like it worth less."""
        if not pairs.max(initial=0.0) > 0:
            return [], 0.0
        n_classes, pairs = self.belief.n_classes, pairs.copy()
        chosen = [int(np.argmax(pairs.max(axis=1)))]
        total = 0.0
        deviations = np.sqrt(self.belief.variances[points])
        while len(chosen) < MAX_SET:
            more = pairs[:, chosen].sum(axis=1)
            more[chosen] = 0.0
            best = int(np.argmax(more))
            if more[best] <= 0:
                break
            total += float(more[best])
            chosen.append(best)
            if best >= n_classes:
                here = best - n_classes
                alike = self.belief.covariances(points[[here]])[0, points] / (deviations * deviations[here])
                left = 1.0 - np.clip(alike, 0.0, 1.0) ** 2
                left[[at - n_classes for at in chosen if at >= n_classes]] = 1.0
                pairs[n_classes:] *= left[:, None]
                pairs[:, n_classes:] *= left
        return chosen, total


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
