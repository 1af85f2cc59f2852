"""active-semi-supervised-clustering: k-means with hard pairs, with a price on pairs, with a metric."""

from active_semi_clustering.semi_supervised.pairwise_constraints import COPKMeans, MPCKMeans, PCKMeans

PACKAGE = "active-semi-supervised-clustering"


def clustered(work, estimator):
    model = estimator(n_clusters=work.n_clusters)
    model.fit(work.X, ml=work.pairs("must_link"), cl=work.pairs("cannot_link"))
    return model.labels_


METHODS = {
    "COP-k-means": lambda work: clustered(work, COPKMeans),
    "PC-k-means": lambda work: clustered(work, PCKMeans),
    "MPC-k-means": lambda work: clustered(work, MPCKMeans),
}
