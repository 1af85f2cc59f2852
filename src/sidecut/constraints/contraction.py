"""Constraints seen from afar: what must be together is one node, and what must be apart an edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sidecut.constraints.closure import Knowledge, must_link_components
from sidecut.constraints.grouped import Groups
from sidecut.constraints.labels import number_by_appearance
from sidecut.constraints.links import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Contraction:
    """The components that must-links join, and the cannot-links between them.

    Parameters
    ----------
    points : ndarray of shape (c,)
        Sorted points about which something is known.
    component : ndarray of shape (c,)
        The component of each, 0 .. `n_components` - 1.
    apart : ndarray of shape (r, 2)
        Pairs of components that are apart, each once, the smaller number first.
    strengths : ndarray of shape (r,)
        The total strength of the cannot-links between the two.
    witnesses : ndarray of shape (r, 2)
        For each of them a pair of points that was said to be apart.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> links = Constraints.from_pairs(6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 4), (2, 4)])
    >>> seen = links.contracted()
    >>> seen.points.tolist(), seen.component.tolist()
    ([0, 1, 2, 4], [0, 0, 0, 1])
    >>> seen.apart.tolist(), seen.strengths.tolist(), seen.witnesses.tolist()
    ([[0, 1]], [2.0], [[0, 4]])
    """

    points: IntArray
    component: IntArray
    apart: IntArray
    strengths: FloatArray
    witnesses: IntArray

    @property
    def n_components(self) -> int:
        """How many components there are, single points included."""
        return int(self.component.max(initial=-1)) + 1

    def summed(self, values: FloatArray) -> FloatArray:
        """Sum the rows of one value per point to one per component."""
        indicator = sparse.csr_array(
            (np.ones(len(self.points)), (self.component, np.arange(len(self.points)))),
            shape=(self.n_components, len(self.points)),
        )
        return np.asarray(indicator @ values)


def contract(knowledge: Knowledge) -> Contraction:
    """Contract knowledge without contradictions; the pairs of groups are never listed."""
    node_component = must_link_components(knowledge)
    stated = [knowledge.must.pairs.reshape(-1), knowledge.cannot.pairs.reshape(-1)]
    points = np.unique(np.concatenate(stated + [groups.points for groups in knowledge.groups]))
    component = number_by_appearance(node_component[points])
    compact = np.full(int(node_component.max(initial=-1)) + 1, -1, dtype=np.int64)
    compact[node_component[points]] = component
    of_node = compact[node_component]
    ends, strengths = [knowledge.cannot.pairs], [knowledge.cannot.strengths]
    for groups in knowledge.groups:
        pairs = groups.relation_pairs()
        ends.append(_first_points(groups)[pairs])
        strengths.append(groups.weight * np.prod(groups.sizes[pairs], axis=1, dtype=np.float64))
    return _gathered(points, component, of_node, np.concatenate(ends), np.concatenate(strengths))


def _first_points(groups: Groups) -> IntArray:
    """One point of every group, which stands for it."""
    return groups.points[np.unique(groups.group, return_index=True)[1]]


def _gathered(
    points: IntArray, component: IntArray, of_node: IntArray, ends: IntArray, strengths: FloatArray
) -> Contraction:
    """Add up the cannot-links between the same two components."""
    between = np.sort(of_node[ends], axis=1)
    apart, first, place = np.unique(between, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights=strengths, minlength=len(apart)).astype(np.float64)
    return Contraction(points, component, apart, total, ends[first])
