"""cleanlab: how good each label looks, from labels and chances in a file to scores in another."""

import sys

import numpy as np
from cleanlab.rank import get_label_quality_scores

METHODS = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")

with np.load(sys.argv[1]) as file:
    given = dict(file)
labels = given.pop("labels")
scores = {
    f"{name}, {method}": get_label_quality_scores(labels, chances, method=method)
    for name, chances in given.items()
    for method in METHODS
}
np.savez(sys.argv[2], **scores)
