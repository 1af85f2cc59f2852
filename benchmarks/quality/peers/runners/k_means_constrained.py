"""k-means-constrained: k-means with bounds on the sizes, by flows of least cost; it takes no pairs."""

import numpy as np
from k_means_constrained import KMeansConstrained

PACKAGE = "k-means-constrained"


def clustered(work):
    sizes = np.bincount(np.unique(work.answers, return_inverse=True)[1])
    model = KMeansConstrained(
        work.n_clusters, size_min=int(sizes.min()), size_max=int(sizes.max()), random_state=0
    )
    return model.fit_predict(work.X)


METHODS = {"told the least and the largest size": clustered}
