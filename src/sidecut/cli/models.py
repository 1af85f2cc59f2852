"""Fitted models to files and back; a file holds arrays and names of known types, and nothing in it is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidecut import __version__
from sidecut.cli.errors import UsageError, require
from sidecut.cli.preparation import Preparation
from sidecut.cli.result import ClusterRun

__all__ = ["SavedModel", "load_model", "save_model"]

#: Types a file may hold beyond those skops trusts itself.
TRUSTED = ("sidecut.", "scipy.sparse._csr.csr_array", "numpy.dtype")


@dataclass(frozen=True)
class SavedModel:
    """What is needed to put new points into clusters.

    Parameters
    ----------
    predictor : estimator
        The model, or the nearest points it labelled where it cannot label others itself.
    preparation : Preparation or None
        How the columns of a table become features.
    classes : dict of int to str
        Which cluster is which class.
    method : str
        Name of the method.
    n_features : int
        Features of a point, for arrays.
    """

    predictor: Any
    preparation: Preparation | None
    classes: dict[int, str]
    method: str
    n_features: int


def save_model(path: Path, run: ClusterRun) -> None:
    """Write what `load_model` reads.

    Parameters
    ----------
    path : Path
        Where to write.
    run : ClusterRun
        A run on points with features.
    """
    prepared = run.points.preparation or Preparation(columns=())
    require("skops.io", "Saving models").dump(
        {
            "sidecut": __version__,
            "method": run.method,
            "predictor": _predictor(run),
            "columns": list(prepared.columns),
            "transformer": prepared.transformer,
            "exponents": prepared.exponents,
            "scaler": prepared.scaler,
            "clusters": list(run.class_of_cluster),
            "classes": list(run.class_of_cluster.values()),
            "n_features": int(run.points.X.shape[1]),
        },
        path,
    )


def _predictor(run: ClusterRun) -> Any:
    for model in (run.model, getattr(run.model, "best_estimator_", None)):
        if hasattr(model, "predict"):
            return model
    from sklearn.neighbors import KNeighborsClassifier

    n_neighbors = min(5, run.points.n_samples)
    return KNeighborsClassifier(n_neighbors, weights="distance", algorithm="brute").fit(
        run.points.X, run.labels
    )


def load_model(path: Path) -> SavedModel:
    """Read a model.

    Raises
    ------
    UsageError
        If the file is no model, or holds types that a model has no use for.
    """
    skops = require("skops.io", "Reading models")
    try:
        strange = [name for name in skops.get_untrusted_types(file=path) if not name.startswith(TRUSTED)]
        if strange:
            raise UsageError(
                f"{path} holds {', '.join(strange[:3])}, which no model of sidecut does; it is not read."
            )
        parts = skops.load(path, trusted=skops.get_untrusted_types(file=path))
        prepared = Preparation(
            tuple(parts["columns"]), parts["transformer"], parts["exponents"], parts["scaler"]
        )
        classes = dict(zip(parts["clusters"], parts["classes"], strict=True))
        return SavedModel(parts["predictor"], prepared, classes, parts["method"], parts["n_features"])
    except UsageError:
        raise
    except Exception as error:
        # Whatever a broken or foreign file makes the reader stumble over.
        raise UsageError(
            f"{path} is no model that this version of sidecut ({__version__}) can read; write it with "
            "sidecut cluster --model."
        ) from error
