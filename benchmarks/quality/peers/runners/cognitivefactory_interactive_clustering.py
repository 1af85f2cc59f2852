"""cognitivefactory-interactive-clustering: its spectral clustering and its COP-k-means."""

from cognitivefactory.interactive_clustering.clustering.factory import clustering_factory
from cognitivefactory.interactive_clustering.constraints.factory import managing_factory
from scipy.sparse import csr_matrix

PACKAGE = "cognitivefactory-interactive-clustering"


def clustered(work, algorithm, **settings):
    names = [str(number) for number in range(len(work.X))]
    manager = managing_factory(list_of_data_IDs=names, manager="binary")
    for kind in ("must_link", "cannot_link"):
        for i, j in work.pairs(kind):
            manager.add_constraint(data_ID1=names[i], data_ID2=names[j], constraint_type=kind.upper())
    model = clustering_factory(algorithm=algorithm, random_seed=0, **settings)
    found = model.cluster(
        constraints_manager=manager,
        vectors={name: csr_matrix(row) for name, row in zip(names, work.X, strict=True)},
        nb_clusters=work.n_clusters,
    )
    return [found[name] for name in names]


METHODS = {
    "spectral": lambda work: clustered(work, "spectral", model="SPEC"),
    "COP-k-means": lambda work: clustered(work, "kmeans", model="COP"),
}
