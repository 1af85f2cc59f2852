"""
Speakers
========

Who speaks when? A network gives one vector per segment of speech, and the segments of one speaker are to be
found. The vectors here are made up; Dan and Eve have much the same voice. Two people who are heard in the
same ten seconds are two.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidecut.integrations.speakers import SpeakerClusterer

rng = np.random.default_rng(1)
voices = rng.normal(size=(5, 128))
voices[4] = voices[3] + 0.6 * rng.normal(size=128)
heard = [rng.choice(5, rng.integers(1, 4), replace=False) for _ in range(300)]
who = np.concatenate(heard)
chunks = np.repeat(np.arange(300), [len(people) for people in heard])
noise = np.where(rng.random(len(who)) < 0.3, 3.0, 2.0)[:, None]
embeddings = voices[who] + noise * rng.normal(size=(len(who), 128))
print(f"{len(who)} segments in 300 chunks of ten seconds, 5 speakers")

# %%
# The number of speakers is found between bounds. Segments of known people can be given by name.

names = np.array(["Ann", "Bob", "Cleo", "Dan", "Eve"], dtype=object)
speakers = np.where(np.arange(len(who)) % 25 == 0, names[who], None)
runs = {
    "nothing known": {},
    "one segment in 25 by name": {"speakers": speakers},
    "names, and who is heard together": {"speakers": speakers, "chunks": chunks},
}
models = {}
for title, known in runs.items():
    models[title] = SpeakerClusterer(2, 10, random_state=0).fit(embeddings, **known)
    score = adjusted_rand_score(who, models[title].labels_)
    print(f"{title}: {models[title].n_clusters_} speakers, ARI {score:.2f}")
print(models["names, and who is heard together"].names_)

# %%
# A recording that goes on is clustered as it comes. Speakers keep their numbers.

stream = SpeakerClusterer(2, 10, max_landmarks=300, random_state=0)
for start in range(0, 300, 50):
    batch = (chunks >= start) & (chunks < start + 50)
    stream.partial_fit(embeddings[batch], chunks=chunks[batch], speakers=speakers[batch])
    print(f"after chunk {start + 50}: {stream.n_clusters_} speakers")
print(f"as a stream: ARI {adjusted_rand_score(who, stream.labels_):.2f}")

# %%
# The first ten minutes: a row for each speaker, a colour for each cluster. People of one chunk take turns.

turn = np.concatenate([np.arange(len(people)) / len(people) for people in heard])
length = np.concatenate([np.full(len(people), 1 / len(people)) for people in heard])
colours = plt.get_cmap("tab10").colors
_, axes = plt.subplots(3, 1, figsize=(9, 6), sharex=True)
first = chunks < 60
for ax, (title, model) in zip(axes, models.items(), strict=True):
    # A cluster has the colour of the person most of it is.
    person = [np.bincount(who[model.labels_ == label]).argmax() for label in range(model.n_clusters_)]
    told = np.array(person)[model.labels_]
    ax.barh(
        who[first], length[first] / 6, left=(chunks + turn)[first] / 6, height=0.75,
        color=[colours[number] for number in told[first]],
    )  # fmt: skip
    ax.set(yticks=range(5), yticklabels=names, xlim=(0, 10))
    ax.invert_yaxis()
    ax.set_title(f"{title}: {np.mean(told == who):.0%} right", loc="left", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
axes[-1].set_xlabel("minutes")
plt.tight_layout()
