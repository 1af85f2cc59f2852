"""fast_hdbscan: density clusters kept apart by cannot-links, or led by labels; it finds their number."""

import numpy as np
from fast_hdbscan import HDBSCAN, PLSCAN
from scipy.sparse import csr_matrix

PACKAGE = "fast_hdbscan"


def cannot_links(work):
    return csr_matrix(np.where(work.signs() < 0, 1.0, 0.0))


def clustered(work, min_cluster_size=5):
    model = HDBSCAN(
        min_cluster_size=min_cluster_size, algorithm="kruskal", cannot_link=cannot_links(work)
    ).fit(work.X)
    return model.labels_


def labelled(work, min_cluster_size=5):
    model = HDBSCAN(min_cluster_size=min_cluster_size, semi_supervised=True, ss_algorithm="bc")
    return model.fit(work.X, work.told).labels_


METHODS = {
    "cannot-links": clustered,
    "cannot-links, clusters of 100 or more": lambda work: clustered(work, min_cluster_size=100),
    "20 labels": labelled,
    "20 labels, clusters of 100 or more": lambda work: labelled(work, min_cluster_size=100),
    "PLSCAN, told nothing": lambda work: PLSCAN().fit_predict(work.X),
}
