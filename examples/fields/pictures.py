"""
Cutting a photograph by a few strokes
=====================================

Two flowers are to be cut from their background and from each other. A label image says what is what at a few
places, as for scikit-image's ``random_walker``: 1 is the background, 2 a flower.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from sidecut.images import segment

image = load_sample_image("flower.jpg")
marks = np.zeros(image.shape[:2], dtype=int)
marks[60:66, 60:200] = 1
marks[200:206, 280:340] = 2
first = segment(image, marks)
print(first)

# %%
# No stroke marks the small flower at the lower edge, and it stays with the background. One more makes it
# a class of its own. The graph is used again, so the second cut takes a fraction of the time, and it is the
# same as a cut with all three strokes from the start.

marks[400:406, 340:400] = 3
second = segment(image, marks, graph=first.graph)
print(f"{np.count_nonzero(second.labels != first.labels):,} pixels changed")

# %%
# Every pixel has a probability for every class.

strokes = image.copy()
for number, color in ((1, (0, 114, 178)), (2, (213, 94, 0)), (3, (0, 158, 115))):
    strokes[marks == number] = color
fig, axes = plt.subplots(2, 2, figsize=(10, 7))
pictures = {
    "the photograph and the strokes": strokes,
    "two strokes": first.overlay(image),
    "one more stroke": second.overlay(image),
    "how sure (dark: not sure)": second.probabilities.max(axis=-1),
}
for ax, (title, picture) in zip(axes.flat, pictures.items(), strict=True):
    ax.imshow(picture, cmap="gray")
    ax.set_title(title)
    ax.axis("off")
plt.tight_layout()
