"""metric-learn: a metric learned from the pairs, then k-means under it."""

import numpy as np
from metric_learn import ITML, MMC
from sklearn.cluster import KMeans

PACKAGE = "metric-learn"


def clustered(work, learner):
    pairs = np.vstack([work.must_link, work.cannot_link])
    signs = np.repeat([1, -1], [len(work.must_link), len(work.cannot_link)])
    learner.fit(work.X[pairs], signs)
    return KMeans(work.n_clusters, n_init=10, random_state=0).fit_predict(learner.transform(work.X))


METHODS = {
    "ITML + k-means": lambda work: clustered(work, ITML(random_state=0)),
    "MMC + k-means": lambda work: clustered(work, MMC(diagonal=True, random_state=0)),
}
