"""Partial labels: what the digits of fifty images say about 1,797.

Labels of a few points are must-links within a class and cannot-links between classes, all at once.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, Constraints, NormalizedCut


def main() -> None:
    X, y = load_digits(return_X_y=True)
    seen = np.random.default_rng(0).choice(len(y), size=50, replace=False)
    labels = np.full(len(y), -1)
    labels[seen] = y[seen]
    known = Constraints.from_labels(labels)

    before = NormalizedCut(n_clusters=10, random_state=0).fit_predict(X)
    model = CSP(n_clusters=10, random_state=0).fit(X, constraints=known)
    others = labels == -1
    print(f"before: ARI {adjusted_rand_score(y[others], before[others]):.2f} on the images nobody labelled")
    print(f"after:  ARI {adjusted_rand_score(y[others], model.labels_[others]):.2f}")
    print(model.cuts_)
    save_picture(model, known)


def save_picture(model, known) -> None:
    try:
        from sidecut.plots import plot_numerical_range

        ax = plot_numerical_range(model, known, n_directions=36, title="Cuts of the digits")
        ax.figure.savefig("csp_partial_labels.png", dpi=150)
    except ImportError:
        print('No picture: pip install "sidecut[plots]"')


if __name__ == "__main__":
    main()
