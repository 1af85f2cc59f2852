"""Embedding to labels: k-means, sign, argmax, rotation and pivoted QR; and labels that satisfy links.

`assign_labels` is the front door; each rule is also a function of its own. `satisfy_links` repairs labels,
`keep_given_classes` lets what was given stand.
"""

from sidecut.labelling.confidence import measure_confidence
from sidecut.labelling.labels import (
    LabellingMethod,
    argmax_labels,
    assign_labels,
    chunked_kmeans,
    kmeans_centers,
    kmeans_labels,
    nearest_centers,
    qr_labels,
    rename_by_first_appearance,
    rotation_labels,
    rough_labels,
    sign_labels,
    unit_rows,
)
from sidecut.labelling.repair import Repair, keep_given_classes, repair_labels, satisfy_links

__all__ = [
    "LabellingMethod",
    "Repair",
    "argmax_labels",
    "assign_labels",
    "chunked_kmeans",
    "keep_given_classes",
    "kmeans_centers",
    "kmeans_labels",
    "measure_confidence",
    "nearest_centers",
    "qr_labels",
    "rename_by_first_appearance",
    "repair_labels",
    "rotation_labels",
    "rough_labels",
    "satisfy_links",
    "sign_labels",
    "unit_rows",
]
