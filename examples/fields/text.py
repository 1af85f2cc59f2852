"""
Text
====

The documents are the docstrings of SciPy's functions; which part of SciPy a function is in is its topic.
Three labels per topic are known. For words, angles are the right distance: ``Neighbors(weights="cosine")``.
"""

import inspect
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from sidecut import Constraints, NormalizedCut, PoissonLearning
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors

topics = (
    "signal", "ndimage", "linalg", "interpolate", "optimize",
    "spatial.distance", "stats", "integrate", "fft", "sparse.linalg",
)  # fmt: skip
texts, y = [], []
for number, topic in enumerate(topics):
    module = import_module(f"scipy.{topic}")
    for name in sorted(module.__all__):
        text = inspect.getdoc(getattr(module, name)) or ""
        if callable(getattr(module, name)) and len(text) > 200:
            texts.append(text)
            y.append(number)
y = np.array(y)
print(f"{len(texts)} docstrings, {len(topics)} topics, sizes {np.bincount(y)}")

# %%
# Words that are in nearly every docstring, or in one only, say nothing.

words = TfidfVectorizer(
    stop_words="english", token_pattern=r"[a-zA-Z]{3,}", min_df=3, max_df=0.3, sublinear_tf=True
)
X = words.fit_transform(texts)

rng = np.random.default_rng(0)
labels = np.full(len(y), -1)
for number in range(len(topics)):
    some = rng.choice(np.flatnonzero(y == number), 3, replace=False)
    labels[some] = number
known = Constraints.from_labels(labels)

graph = Neighbors(20, weights="cosine")
before = NormalizedCut(n_clusters=10, affinity=graph, random_state=0).fit(X)
after = PoissonLearning(n_clusters=10, affinity=graph, random_state=0).fit(X, constraints=known)
print(f"before: ARI {adjusted_rand_index(y, before.labels_, constraints=known):.2f}")
print(f"after:  ARI {adjusted_rand_index(y, after.labels_, constraints=known):.2f}")

# %%
# The words that stand out in each cluster, and where the docstrings of each topic went.

names = known.name_clusters(after.labels_)
terms = words.get_feature_names_out()
for cluster in range(10):
    inside = np.asarray(X[after.labels_ == cluster].mean(axis=0)).ravel()
    outside = np.asarray(X[after.labels_ != cluster].mean(axis=0)).ravel()
    title = topics[names[cluster]] if cluster in names else "no name"
    print(f"{title:17}", ", ".join(terms[np.argsort(outside - inside)[:6]]))

columns = sorted(range(10), key=lambda cluster: names.get(cluster, 10))
counts = np.array(
    [[np.sum((y == topic) & (after.labels_ == cluster)) for cluster in columns] for topic in range(10)]
)
fig, ax = plt.subplots(figsize=(7.5, 6))
ax.imshow(counts / counts.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1.2)
for (row, column), count in np.ndenumerate(counts):
    ax.text(column, row, count, ha="center", va="center")
ax.set_yticks(range(10), topics)
ax.set_xticks(
    range(10), [topics[names[c]] if c in names else "no name" for c in columns], rotation=30, ha="right"
)
ax.set(ylabel="topic", xlabel="cluster, called by its known docstrings")
plt.tight_layout()
