"""Clusters for other packages: cells (AnnData), topics (BERTopic), speakers (pyannote), records (splink).

Each module takes the objects of other packages and returns them with clusters; none of those packages is
imported before it is used.
"""

from sidecut.integrations import anndata as anndata
from sidecut.integrations.bertopic import TopicClusterer
from sidecut.integrations.records import cluster_records
from sidecut.integrations.speakers import SpeakerClusterer

__all__ = ["SpeakerClusterer", "TopicClusterer", "cluster_records"]
