"""Transfer: a clear network helps to cut a blurred one on the same people.

Two networks join the same 300 people. The target is measured badly: its two groups hardly show. The source is
another day's network, clearer, with other edges. The source enters as soft must-links (section 6.3).
"""

from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, Constraints, NormalizedCut
from sidecut.datasets import stochastic_block_graph


def main() -> None:
    target, y = stochastic_block_graph([150, 150], 0.10, 0.075, random_state=0)
    source, _ = stochastic_block_graph([150, 150], 0.10, 0.04, random_state=1)
    knowledge = Constraints.from_graph(source)

    alone = NormalizedCut(n_clusters=2, affinity="precomputed", random_state=0)
    print(f"source alone: ARI {adjusted_rand_score(y, alone.fit_predict(source)):.2f}")
    before = alone.fit_predict(target)
    model = CSP(n_clusters=2, beta=("fraction", 0.8), normalization="source", affinity="precomputed")
    model.fit(target, constraints=knowledge)
    print(f"before: ARI {adjusted_rand_score(y, before):.2f}")
    print(f"after:  ARI {adjusted_rand_score(y, model.labels_):.2f}")
    save_picture(model)


def save_picture(model) -> None:
    try:
        from sidecut.plots import plot_indicator

        plot_indicator(model, title="The cut of the target").figure.savefig("csp_transfer.png", dpi=150)
    except ImportError:
        print('No picture: pip install "sidecut[plots]"')


if __name__ == "__main__":
    main()
