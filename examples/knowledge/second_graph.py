"""
A second graph
==============

Two networks join the same 300 people. The one we want to cut was measured badly: its two groups hardly show.
The other is from another day, with other edges. CSP takes the second network as beliefs about pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, Constraints, NormalizedCut
from sidecut.datasets import stochastic_block_graph

target, y = stochastic_block_graph([150, 150], 0.10, 0.075, random_state=0)
source, _ = stochastic_block_graph([150, 150], 0.10, 0.04, random_state=1)

alone = NormalizedCut(n_clusters=2, affinity="precomputed", random_state=0)
before = alone.fit_predict(target)
model = CSP(n_clusters=2, beta=("fraction", 0.8), normalization="source", affinity="precomputed")
model.fit(target, constraints=Constraints.from_graph(source))

print(f"second network alone: ARI {adjusted_rand_score(y, alone.fit_predict(source)):.2f}")
print(f"before: ARI {adjusted_rand_score(y, before):.2f}")
print(f"after:  ARI {adjusted_rand_score(y, model.labels_):.2f}")

# %%
# Both networks, and the relaxed cut: one number per person, whose sign is the group.

fig, axes = plt.subplots(1, 3, figsize=(11, 3.6))
for ax, graph, title in zip(
    axes, (target, source), ("The network to cut", "The second network"), strict=False
):
    dense = graph.toarray() if hasattr(graph, "toarray") else np.asarray(graph)
    ax.spy(dense, markersize=0.6, color="0.3")
    ax.set_title(title)
axes[2].plot(model.indicator_, ".", color="tab:blue", markersize=3)
axes[2].axhline(0, color="0.6", linewidth=1)
axes[2].axvline(150, color="0.6", linewidth=1, linestyle=":")
axes[2].set(title="The cut", xlabel="person")
plt.tight_layout()

# %%
# **Beliefs need not be networks.** Here the left halves of digits make the graph, and how alike the right
# halves are enters as beliefs. They may disagree with the graph and with each other.

from sklearn.datasets import load_digits

from sidecut.graphs import Neighbors

X, digit = load_digits(return_X_y=True)
images = X[:900].reshape(-1, 8, 8)
left, right = images[:, :, :4].reshape(900, -1), images[:, :, 4:].reshape(900, -1)
beliefs = Constraints.from_graph(Neighbors(15).build(right).matrix)
cut = NormalizedCut(n_clusters=10, n_neighbors=15, random_state=0)
both = CSP(n_clusters=10, beta=("fraction", 0.8), normalization="source", n_neighbors=15, random_state=0)
both.fit(left, constraints=beliefs)
print(f"left halves alone:  ARI {adjusted_rand_score(digit[:900], cut.fit_predict(left)):.2f}")
print(f"right halves alone: ARI {adjusted_rand_score(digit[:900], cut.fit_predict(right)):.2f}")
print(f"left, given right:  ARI {adjusted_rand_score(digit[:900], both.labels_):.2f}")
