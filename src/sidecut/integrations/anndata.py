"""Single cells: cluster an AnnData object by its neighbour graph and the known types of some cells.

Types are known from a column of ``obs`` or from marker genes. Keys are those of scanpy, which is not needed;
nor is anndata to import this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from sidecut import __version__
from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.inputs import read_labels
from sidecut.exceptions import ConstraintError, GraphWarning, warn
from sidecut.graphs import Graph, Neighbors, as_graph
from sidecut.selection import AutoCut

#: More genes than this are reduced to as many components, as scanpy does.
N_COMPONENTS = 50
Markers = Mapping[str, Sequence[str]]


def cluster(
    adata: Any,
    labels: str | None = None,
    *,
    key_added: str = "sidecut",
    n_clusters: int | str = "auto",
    markers: Markers | None = None,
    must_link: Iterable[tuple[str, str]] = (),
    cannot_link: Iterable[tuple[str, str]] = (),
    restrict_to: tuple[str, Sequence[str]] | None = None,
    neighbors_key: str | None = None,
    use_rep: str | None = None,
    estimator: Any = None,
    random_state: int | None = 0,
    copy: bool = False,
) -> Any:
    """Cluster cells, and name the clusters after the known cells in them.

    Parameters
    ----------
    adata : AnnData
        The cells. The graph is ``obsp["connectivities"]``, where scanpy's ``pp.neighbors`` put it; without
        it, one of 20 neighbours in ``obsm["X_pca"]`` or in `X`. Where cells are known and there are both,
        `AutoCut` uses ``obsm["X_pca"]`` with the graph, in the form that finds cells that were held out.
    labels : str, optional
        The column of ``obs`` with the types of cells that are known; NaN where they are not.
    key_added : str, default="sidecut"
        Where the result goes.
    n_clusters : int, tuple of int or "auto", default="auto"
        The number of clusters, or bounds such as (5, 20); "auto" is by the labels and the graph, see
        `AutoCut`.
    markers : dict of str to list of genes, optional
        Genes that mark a type. The cells that show the markers of one type most clearly count as known, see
        `marker_labels`; `labels` has precedence.
    must_link, cannot_link : iterable of pairs of names of cells, optional
        Cells of the same type, and cells of different types.
    restrict_to : tuple of a column of obs and some of its categories, optional
        Cluster these cells only; all others keep their category.
    neighbors_key : str, optional
        Another graph: that of ``uns[neighbors_key]``, as in scanpy; it is used alone.
    use_rep : str, optional
        Build the graph from this entry of ``obsm``, or from "X", even if there is one. With `neighbors_key`
        both are used, such as genes and where cells lie in the tissue.
    estimator : clusterer, optional
        A method of the library; by default `AutoCut`. Its `n_clusters`, unless that is "auto", its `affinity`
        and its `random_state` are set.
    random_state : int or None, default=0
        An int makes the result reproducible.
    copy : bool, default=False
        Return a changed copy instead of changing `adata`.

    Returns
    -------
    None or AnnData
        ``obs[key_added]`` is a categorical: known types by name, clusters without a known cell as "new 1",
        "new 2", ...; or "0", "1", ... where no type is known. ``obs[key_added + "_confidence"]`` is the
        confidence of each, from 0 to 1, and ``uns[key_added]`` lists parameters, graph and method.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import sidecut.integrations.anndata
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> kind = np.array(["setosa", "versicolor", "virginica"])[y]
    >>> adata = anndata.AnnData(X)
    >>> adata.obs["known"] = pd.Categorical(np.where(np.arange(150) % 10 == 0, kind, None))
    >>> sidecut.integrations.anndata.cluster(adata, labels="known")
    >>> round(float(np.mean(adata.obs["sidecut"] == kind)), 2)
    0.91
    """
    if copy:
        adata = adata.copy()
    cells = _choose_cells(adata, restrict_to)
    part = adata[cells] if restrict_to is not None else adata
    known, counts = gather_constraints(part, labels, markers, must_link, cannot_link)
    graph, source = find_graph(part, neighbors_key, use_rep)
    model = AutoCut() if estimator is None else clone(estimator)
    model.set_params(affinity="precomputed", random_state=random_state)
    if n_clusters != "auto" or estimator is None:
        model.set_params(n_clusters=n_clusters)
    if estimator is None and not known.is_empty and neighbors_key is None and use_rep is None:
        use_rep = "X_pca" if "X_pca" in part.obsm and source.startswith("obsp") else None
    if use_rep is not None and source.startswith("obsp"):
        points, named = _representation(part, use_rep)
        model.set_params(affinity="auto" if isinstance(model, AutoCut) else "knn")
        model.fit(points, constraints=known, graph=graph)
        source = f"{named} and {source}"
    else:
        model.fit(graph, constraints=known)
    names = cell_names(model.labels_, model.cluster_classes_)
    _write(adata, key_added, cells, names, model.confidence_, restrict_to)
    adata.uns[key_added] = {
        "params": _plain_parameters(labels, n_clusters, markers, restrict_to, random_state),
        "knowledge": counts,
        "graph": source,
        "method": type(model).__name__,
        "explanation": str(getattr(model, "explanation_", "")),
        "n_clusters": len(np.unique(model.labels_)),
        "sidecut_version": __version__,
    }
    return adata if copy else None


def marker_labels(adata: Any, markers: Markers, share: float = 0.1) -> NDArray[Any]:
    """Return the type of the cells that show the markers of one type most clearly, None for all others.

    The score of a type is the mean of its markers' expression, each gene scaled to mean 0 and variance 1. The
    scores of a type are a mixture of two Gaussians. Cells in the upper one, whose highest score is that of
    the type, are candidates. The `share` of them that lead the other types by most count as known.

    Parameters
    ----------
    adata : AnnData
        The cells, normalised and in logarithms.
    markers : dict of str to list of genes
        The genes of each type.
    share : float, default=0.1
        Of the cells of each type.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> from sidecut.integrations.anndata import marker_labels
    >>> genes = pd.DataFrame(index=["CD3D", "MS4A1"])
    >>> adata = anndata.AnnData(np.array([[3.0, 0], [1, 0], [0, 1], [0, 4]]), var=genes)
    >>> marker_labels(adata, {"T cell": ["CD3D"], "B cell": ["MS4A1"]}, share=0.5)
    array(['T cell', None, None, 'B cell'], dtype=object)
    """
    if not (0 < share <= 1):
        raise ValueError(f"share={share!r}: the share of cells that count as known lies between 0 and 1.")
    scores = np.stack([_score(adata, name, genes) for name, genes in markers.items()], axis=1)
    best = scores.argmax(axis=1)
    rivals = scores.copy()
    rivals[np.arange(len(best)), best] = -np.inf
    lead = scores.max(axis=1) - (rivals.max(axis=1) if len(markers) > 1 else 0.0)
    found: NDArray[Any] = np.full(len(best), None, dtype=object)
    for number, name in enumerate(markers):
        cells = np.flatnonzero((best == number) & _is_upper(scores[:, number]))
        n_clear = int(np.ceil(share * len(cells)))
        found[cells[np.argsort(-lead[cells], kind="stable")[:n_clear]]] = name
    return found


def _is_upper(scores: FloatArray) -> BoolArray:
    """Return which scores belong to the upper of two Gaussians; a rare type has a narrow one far up."""
    start = [[float(np.median(scores))], [float(scores.max())]]
    mixture = GaussianMixture(2, means_init=start, random_state=0).fit(scores[:, None])
    upper = int(mixture.means_[:, 0].argmax())
    # A wide Gaussian is the likelier one on both sides of a narrow one, so low scores are excluded.
    is_up = scores > mixture.means_[:, 0].mean()
    return (mixture.predict(scores[:, None]) == upper) & is_up


def _score(adata: Any, name: str, genes: Sequence[str]) -> FloatArray:
    places = adata.var_names.get_indexer(list(genes))
    if len(places) == 0 or (places < 0).any():
        missing = [gene for gene, place in zip(genes, places, strict=True) if place < 0]
        raise ConstraintError(
            f"markers of {name!r}: {missing or 'no gene'} not found among adata.var_names; rename them."
        )
    values = adata.X[:, places]
    values = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
    spread = values.std(axis=0)
    return ((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).mean(axis=1)


def gather_constraints(
    adata: Any,
    labels: str | None = None,
    markers: Markers | None = None,
    must_link: Iterable[tuple[str, str]] = (),
    cannot_link: Iterable[tuple[str, str]] = (),
) -> tuple[Constraints, dict[str, int]]:
    """Return the constraints between cells, and the number of each kind."""
    types: NDArray[Any] = np.full(adata.n_obs, None, dtype=object)
    if markers:
        types = marker_labels(adata, markers)
    n_marked = sum(kind is not None for kind in types)
    if labels is not None:
        codes, names = read_labels(_column(adata, labels).to_numpy(dtype=object), f"obs[{labels!r}]")
        types[codes >= 0] = np.array([*names, None], dtype=object)[codes[codes >= 0]]
    must = _as_rows(adata, must_link, "must_link")
    cannot = _as_rows(adata, cannot_link, "cannot_link")
    known = Constraints.from_labels(types) | Constraints.from_pairs(adata.n_obs, must, cannot)
    n_known = sum(kind is not None for kind in types)
    counts = {"known_cells": n_known, "marked_cells": n_marked, "must_links": len(must)}
    return known, counts | {"cannot_links": len(cannot)}


def _column(adata: Any, name: str) -> Any:
    if name not in adata.obs:
        raise ConstraintError(f"adata.obs has no column {name!r}; it has {', '.join(map(repr, adata.obs))}.")
    return adata.obs[name]


def _as_rows(adata: Any, links: Iterable[tuple[str, str]], name: str) -> IntArray:
    pairs = [tuple(pair) for pair in links]
    rows = adata.obs_names.get_indexer([cell for pair in pairs for cell in pair]).reshape(-1, 2)
    for pair, places in zip(pairs, rows, strict=True):
        if (places < 0).any():
            raise ConstraintError(f"{name} {pair}: not both are names of cells in adata.obs_names.")
    return rows


def find_graph(adata: Any, neighbors_key: str | None = None, use_rep: str | None = None) -> tuple[Graph, str]:
    """Return the neighbour graph of the cells, built if there is none, and where it comes from."""
    if use_rep is None or neighbors_key is not None:
        key = "connectivities"
        if neighbors_key is not None:
            if neighbors_key not in adata.uns:
                raise ConstraintError(f"adata.uns has no {neighbors_key!r}; run scanpy.pp.neighbors first.")
            # Files of older versions of scanpy do not say it.
            key = adata.uns[neighbors_key].get("connectivities_key", key)
        if key in adata.obsp:
            return as_graph(adata.obsp[key]), f"obsp[{key!r}]"
        use_rep = "X_pca" if "X_pca" in adata.obsm else "X"
    points, source = _representation(adata, use_rep)
    return Neighbors(min(20, adata.n_obs - 1)).build(points), f"20 neighbours in {source}"


def _representation(adata: Any, use_rep: str) -> tuple[FloatArray, str]:
    if use_rep != "X":
        if use_rep not in adata.obsm:
            raise ConstraintError(
                f"adata.obsm has no {use_rep!r}; it has {', '.join(map(repr, adata.obsm))}."
            )
        return np.asarray(adata.obsm[use_rep], dtype=np.float64), f"obsm[{use_rep!r}]"
    points = adata.X
    if adata.n_vars <= N_COMPONENTS or adata.n_obs <= N_COMPONENTS:
        return np.asarray(points.toarray() if sp.issparse(points) else points, dtype=np.float64), "X"
    entries = points.data if sp.issparse(points) else np.asarray(points)
    if entries.size and entries.max() > 30 and np.array_equal(entries, np.round(entries)):
        warn(
            "X holds whole numbers, which look like raw counts: distances would mostly reflect the total "
            "count of a cell. Normalise and take logarithms, or run scanpy.pp.neighbors first.",
            GraphWarning,
        )
    reduced = PCA(N_COMPONENTS, svd_solver="arpack", random_state=0).fit_transform(points.astype(np.float64))
    return reduced, f"{N_COMPONENTS} principal components of X"


def cell_names(labels: IntArray, types: Mapping[int, Any]) -> NDArray[Any]:
    """Return the name of every cell's cluster, given the known types of some clusters."""
    names: NDArray[Any] = np.empty(int(labels.max()) + 1, dtype=object)
    taken: dict[str, int] = {}
    # Of two clusters of one type the larger has the plain name.
    for number in np.argsort(-np.bincount(labels), kind="stable").tolist():
        name = str(types.get(number, "new" if types else number))
        taken[name] = taken.get(name, 0) + 1
        is_plain = taken[name] == 1 and (number in types or not types)
        names[number] = name if is_plain else f"{name} {taken[name]}"
    return names[labels]


