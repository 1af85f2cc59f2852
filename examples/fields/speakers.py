"""
Speakers
========

Who speaks when? A network gives one vector per segment of speech; the segments of one speaker are to be
found. The vectors here are made up. Two people who are heard in the same chunk of ten seconds are two.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidecut.integrations.speakers import SpeakerClusterer

rng = np.random.default_rng(1)
means = rng.normal(size=(5, 128))
heard = [rng.choice(5, rng.integers(1, 4), replace=False) for _ in range(300)]
who = np.concatenate(heard)
chunks = np.repeat(np.arange(300), [len(people) for people in heard])
noise = np.where(rng.random(len(who)) < 0.3, 5.0, 2.5)[:, None]
embeddings = means[who] + noise * rng.normal(size=(len(who), 128))
print(f"{len(who)} segments in 300 chunks, 5 speakers")

# %%
# The number of speakers is found between bounds. Segments of known people can be given by name.

names = np.array(["Ann", "Bob", "Cleo", "Dan", "Eve"], dtype=object)
speakers = np.where(np.arange(len(who)) % 25 == 0, names[who], None)
runs = {
    "nothing known": {},
    "chunks": {"chunks": chunks},
    "chunks, 4 % by name": {"chunks": chunks, "speakers": speakers},
}
models = {}
for title, known in runs.items():
    models[title] = SpeakerClusterer(2, 10, random_state=0).fit(embeddings, **known)
    score = adjusted_rand_score(who, models[title].labels_)
    print(f"{title}: {models[title].n_clusters_} speakers, ARI {score:.2f}")
print(models["chunks, 4 % by name"].names_)

# %%
# A recording that goes on is clustered as it comes. Speakers keep their numbers.

stream = SpeakerClusterer(2, 10, max_landmarks=300, random_state=0)
for start in range(0, 300, 50):
    batch = (chunks >= start) & (chunks < start + 50)
    stream.partial_fit(embeddings[batch], chunks=chunks[batch])
    print(f"after chunk {start + 50}: {stream.n_clusters_} speakers")
print(f"as a stream: ARI {adjusted_rand_score(who, stream.labels_):.2f}")

# %%
# The first minutes: a row per speaker, a dot per segment, crosses where the speaker is wrong.

_, axes = plt.subplots(3, 1, figsize=(10, 6), sharex=True)
first = chunks < 80
for ax, (title, model) in zip(axes, models.items(), strict=True):
    found = np.array(
        [np.bincount(who[model.labels_ == label]).argmax() for label in range(model.n_clusters_)]
    )
    told = found[model.labels_]
    right = told == who
    ax.scatter(chunks[first & right], told[first & right], c=told[first & right], cmap="tab10", vmax=9, s=20)
    ax.scatter(chunks[first & ~right], told[first & ~right], c="black", marker="x", s=30)
    ax.set(yticks=range(5), yticklabels=names, ylim=(-0.6, 4.6))
    ax.set_title(f"{title}: {np.mean(right):.1%} right", fontsize=10)
axes[-1].set_xlabel("chunk")
plt.tight_layout()
