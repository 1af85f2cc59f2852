"""A second metric: two halves of an image, each a view of its own.

The left halves of digits make the graph. How alike the right halves are enters as soft must-links, one real
number per pair, which may disagree with the graph and with each other.
"""

from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, Constraints, NormalizedCut
from sidecut.graphs import Neighbors


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    images = X.reshape(-1, 8, 8)
    left, right = images[:, :, :4].reshape(len(y), -1), images[:, :, 4:].reshape(len(y), -1)
    beliefs = Constraints.from_graph(Neighbors(15).build(right).matrix)

    alone = NormalizedCut(n_clusters=10, n_neighbors=15, random_state=0)
    model = CSP(n_clusters=10, beta=("fraction", 0.8), normalization="source", n_neighbors=15, random_state=0)
    model.fit(left, constraints=beliefs)
    print(f"right halves alone: ARI {adjusted_rand_score(y, alone.fit_predict(right)):.2f}")
    print(f"before: ARI {adjusted_rand_score(y, alone.fit_predict(left)):.2f} from left halves alone")
    print(f"after:  ARI {adjusted_rand_score(y, model.labels_):.2f} from left halves, given right halves")
    save_picture(model, y)


def save_picture(model, y) -> None:
    try:
        from sidecut.plots import plot_embedding, project_for_picture

        ax = plot_embedding(project_for_picture(model.embedding_), y, title="Digits in the embedding")
        ax.figure.savefig("csp_second_metric.png", dpi=150)
    except ImportError:
        print('No picture: pip install "sidecut[plots]"')


if __name__ == "__main__":
    main()
