"""Estimators on Dask: SCACS and LSC on rows on other machines, methods on graphs on blocks of a graph.

`fit` takes an estimator and a dask array or data frame, and returns the estimator fitted, with `labels_` and
`embedding_` as dask arrays; or a graph in blocks (`sidecut.graphs.BlockGraph`), whose parts lie with workers.
`predict` labels further dask rows. `constraints_by_key` makes constraints from pairs and labels of keys of a
dask frame, `constraints_by_label` from a column of labels.
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"sidecut.distributed needs dask and distributed ({error}): "
        "pip install 'dask[array,dataframe]' distributed."
    ) from error

from sidecut.distributed.fitting import fit, predict
from sidecut.distributed.partitions import constraints_by_key, constraints_by_label

__all__ = ["constraints_by_key", "constraints_by_label", "fit", "predict"]
