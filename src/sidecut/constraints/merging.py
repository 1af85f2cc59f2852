"""One matrix from many statements, and one value from two."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sidecut.constraints.closure import Knowledge, close
from sidecut.constraints.conflicts import check_on_conflict, drop_conflicts, refuse_conflicts
from sidecut.constraints.grouped import Groups
from sidecut.constraints.links import FloatArray, canonical, split_signs, symmetric_matrix, union
from sidecut.exceptions import ConstraintError


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


def merge_matrices(
    first: sparse.csr_array, second: sparse.csr_array, groups: Groups | None, on_conflict: str
) -> sparse.csr_array:
    """Unite two symmetric matrices of links, and set them beside the groups they will be added to.

    A pair known twice keeps its greater strength, also when the groups know it; with "weigh" strengths add.
    """
    if check_on_conflict(on_conflict) == "weigh":
        return canonical(first + second)
    (must, cannot), (more_must, more_cannot) = split_signs(first), split_signs(second)
    knowledge = Knowledge(
        first.shape[0],
        union(must, more_must),
        union(cannot, more_cannot),
        () if groups is None else (groups,),
    )
    diagonal = _stronger(first.diagonal(), second.diagonal())
    merged = canonical(settle(knowledge, on_conflict) + sparse.diags_array(diagonal, format="csr"))
    return merged if groups is None else _beyond_groups(merged, groups)


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


def _stronger(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.where(np.abs(first) >= np.abs(second), first, second)


def _beyond_groups(links: sparse.csr_array, groups: Groups) -> sparse.csr_array:
    """What must be added to the groups so that each pair has the greater of its two strengths."""
    coo = links.tocoo()
    known = groups.entry(coo.row.astype(np.int64), coo.col.astype(np.int64))
    coo.data = np.where(np.abs(coo.data) > np.abs(known), coo.data - known, 0.0)
    return canonical(coo)
