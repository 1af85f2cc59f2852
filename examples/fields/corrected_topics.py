"""
Topics that can be corrected
============================

BERTopic takes any cluster model as ``hdbscan_model``. ``sidecut.integrations.bertopic.TopicClusterer``
reads the topics of documents that are known, and remembers corrections when the model is fitted again.
"""

import inspect
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from bertopic import BERTopic
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.manifold import TSNE

from sidecut import CSP
from sidecut.integrations.bertopic import TopicClusterer

parts = ("signal", "ndimage", "interpolate", "optimize", "stats", "fft")
texts, part = [], []
for number, name in enumerate(parts):
    module = import_module(f"scipy.{name}")
    for function in sorted(module.__all__):
        text = inspect.getdoc(getattr(module, function)) or ""
        if callable(getattr(module, function)) and len(text) > 300:
            texts.append(text)
            part.append(number)
part = np.array(part)
print(f"{len(texts)} docstrings of {len(parts)} parts of SciPy")

# %%
# Without a language model at hand, the embeddings are components of TF-IDF. Four documents of each topic are
# known.


class Components:
    """Leave the embeddings as they are: they are reduced already."""

    def fit(self, X, y=None):
        """Learn nothing."""
        return self

    def transform(self, X):
        """Change nothing."""
        return X


words = {"stop_words": "english", "token_pattern": r"[a-zA-Z]{3,}", "min_df": 3, "max_df": 0.3}
weights = TfidfVectorizer(sublinear_tf=True, **words).fit_transform(texts)
embeddings = TruncatedSVD(40, random_state=0).fit_transform(weights)
embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
rng = np.random.default_rng(0)
y = np.full(len(texts), -1)
for number in range(len(parts)):
    some = rng.choice(np.flatnonzero(part == number), 4, replace=False)
    y[some] = number

clusterer = TopicClusterer(n_topics=len(parts), estimator=CSP(), random_state=0)
model = BERTopic(
    hdbscan_model=clusterer,
    umap_model=Components(),
    vectorizer_model=CountVectorizer(**{**words, "min_df": 1, "max_df": 1.0}),
    embedding_model=None,
)
topics, probabilities = model.fit_transform(texts, embeddings, y=y)
names = clusterer.names_of(topics)
for topic, number in sorted(names.items()):
    print(f"{parts[number]:12}", ", ".join(word for word, _ in model.get_topic(topic)[:6]))

# %%
# A reader corrects the thirty documents the model is least sure of; the corrections hold from then on.


def name_topics(found):
    """Return the part of SciPy that each document's topic stands for; -1 where it stands for none."""
    names = clusterer.names_of(found)
    return np.array([names.get(topic, -1) for topic in found])


first = name_topics(topics)
for _ in range(3):
    doubtful = np.argsort(np.where(y >= 0, 1.0, clusterer.probabilities_))
    doubtful = [int(place) for place in doubtful if place not in (clusterer.known or {})][:10]
    clusterer.correct(known={place: int(part[place]) for place in doubtful})
    topics, _ = model.fit_transform(texts, embeddings, y=y)
last = name_topics(topics)
print(f"in the right topic: {np.mean(first == part):.0%}, after 30 corrections {np.mean(last == part):.0%}")

# %%
# A map of all documents, coloured by topic; crosses are in the wrong one, rings were corrected.

places = TSNE(init="pca", metric="cosine", random_state=0).fit_transform(embeddings)
corrected = np.array(sorted(clusterer.known))
_, axes = plt.subplots(1, 2, figsize=(10, 5))
for ax, found, title in zip(axes, (first, last), ("at first", "after 30 corrections"), strict=True):
    for number, name in enumerate(parts):
        ax.scatter(*places[found == number].T, s=14, label=name, color=plt.get_cmap("tab10")(number))
    wrong = found != part
    ax.scatter(*places[wrong].T, marker="x", s=36, color="black", label="in the wrong topic")
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{title}: {np.mean(~wrong):.0%} right", fontsize=11)
rings = {"facecolors": "none", "edgecolors": "black", "s": 60, "linewidths": 0.8}
axes[1].scatter(*places[corrected].T, label="corrected", **rings)
axes[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
plt.tight_layout()