def _choose_cells(adata: Any, restrict_to: tuple[str, Sequence[str]] | None) -> BoolArray:
    if restrict_to is None:
        return np.ones(adata.n_obs, dtype=bool)
    key, categories = restrict_to
    cells = np.asarray(_column(adata, key).isin(list(categories)))
    if cells.sum() < 2:
        raise ConstraintError(f"restrict_to={restrict_to!r} leaves {cells.sum()} cells; there must be two.")
    return cells


def _write(
    adata: Any,
    key: str,
    cells: BoolArray,
    found: NDArray[Any],
    confidence: FloatArray,
    restrict_to: tuple[str, Sequence[str]] | None,
) -> None:
    import pandas

    names: NDArray[Any] = np.empty(adata.n_obs, dtype=object)
    names[cells], sure = found, np.full(adata.n_obs, np.nan)
    sure[cells] = confidence
    if restrict_to is not None:
        column, categories = restrict_to
        names[cells] = [f"{'-'.join(map(str, categories))},{name}" for name in names[cells]]
        names[~cells] = adata.obs[column].astype(str).to_numpy()[~cells]
    # Numbers come first, in the order of numbers.
    in_order = sorted(set(names), key=lambda name: (0, int(name), name) if name.isdigit() else (1, 0, name))
    adata.obs[key] = pandas.Categorical(names, categories=in_order)
    adata.obs[f"{key}_confidence"] = sure


def _plain_parameters(
    labels: str | None, n_clusters: Any, markers: Markers | None, restrict_to: Any, random_state: Any
) -> dict[str, Any]:
    """Return the parameters as files of AnnData can hold them: nothing that is None."""
    given = {
        "labels": labels,
        "n_clusters": str(n_clusters),
        "markers": {name: list(genes) for name, genes in markers.items()} if markers else None,
        "restrict_to": None if restrict_to is None else [restrict_to[0], *map(str, restrict_to[1])],
        "random_state": random_state,
    }
    return {name: value for name, value in given.items() if value is not None}
