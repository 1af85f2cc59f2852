"""Seats where people already work: cells (AnnData), records (splink, dedupe), speakers (pyannote).

Each module takes the objects of other packages and gives them back with clusters; none of those packages is
imported before it is used.
"""

from sidecut.integrations.records import cluster_records
from sidecut.integrations.speakers import SpeakerClusterer

__all__ = ["SpeakerClusterer", "cluster_records"]
