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


def right(found):
    """Return the share of documents in the right topic."""
    names = clusterer.names_of(found)
    return np.mean([names.get(topic) == number for topic, number in zip(found, part, strict=True)])


shares = [right(topics)]
for _ in range(3):
    doubtful = np.argsort(np.where(y >= 0, 1.0, clusterer.probabilities_))
    doubtful = [int(place) for place in doubtful if place not in (clusterer.known or {})][:10]
    clusterer.correct(known={place: int(part[place]) for place in doubtful})
    topics, _ = model.fit_transform(texts, embeddings, y=y)
    shares.append(right(topics))
print("right after 0, 10, 20, 30 corrections:", np.round(shares, 3))

# %%
_, ax = plt.subplots(figsize=(6, 3.5))
ax.plot([0, 10, 20, 30], shares, marker="o")
ax.set(xlabel="documents corrected", ylabel="documents in the right topic", xticks=[0, 10, 20, 30])
ax.grid(alpha=0.3)
plt.tight_layout()
