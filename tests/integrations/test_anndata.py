"""AnnData: graphs and knowledge read from where scanpy puts them, results written where it looks for them."""

from contextlib import nullcontext

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from sidecut import NormalizedCut, PoissonLearning, PoissonMBO, SpectralLearning
from sidecut.exceptions import ConstraintError, GraphWarning
from sidecut.graphs import Neighbors
from sidecut.integrations.anndata import cell_names, cluster, find_graph, gather_constraints, marker_labels

QUICK = PoissonLearning()
TYPES = np.array(["B cell", "T cell", "monocyte", "NK cell"])


def cells(n=240, n_genes=80, seed=0):
    """Counts of four types of cells: ten genes mark each; normalised and in logarithms."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(4, size=n)
    rates = rng.gamma(1.0, 1.0, n_genes) * np.ones((4, 1))
    for number in range(4):
        rates[number, 10 * number : 10 * (number + 1)] *= 4
        rates[number, 10 * number : 10 * (number + 1)] += 1
    counts = rng.poisson(rates[kind] * rng.uniform(0.5, 2, (n, 1)))
    values = np.log1p(1e3 * counts / counts.sum(axis=1, keepdims=True))
    adata = anndata.AnnData(sparse.csr_matrix(values))
    adata.var_names = [f"gene{g}" for g in range(n_genes)]
    adata.obs_names = [f"cell{c}" for c in range(n)]
    adata.obs["truth"] = TYPES[kind]
    adata.obs["known"] = pd.Categorical(np.where(rng.random(n) < 0.1, TYPES[kind], None))
    return adata


def accuracy(adata, key="sidecut"):
    return np.mean(adata.obs[key].astype(str) == adata.obs["truth"])


def test_known_cells_name_all_others():
    adata = cells()
    assert cluster(adata, labels="known") is None
    found = adata.obs["sidecut"]
    assert isinstance(found.dtype, pd.CategoricalDtype)
    assert sorted(found.cat.categories) == sorted(TYPES)
    assert accuracy(adata) > 0.95
    assert adata.obs["sidecut_confidence"].between(0, 1).all()
    done = adata.uns["sidecut"]
    assert done["graph"] == "20 neighbours in 50 principal components of X"
    assert done["knowledge"]["known_cells"] == adata.obs["known"].notna().sum()
    assert done["params"] == {"labels": "known", "n_clusters": "auto", "random_state": 0}


def test_what_is_written_can_be_saved(tmp_path):
    adata = cells()
    cluster(adata, labels="known", markers={"B cell": ["gene0", "gene1"]}, cannot_link=[("cell0", "cell1")])
    # anndata 0.12 writes the indices of pandas 3 only on request; anndata 0.10 has no settings.
    as_they_are = {"allow_write_nullable_strings": True}
    with anndata.settings.override(**as_they_are) if hasattr(anndata, "settings") else nullcontext():
        adata.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert back.obs["sidecut"].astype(str).tolist() == adata.obs["sidecut"].astype(str).tolist()
    assert back.uns["sidecut"]["knowledge"]["cannot_links"] == 1
    assert list(back.uns["sidecut"]["params"]["markers"]["B cell"]) == ["gene0", "gene1"]
    assert "chosen" in back.uns["sidecut"]["explanation"] or back.uns["sidecut"]["explanation"]


def test_the_graph_of_scanpy_is_used_before_any_other():
    adata = cells()
    graph = Neighbors(10).build(adata.X.toarray())
    adata.obsp["connectivities"] = sparse.csr_matrix(graph.apply(np.eye(240)))
    found, source = find_graph(adata)
    assert source == "obsp['connectivities']"
    np.testing.assert_allclose(found.apply(np.eye(240)), graph.apply(np.eye(240)))
    adata.obsm["X_pca"] = adata.X.toarray()[:, :5]
    assert find_graph(adata, use_rep="X_pca")[1] == "20 neighbours in obsm['X_pca']"
    del adata.obsp["connectivities"]
    assert find_graph(adata)[1] == "20 neighbours in obsm['X_pca']"


def test_another_graph_by_its_key():
    adata = cells()
    weights = sparse.csr_matrix(Neighbors(10).build(adata.X.toarray()).apply(np.eye(240)))
    adata.obsp["mine_connectivities"] = weights
    adata.uns["mine"] = {"connectivities_key": "mine_connectivities"}
    assert find_graph(adata, neighbors_key="mine")[1] == "obsp['mine_connectivities']"
    # As in the cells that scanpy carries, written by an older version.
    adata.uns["neighbors"] = {"params": {"n_neighbors": 10}}
    adata.obsp["connectivities"] = 2 * weights
    graph, source = find_graph(adata, neighbors_key="neighbors")
    assert source == "obsp['connectivities']"
    assert graph.degrees == pytest.approx(2 * np.asarray(weights.sum(axis=1)).ravel())
    with pytest.raises(ConstraintError, match=r"adata\.uns has no 'other'"):
        find_graph(adata, neighbors_key="other")


def test_markers_alone_name_the_cells():
    adata = cells()
    markers = {kind: [f"gene{10 * n + g}" for g in range(5)] for n, kind in enumerate(TYPES)}
    marked = marker_labels(adata, markers)
    is_marked = np.array([kind is not None for kind in marked])
    assert 20 <= is_marked.sum() <= 28
    assert np.mean(marked[is_marked] == adata.obs["truth"][is_marked]) > 0.95
    cluster(adata, markers=markers, estimator=QUICK, n_clusters=4)
    assert accuracy(adata) > 0.9
    assert adata.uns["sidecut"]["knowledge"]["marked_cells"] == is_marked.sum()


def test_markers_of_one_rare_type_find_its_cells():
    adata = cells(600, seed=3)
    is_rare = (adata.obs["truth"] == "NK cell") & (np.arange(600) % 5 == 0)
    adata = adata[is_rare | (adata.obs["truth"] != "NK cell")].copy()
    marked = marker_labels(adata, {"NK cell": [f"gene{30 + g}" for g in range(6)]}, share=0.5)
    found = adata.obs["truth"][[kind is not None for kind in marked]]
    assert len(found) >= 8
    assert (found == "NK cell").all()


def test_the_score_of_markers_by_hand():
    rng = np.random.default_rng(0)
    is_a = np.arange(60) < 30
    values = np.where(np.stack([is_a, is_a, ~is_a], axis=1), 4.0, 1.0) + 0.5 * rng.normal(size=(60, 3))
    adata = anndata.AnnData(values, var=pd.DataFrame(index=["a1", "a2", "b"]))
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    lead = (z[:, 0] + z[:, 1]) / 2 - z[:, 2]
    found = marker_labels(adata, {"A": ["a1", "a2"], "B": ["b"]}, share=0.1)
    assert set(np.flatnonzero(found == "A")) == set(np.argsort(-lead)[:3])
    assert set(np.flatnonzero(found == "B")) == set(np.argsort(lead)[:3])
    assert (found != None).sum() == 6  # noqa: E711
    alone = marker_labels(adata, {"A": ["a1", "a2"]}, share=1.0)
    assert np.array_equal(alone == "A", is_a)


def test_labels_are_believed_before_markers():
    adata = cells()
    markers = {"B cell": ["gene0"], "T cell": ["gene10"]}
    cell = int(np.flatnonzero(marker_labels(adata, markers) == "B cell")[0])
    adata.obs["known"] = pd.Series(index=adata.obs_names, dtype=object)
    adata.obs.loc[f"cell{cell}", "known"] = "odd"
    known, counts = gather_constraints(adata, "known", markers)
    assert counts["known_cells"] == counts["marked_cells"]
    assert known.name_clusters(np.arange(240))[cell] == "odd"


def test_pairs_of_cells_by_name():
    adata = cells()
    first = adata.obs_names[adata.obs["truth"] == "B cell"][:2]
    other = adata.obs_names[adata.obs["truth"] == "T cell"][0]
    cluster(
        adata,
        n_clusters=4,
        estimator=SpectralLearning(),
        must_link=[tuple(first)],
        cannot_link=[(first[0], other)],
    )
    assert adata.uns["sidecut"]["knowledge"] == {
        "known_cells": 0, "marked_cells": 0, "must_links": 1, "cannot_links": 1,
    }  # fmt: skip
    assert adata.obs["sidecut"].cat.categories.tolist() == ["0", "1", "2", "3"]
    assert adjusted_rand_score(adata.obs["truth"], adata.obs["sidecut"]) > 0.9


def test_types_nobody_knows_are_new():
    adata = cells()
    adata.obs.loc[adata.obs["known"] == "NK cell", "known"] = None
    cluster(adata, labels="known", estimator=QUICK, n_clusters=4)
    table = pd.crosstab(adata.obs["truth"], adata.obs["sidecut"])
    assert table.loc["NK cell"].idxmax() == "new 1"
    assert set(adata.obs["sidecut"].cat.categories) == {"B cell", "T cell", "monocyte", "new 1"}


def test_only_some_cells_are_clustered():
    adata = cells()
    adata.obs["coarse"] = np.where(adata.obs["truth"].isin(["B cell", "T cell"]), "lymph", "rest")
    cluster(adata, labels="known", restrict_to=("coarse", ["lymph"]), n_clusters=2, estimator=QUICK)
    found = adata.obs["sidecut"].astype(str)
    is_lymph = adata.obs["coarse"] == "lymph"
    assert set(found[~is_lymph]) == {"rest"}
    assert set(found[is_lymph]) == {"lymph,B cell", "lymph,T cell"}
    assert np.mean(found[is_lymph] == "lymph," + adata.obs["truth"][is_lymph].astype(str)) > 0.95
    assert adata.obs["sidecut_confidence"].isna().equals(~is_lymph)
    with pytest.raises(ConstraintError, match="leaves 0 cells"):
        cluster(adata, restrict_to=("coarse", ["nobody"]))


def test_copies_other_methods_and_other_keys():
    adata = cells()
    changed = cluster(adata, labels="known", key_added="mine", estimator=PoissonMBO(n_clusters=4), copy=True)
    assert "mine" not in adata.obs
    assert accuracy(changed, "mine") > 0.95
    assert changed.uns["mine"]["method"] == "PoissonMBO"
    cluster(adata, estimator=NormalizedCut(), n_clusters=3)
    assert adata.uns["sidecut"]["n_clusters"] == 3


def test_two_clusters_of_one_type_are_told_apart():
    labels = np.array([0, 1, 1, 2, 3, 3, 3, 4])
    named = cell_names(labels, {0: "B cell", 1: "B cell", 2: "T cell"})
    assert named.tolist() == ["B cell 2", "B cell", "B cell", "T cell", "new 1", "new 1", "new 1", "new 2"]
    assert cell_names(labels, {}).tolist() == [str(number) for number in labels]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "nothing"}, "no column 'nothing'"),
        ({"use_rep": "X_umap"}, "adata.obsm has no 'X_umap'"),
        ({"markers": {"B cell": ["MS4A1"]}}, "MS4A1"),
        ({"must_link": [("cell0", "cell999")]}, "not both are names"),
    ],
)
def test_errors_say_what_is_missing(options, message):
    with pytest.raises(ConstraintError, match=message):
        cluster(cells(), **options)


def test_raw_counts_are_warned_of():
    adata = anndata.AnnData(np.random.default_rng(0).poisson(20, (60, 60)).astype(float))
    with pytest.warns(GraphWarning, match="raw counts"):
        find_graph(adata)
