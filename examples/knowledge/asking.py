"""
Asking the right questions
==========================

Few people have constraints at hand. They have time for thirty questions. ``sidecut.active`` asks about the
pairs that bring most. Here the true classes play the person who answers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from sidecut.active import ActiveClustering
from sidecut.plots import plot_embedding, project_for_picture

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)

run = ActiveClustering(random_state=0).start(X)
question = run.question()
print(f"Do {question.i} and {question.j} belong together? ({question.reason})")

# %%
# Answer, and go on. The number of clusters is not given: the answers decide it.

scores = [adjusted_rand_score(y, run.labels_)]
while question is not None and len(scores) <= 30:
    run.answer(y[question.i] == y[question.j])
    scores.append(adjusted_rand_score(y, run.labels_))
    question = run.question()
print(f"before: ARI {scores[0]:.2f}")
print(f"after:  ARI {scores[-1]:.2f}, {len(scores) - 1} answers, {run.n_clusters_} clusters")

# %%
# What each answer brought, and the clusters at the end with the pairs that were asked about.

fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.4))
axes[0].plot(np.arange(len(scores)), scores, drawstyle="steps-post", color="tab:blue")
axes[0].set(xlabel="answers", ylabel="adjusted Rand index", ylim=(0, 1.02), title="What each answer brought")
axes[0].grid(alpha=0.3)
plot_embedding(
    project_for_picture(X),
    run.labels_,
    run.constraints_,
    axes[1],
    title="The clusters, and the pairs asked about",
)
plt.tight_layout()

# %%
# To answer yourself, at a terminal: ``sidecut ask data.csv -o labels.csv``.
