"""Embedding to labels: k-means, sign, argmax, rotation and pivoted QR.

`assign_labels` is the front door; each rule is also a function of its own.
"""

from sidecut.labelling.argmax import argmax_labels
from sidecut.labelling.assign import LabellingMethod, assign_labels
from sidecut.labelling.embedding import unit_rows
from sidecut.labelling.kmeans import kmeans_labels
from sidecut.labelling.qr import qr_labels
from sidecut.labelling.renaming import rename_by_first_appearance
from sidecut.labelling.rotation import rotation_labels
from sidecut.labelling.sign import sign_labels

__all__ = [
    "LabellingMethod",
    "argmax_labels",
    "assign_labels",
    "kmeans_labels",
    "qr_labels",
    "rename_by_first_appearance",
    "rotation_labels",
    "sign_labels",
    "unit_rows",
]
