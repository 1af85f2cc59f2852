"""
Points and a graph together
===========================

Papers have words, and they cite each other. Neither the words nor the citations alone tell their fields well.
``fit(X, graph=W)`` uses both.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from sidecut import AutoCut, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import clustering_accuracy
from sidecut.plots import plot_embedding, project_for_picture

# %%
# 300 papers of three fields. A paper has words, of its own field more often, and a few citations, a third of
# them of other fields.

rng = np.random.default_rng(0)
field = np.repeat([0, 1, 2], 100)
words = rng.poisson(0.25 + 0.3 * (np.arange(60) % 3 == field[:, None])).astype(float)
citations = nx.stochastic_block_model([100] * 3, 0.006 + 0.024 * np.eye(3), seed=0)
print(f"{citations.number_of_edges()} citations")

# %%
# Words alone, citations alone, and both.

known = sample_labels(field, 15, random_state=0)
by_words = AutoCut(3, random_state=0).fit(words, constraints=known)
by_citations = AutoCut(3, affinity="precomputed", random_state=0).fit(citations, constraints=known)
by_both = AutoCut(3, random_state=0).fit(words, graph=citations, constraints=known)
for name, model in (("words", by_words), ("citations", by_citations), ("both", by_both)):
    print(f"{name}: {clustering_accuracy(field, model.labels_):.2f} of the papers are in the right field")
print(by_both.explanation_)

# %%
# Where nothing is known, and for single methods, words are averaged over two steps along the citations. The
# fields come apart.

both = NormalizedCut(3, random_state=0).fit(words, graph=citations)
alone = NormalizedCut(3, random_state=0).fit(words)
_, axes = plt.subplots(1, 2, figsize=(9, 4))
for ax, model, title in zip(axes, (alone, both), ("words", "words averaged along citations"), strict=True):
    plot_embedding(project_for_picture(model.embedding_), field, ax=ax)
    ax.set_title(title)
plt.tight_layout()
