"""Who is compared, with the newest dependencies each still runs on."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.quality.peers.runners.sidecut import METHODS as OURS


@dataclass(frozen=True)
class Peer:
    """A package, what to install for it, and which of its methods to run.

    Parameters
    ----------
    name : str
        As it is called on the package index.
    methods : tuple of str
        Keys of METHODS of its runner.
    requirements : tuple of str
        What pip installs into its environment; empty for packages of the project's own environment.
    why : str
        Why anything is held back from its newest version.
    """

    name: str
    methods: tuple[str, ...]
    requirements: tuple[str, ...] = ()
    why: str = ""

    @property
    def runner(self) -> str:
        """The name of the runner's file."""
        return f"{self.name.replace('-', '_').replace('.', '_')}.py"


PEERS = [
    Peer("scikit-learn", ("SpectralClustering, unconstrained", "LabelSpreading, 20 labels")),
    Peer("sidecut", tuple(OURS)),
    Peer(
        "spectralcluster",
        (
            "E2CP on the graph, α = .6",
            "E2CP on the graph, α = .9",
            "E2CP on its cosine affinity, α = .6",
            "must-links as full affinity",
        ),
        ("spectralcluster",),
    ),
    Peer(
        "fast_hdbscan",
        (
            "cannot-links",
            "cannot-links, clusters of 100 or more",
            "20 labels",
            "20 labels, clusters of 100 or more",
            "PLSCAN, told nothing",
        ),
        ("fast_hdbscan[nndescent]",),
    ),
    Peer("evoc", ("layers, told nothing",), ("evoc",)),
    Peer(
        "graphlearning", ("Poisson, 20 labels", "PoissonMBO, 20 labels, told the sizes"), ("graphlearning",)
    ),
    Peer("k-means-constrained", ("told the least and the largest size",), ("k-means-constrained",)),
    Peer(
        "pyannote.core",
        ("constrained pool",),
        ("pyannote.core", "scipy"),
        "imports scipy without requiring it",
    ),
    Peer(
        "cobras-ts",
        ("COBRAS, 200 questions of its own",),
        ("cobras-ts", "numpy<1.24"),
        "uses np.int, which numpy 1.24 removed",
    ),
    Peer(
        "metric-learn",
        ("ITML + k-means", "MMC + k-means"),
        ("metric-learn", "scikit-learn<1.8"),
        "passes force_all_finite, which scikit-learn 1.8 removed",
    ),
    Peer(
        "active-semi-supervised-clustering",
        ("PC-k-means", "COP-k-means", "MPC-k-means"),
        ("active-semi-supervised-clustering",),
    ),
    Peer("constrained-linkage", ("ward", "average"), ("constrained-linkage", "scipy")),  # scipy cuts its tree
    Peer(
        "cognitivefactory-interactive-clustering",
        ("spectral", "COP-k-means"),
        ("cognitivefactory-interactive-clustering", "scipy<1.11"),
        "stacks a generator of sparse matrices, which scipy 1.11 stopped taking",
    ),
]
REFERENCE = ("scikit-learn", "SpectralClustering, unconstrained")


def chosen(names: list[str] | None) -> list[Peer]:
    """Return the peers of some names, or all."""
    known = {peer.name: peer for peer in PEERS}
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise ValueError(f"no peer is called {', '.join(unknown)}: choose from {', '.join(known)}.")
    return [known[name] for name in names] if names else PEERS
