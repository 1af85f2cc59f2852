"""spectralcluster: E2CP on the common graph and on its own affinity, and must-links as affinities."""

from functools import partial

from spectralcluster import (
    ConstraintName,
    ConstraintOptions,
    IntegrationType,
    LaplacianType,
    SpectralClusterer,
)

PACKAGE = "spectralcluster"


def clustered(work, options, own_affinity=False):
    # Turn-to-Diarize's settings (its configs.py) but for the affinity: graph cut, unit rows, cosine k-means.
    settings = {} if own_affinity else {"affinity_function": lambda X: work.graph().toarray()}
    model = SpectralClusterer(
        min_clusters=work.n_clusters,
        max_clusters=work.n_clusters,
        laplacian_type=LaplacianType.GraphCut,
        row_wise_renorm=True,
        constraint_options=options,
        **settings,
    )
    return model.predict(work.X, work.signs())


def propagation(alpha):
    return ConstraintOptions(
        constraint_name=ConstraintName.ConstraintPropagation,
        apply_before_refinement=True,
        constraint_propagation_alpha=alpha,
    )


INTEGRATION = ConstraintOptions(
    constraint_name=ConstraintName.AffinityIntegration,
    apply_before_refinement=False,
    integration_type=IntegrationType.Max,
)
METHODS = {
    "E2CP on the graph, α = .6": partial(clustered, options=propagation(0.6)),
    "E2CP on the graph, α = .9": partial(clustered, options=propagation(0.9)),
    "E2CP on its cosine affinity, α = .6": partial(clustered, options=propagation(0.6), own_affinity=True),
    "must-links as full affinity": partial(clustered, options=INTEGRATION),
}
