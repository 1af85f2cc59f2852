"""
Write your own method
=====================

A method is one function from a task to an answer. The base classes add the rest: checks, the graph, the guard
of ``safe=True``, the repair of ``hard=True``, ``predict``, ``confidence_`` and all that scikit-learn expects.
"""

from dataclasses import KW_ONLY, dataclass

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from sklearn.datasets import make_moons

from sidecut import NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.methods import Answer, GraphClusterer, TakesConstraints
from sidecut.plots import plot_before_after

# %%
# Harmonic functions (Zhu, Ghahramani & Lafferty, 2003): the score of a point is the mean of its neighbours'
# scores. With the Laplacian L = D - W and a diagonal S that has ``weight`` at labelled points, the scores F
# solve (L + S) F = S Y. The largest entry of a row is the label. Without labels it is the normalised cut.


@dataclass(eq=False, repr=False)
class HarmonicLabels(TakesConstraints, GraphClusterer):
    """Labels that are the mean of their neighbours' labels."""

    _: KW_ONLY
    weight: float = 100.0

    def _solve(self, task):
        labels = task.constraints.labels  # -1 where unknown
        if labels is None:
            return NormalizedCut(task.n_clusters)._solve(task)
        given = self.weight * (labels[:, None] == np.arange(task.n_clusters))
        system = sp.diags_array(task.graph.degrees + given.sum(axis=1)) - task.graph.matrix
        scores = spsolve(sp.csc_array(system), given)
        return Answer(labels=scores.argmax(axis=1), embedding=scores, graph=task.graph)


# %%
# It is used as every other method.

X, y = make_moons(400, noise=0.15, random_state=0)
known = sample_labels(y, 10, random_state=0)
before = NormalizedCut(n_clusters=2, random_state=0).fit(X)
after = HarmonicLabels(n_clusters=2, random_state=0).fit(X, constraints=known)
print(f"before: ARI {adjusted_rand_index(y, before.labels_, constraints=known):.2f}")
print(f"after:  ARI {adjusted_rand_index(y, after.labels_, constraints=known):.2f}")
print(after.decision_)

# %%
# New points, confidence and a copy with other parameters come with it.

print(after.predict(X[:5]), after.confidence_[:5].round(2))
print(after.set_params(weight=1.0))

# %%
# Points with a dark rim are those we know.

_, axes = plt.subplots(1, 2, figsize=(10, 4))
titles = ("Normalised cut", "Harmonic functions")
plot_before_after(X, before.labels_, after.labels_, known, axes, titles=titles)
plt.tight_layout()
