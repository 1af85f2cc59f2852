"""graphlearning: Poisson learning and PoissonMBO with labels of 20 points, on the graph that is given."""

import graphlearning
import numpy as np

PACKAGE = "graphlearning"


def learned(work, make):
    known = np.flatnonzero(work.told >= 0)
    classes, names = np.unique(work.told[known], return_inverse=True)
    return classes[make(work.graph().tocsr(), work).fit_predict(known, names)]


def poisson(graph, work):
    return graphlearning.ssl.poisson(graph)


def poisson_mbo(graph, work):
    """Told the true sizes of the classes with a label."""
    sizes = np.array([np.sum(work.answers == name) for name in np.unique(work.told[work.told >= 0])])
    return graphlearning.ssl.poisson_mbo(graph, class_priors=sizes / sizes.sum())


METHODS = {
    "Poisson, 20 labels": lambda work: learned(work, poisson),
    "PoissonMBO, 20 labels, told the sizes": lambda work: learned(work, poisson_mbo),
}
