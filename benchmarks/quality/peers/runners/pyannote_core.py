"""pyannote.core: agglomerative clustering of means that starts from must-links and avoids cannot-links."""

from pyannote.core.utils.hierarchy import pool
from scipy.cluster.hierarchy import fcluster

PACKAGE = "pyannote.core"


def clustered(work):
    tree = pool(work.X, must_link=work.pairs("must_link"), cannot_link=work.pairs("cannot_link"))
    return cut(tree, work.n_clusters)


def cut(tree, n_clusters):
    """Undo the last merges; distances along this tree may fall, so fcluster must go by the order instead."""
    tree = tree.copy()
    tree[:, 2] = range(1, len(tree) + 1)
    return fcluster(tree, len(tree) + 1 - n_clusters, criterion="distance")


METHODS = {"constrained pool": clustered}
