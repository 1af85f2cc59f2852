"""constrained-linkage: agglomerative clustering with a reward on must-links and a price on cannot-links."""

from constrained_linkage import constrained_linkage
from scipy.cluster.hierarchy import fcluster
from scipy.spatial.distance import pdist

PACKAGE = "constrained-linkage"
#: Distances are divided by the largest, so that a price this high always counts for more than a distance.
PRICE = 1000.0


def clustered(work, method):
    tree = constrained_linkage(
        pdist(work.X), method, constraint_matrix=-PRICE * work.signs(), normalize_distances=True
    )
    return fcluster(tree, work.n_clusters, criterion="maxclust")


METHODS = {
    "ward": lambda work: clustered(work, "ward"),
    "average": lambda work: clustered(work, "average"),
}
