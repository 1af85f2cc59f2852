"""fast_hdbscan: density clusters kept apart by cannot-links, or led by labels; it finds their number."""

import numpy as np
from fast_hdbscan import HDBSCAN, PLSCAN, cluster_trees, hdbscan
from scipy.sparse import csr_matrix

PACKAGE = "fast_hdbscan"


def cannot_links(work):
    return csr_matrix(np.where(work.signs() < 0, 1.0, 0.0))


def clustered(work, min_cluster_size=5):
    model = HDBSCAN(
        min_cluster_size=min_cluster_size, algorithm="kruskal", cannot_link=cannot_links(work)
    ).fit(work.X)
    return model.labels_


class PythonDict(dict):
    """Stands for numba's typed dictionary in functions that run as Python."""

    empty = staticmethod(lambda **kinds: {})


class PythonList(list):
    """Stands for numba's typed list."""

    empty_list = staticmethod(lambda kind: [])


def run_labels_as_python():
    """Let the functions of the label mode run as Python: they do not compile (version 0.3.4, numba 0.68)."""
    cluster_trees.Dict, cluster_trees.List = PythonDict, PythonList
    for name in dir(cluster_trees):
        own = getattr(cluster_trees, name)
        if ("bcubed" in name or name == "score_condensed_tree_nodes") and hasattr(own, "py_func"):
            for module in (cluster_trees, hdbscan):
                if hasattr(module, name):
                    setattr(module, name, own.py_func)


def labelled(work, min_cluster_size=5):
    run_labels_as_python()
    model = HDBSCAN(min_cluster_size=min_cluster_size, semi_supervised=True, ss_algorithm="bc")
    return model.fit(work.X, work.told).labels_


METHODS = {
    "cannot-links": clustered,
    "cannot-links, clusters of 100 or more": lambda work: clustered(work, min_cluster_size=100),
    "20 labels": labelled,
    "20 labels, clusters of 100 or more": lambda work: labelled(work, min_cluster_size=100),
    "PLSCAN, told nothing": lambda work: PLSCAN().fit_predict(work.X),
}
