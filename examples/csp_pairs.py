"""Pairs: forty facts about two noisy moons.

Somebody looked at forty pairs of points and said whether they belong together. CSP looks for the cheapest cut
that respects them.
"""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, Constraints, NormalizedCut


def main() -> None:
    X, y = make_moons(400, noise=0.15, random_state=0)
    pairs = np.random.default_rng(0).choice(400, size=(40, 2), replace=False)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    known = Constraints.from_pairs(400, must_link=pairs[same], cannot_link=pairs[~same])

    before = NormalizedCut(n_clusters=2, random_state=0).fit_predict(X)
    model = CSP(n_clusters=2, random_state=0).fit(X, constraints=known)
    print(known)
    print(f"before: ARI {adjusted_rand_score(y, before):.2f}")
    print(f"after:  ARI {adjusted_rand_score(y, model.labels_):.2f}, of {model.n_feasible_} feasible cuts")
    save_picture(X, before, model.labels_, known)


def save_picture(X, before, after, known) -> None:
    try:
        from sidecut.plots import plot_before_after

        plot_before_after(X, before, after, known)[0].figure.savefig("csp_pairs.png", dpi=150)
    except ImportError:
        print('No picture: pip install "sidecut[plots]"')


if __name__ == "__main__":
    main()
