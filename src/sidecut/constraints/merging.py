"""One matrix from many statements, and one value from two."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sidecut.arrays import FloatArray
from sidecut.constraints.closure import Knowledge, close
from sidecut.constraints.conflicts import check_on_conflict, drop_conflicts, refuse_conflicts
from sidecut.constraints.groups import Groups, replace_diagonal
from sidecut.constraints.links import Links, canonical, split_signs, symmetric_matrix, union
from sidecut.exceptions import ConstraintError

Parts = tuple[sparse.csr_array, Groups | None]


def settle(knowledge: Knowledge, on_conflict: str) -> sparse.csr_array:
    """Turn links into a symmetric matrix, dealing with contradictions as asked.

    Parameters
    ----------
    knowledge : Knowledge
        Links, and groups they must agree with.
    on_conflict : {"raise", "drop", "weigh"}
        Refuse contradictions, keep the strongest consistent links, or let opposite strengths of a pair add.

    Returns
    -------
    csr_array
        Of the links alone.
    """
    must, cannot = knowledge.must, knowledge.cannot
    if check_on_conflict(on_conflict) == "raise":
        refuse_conflicts(knowledge)
    elif on_conflict == "drop":
        must, cannot = drop_conflicts(knowledge)
    return symmetric_matrix(
        knowledge.n_samples,
        np.concatenate([must.pairs, cannot.pairs]),
        np.concatenate([must.strengths, -cannot.strengths]),
    )


def merge(first: Parts, second: Parts, on_conflict: str) -> Parts:
    """Unite two constraint matrices, each given as links and groups that are added.

    An entry known to both keeps its greater strength; with "weigh" the links of both add.

    Parameters
    ----------
    first, second : tuple of csr_array and Groups or None
        What is added to make each matrix.
    on_conflict : {"raise", "drop", "weigh"}
        As in `settle`.

    Returns
    -------
    tuple of csr_array and Groups or None
        The same for the union.
    """
    n_samples = first[0].shape[0]
    groups = merge_groups(n_samples, first[1], second[1])
    if check_on_conflict(on_conflict) == "weigh":
        return canonical(first[0] + second[0]), groups
    (must, cannot), (more_must, more_cannot) = _full_links(*first), _full_links(*second)
    together = () if groups is None else (groups,)
    links = settle(
        Knowledge(n_samples, union(must, more_must), union(cannot, more_cannot), together), on_conflict
    )
    diagonal = _stronger(_diagonal(*first), _diagonal(*second))
    if groups is None:
        return replace_diagonal(links, diagonal), None
    diagonal[groups.points] -= groups.diagonal
    return replace_diagonal(_beyond_groups(links, groups), diagonal), groups


def merge_groups(n_samples: int, first: Groups | None, second: Groups | None) -> Groups | None:
    """Unite two sets of groups: groups that share a point become one group.

    Raises
    ------
    ConflictError
        If two groups that are apart would become one.
    ConstraintError
        If the two differ in weight or diagonal.
    """
    if first is None or second is None or first.key == second.key:
        return second if first is None else first
    if (first.weight, first.diagonal) != (second.weight, second.diagonal):
        raise ConstraintError(
            f"labels of weight {first.weight} (diagonal {first.diagonal}) cannot be merged with labels of "
            f"weight {second.weight} (diagonal {second.diagonal}): bring them to one strength with scaled() "
            "or with_diagonal(), or close both with closed()"
        )
    nothing, _ = split_signs(sparse.csr_array((n_samples, n_samples)))
    knowledge = Knowledge(n_samples, nothing, nothing, (first, second))
    refuse_conflicts(knowledge, "correct the labels: on_conflict decides about links, not about labels")
    return close(knowledge, first.weight, first.diagonal)


def _full_links(links: sparse.csr_array, groups: Groups | None) -> tuple[Links, Links]:
    """The links with the whole strength of their pair, where the groups hold a part of it."""
    if groups is None:
        return split_signs(links)
    coo = links.tocoo()
    known = _known(coo, groups)
    coo.data = np.where(known * coo.data > 0, coo.data + known, coo.data)
    return split_signs(sparse.csr_array(coo))


def _beyond_groups(links: sparse.csr_array, groups: Groups) -> sparse.csr_array:
    """What must be added to the groups so that each pair has the greater of its two strengths."""
    coo = links.tocoo()
    known = _known(coo, groups)
    coo.data = np.where(np.abs(coo.data) > np.abs(known), coo.data - known, 0.0)
    return canonical(coo)


def _known(coo: sparse.coo_array, groups: Groups) -> FloatArray:
    return groups.entry(coo.row.astype(np.int64), coo.col.astype(np.int64))


def _diagonal(links: sparse.csr_array, groups: Groups | None) -> FloatArray:
    diagonal = np.array(links.diagonal())
    if groups is not None:
        diagonal[groups.points] += groups.diagonal
    return diagonal


def _stronger(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.where(np.abs(first) >= np.abs(second), first, second)
