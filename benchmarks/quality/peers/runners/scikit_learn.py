"""scikit-learn: spectral clustering without constraints, and labels spread along the graph."""

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.semi_supervised import LabelSpreading

PACKAGE = "scikit-learn"


def unconstrained(work):
    return SpectralClustering(work.n_clusters, affinity="precomputed", random_state=0).fit_predict(
        work.graph()
    )


def spread(work):
    graph = work.graph()
    model = LabelSpreading(kernel=lambda first, second=None: graph, max_iter=1000)
    return model.fit(np.zeros((len(work.X), 1)), work.told).transduction_


METHODS = {"SpectralClustering, unconstrained": unconstrained, "LabelSpreading, 20 labels": spread}
