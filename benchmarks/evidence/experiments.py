"""What `make evidence` runs: each experiment answers a question of a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Experiment:
    """A question, and the commands that answer it.

    Parameters
    ----------
    name : str
        What `ONLY=` calls it.
    question : str
        As a reader of the page would ask.
    page : str
        Where the answer is, below docs/.
    steps : tuple of str
        Modules below `benchmarks` with their arguments. DATA stands for the folder of data sets.
    quick : tuple of str
        The same in a minute or less, without data from elsewhere; empty where that cannot be.
    forget : tuple of str
        Files below benchmarks/results whose rows would be kept instead of measured again.
    is_timed : bool
        Whether it is about time, and runs with nothing beside it.
    """

    name: str
    question: str
    page: str
    steps: tuple[str, ...]
    quick: tuple[str, ...] = ()
    forget: tuple[str, ...] = ()
    is_timed: bool = False


SPEED, SELECTION, ASKING, FEW, LASTING = (
    f"lab/{name}.md" for name in ("speed", "selection", "asking", "few-labels", "lasting")
)
LETTERLESS = "blobs moons rings unbalanced duplicates components covtype mnist pendigits usps"


def speed(name: str, question: str, *steps: str, quick: tuple[str, ...] = ()) -> Experiment:
    """Return an experiment about time."""
    return Experiment(name, question, SPEED, steps, quick, is_timed=True)


EXPERIMENTS = [
    speed(
        "scaling",
        "How does the time of every method grow?",
        "speed.scaling --data DATA",
        quick=("speed.scaling --sizes 2000 4000 8000 --repeats 1",),
    ),
    speed(
        "normalized-cut",
        "Is the unconstrained cut as fast as scikit-learn's, and right?",
        "speed.normalized_cut --data DATA",
        quick=("speed.normalized_cut --families blobs moons --sizes 2000 4000 --repeats 1",),
    ),
    speed(
        "few-labels-cost",
        "What do a few labels cost?",
        "speed.few_labels --data DATA --slowest 0.3",
        quick=("speed.few_labels --sizes 1000 --sets blobs moons --methods CSP E2CP --repeats 1",),
    ),
    speed(
        "pairs-cost",
        "What do pairs cost?",
        f"speed.pairs --data DATA --slowest 0.3 --sets {LETTERLESS}",
        quick=("speed.pairs --sizes 1000 --sets blobs moons --methods CSP E2CP --repeats 1",),
    ),
    speed(
        "approximations",
        "What does each approximation lose?",
        "speed.pairs --data DATA --exact 5",
    ),
    speed(
        "papers-own-way",
        "How much faster is it than the papers' own matrices?",
        "speed.csp --parts a --dense-sizes 1000 2000",
        "speed.e2cp --parts ab --dense-sizes 1000 2000",
        "speed.csap --points 1000 2000",
        quick=("speed.csp --parts a --dense-sizes 250 500", "speed.csap --points 250 500 --links 100"),
    ),
    speed(
        "mnist-fits",
        "How long do all digits of MNIST take with labels?",
        "speed.csp --data DATA --parts bc --draws 5",
        "speed.e2cp --data DATA --parts e",
        "speed.ncsc --data DATA --solvers lobpcg",
    ),
    speed(
        "landmarks",
        "How long do landmarks take, and Dask?",
        "speed.scacs --data DATA --parts ac",
        "speed.dask",
        quick=("speed.scacs --parts c --sizes 20000 200000",),
    ),
    speed(
        "raw-points",
        "How fast is the search for neighbours?",
        "speed.raw_points --data DATA --sets mnist mixture",
        quick=("speed.raw_points --parts a --sets blobs --searches sidecut",),
    ),
    speed(
        "large-graphs",
        "How large a graph can be cut in memory?",
        "speed.large_graphs",
        quick=("speed.large_graphs --nodes 20000 40000",),
    ),
    Experiment(
        "blocks",
        "What does a graph take on a disk and on a cluster?",
        "lab/blocks.md",
        (
            "speed.blocks fits --edges 1000000 10000000 --places memory disk dask1 dask2 dask4",
            "speed.blocks fits --edges 100000000 --degree 100 --limit 4 --methods PoissonLearning",
            "speed.blocks traffic",
            "speed.blocks points --limit 4",
        ),
        ("speed.blocks fits --edges 100000 --methods PoissonLearning", "speed.blocks traffic --edges 100000"),
        is_timed=True,
    ),
    speed(
        "startup", "How long does it take to start?", "speed.startup", quick=("speed.startup --repeats 1",)
    ),
    Experiment(
        "selection",
        "How well does AutoCut choose?",
        SELECTION,
        ("quality.selection --data DATA --draws 3",),
        forget=("quality/selection_cells.csv",),
    ),
    Experiment(
        "few-labels-in-all",
        "What do one, two and three labels bring?",
        SELECTION,
        ("quality.selection.few --draws 5",),
        ("quality.selection.few --draws 1",),
    ),
    Experiment(
        "choosing-cost",
        "What does choosing cost?",
        SELECTION,
        ("quality.selection.cost",),
        ("quality.selection.cost --sizes 2000",),
        is_timed=True,
    ),
    Experiment(
        "few-labels",
        "How good is each method with one to ten labels per class?",
        FEW,
        tuple(
            f"quality.few_labels labels {data} --data DATA --graphs .evidence/graphs --draws 5 --first 2 "
            "--amounts 1 2 5 10"
            for data in ("mnist", "usps", "digits")
        ),
        ("quality.few_labels labels digits --graphs .evidence/graphs --draws 1 --amounts 1 5",),
        ("quality/few_labels.csv",),
    ),
    Experiment(
        "lasting",
        "Do clusters last?",
        LASTING,
        ("quality.lasting --data DATA --draws 5 --store",),
        ("quality.lasting --sets iris,wine --draws 1 --store",),
    ),
    Experiment(
        "lasting-speed",
        "How fast is an update?",
        LASTING,
        ("quality.lasting.speed --data DATA --store",),
        is_timed=True,
    ),
    Experiment(
        "parts",
        "What becomes of graphs in many parts?",
        "lab/parts.md",
        ("quality.parts",),
        ("quality.parts --methods CSP E2CP --shapes sparse citations",),
    ),
    Experiment(
        "points-and-graph",
        "What do points and a graph of them bring together?",
        "lab/points-and-graph.md",
        ("quality.points_and_graph",),
    ),
    Experiment(
        "asking",
        "How good are the clusters after each number of questions?",
        ASKING,
        (
            "quality.active --data DATA --draws 5",
            "quality.active --data DATA --draws 5 --error 0.1",
            "quality.active --data DATA --draws 5 --error 0.2",
        ),
        ("quality.active --sets iris wine --draws 1",),
    ),
    Experiment(
        "asking-kinds",
        "Pairs, labels or sets?",
        ASKING,
        (
            "quality.active.kinds --data DATA --draws 5",
            "quality.active.kinds --data DATA --draws 5 --prices all --error 0.1",
            "quality.active.kinds --data DATA --draws 5 --prices all --error 0.2",
        ),
        ("quality.active.kinds --sets iris --draws 1",),
        ("quality/active_kinds.jsonl",),
    ),
    Experiment(
        "certificates",
        "Is a certificate right as often as it says?",
        ASKING,
        (
            "quality.active.certificates --data DATA --draws 5",
            "quality.active.certificates --data DATA --draws 5 --way all",
            "quality.active.promise",
        ),
        ("quality.active.certificates --sets iris --draws 1",),
        ("quality/active_promise.jsonl",),
    ),
    Experiment(
        "many-classes",
        "How many of 77 and 150 classes do questions find?",
        ASKING,
        ("quality.active.many",),
        ("quality.active.many --classes 20 --ways labels --draws 0",),
        ("quality/active_many.jsonl",),
    ),
    Experiment("guard", "What is `safe=True` worth?", "lab/guard.md", ("choices.guard --data DATA",)),
    Experiment(
        "harm",
        "Can correct knowledge do harm?",
        "lab/guard.md",
        ("choices.harm",),
        ("choices.harm --only LCSC --draws 1",),
    ),
    Experiment(
        "defaults",
        "What do the defaults cost beside exact methods?",
        "lab/defaults.md",
        ("choices.defaults --data DATA --draws 2",),
    ),
    Experiment(
        "diagnostics",
        "Are wrong labels found?",
        "lab/diagnostics.md",
        ("quality.diagnostics --data DATA --draws 5",),
        ("quality.diagnostics --sets iris wine --draws 1 --fits 1",),
    ),
    Experiment(
        "cleanlab",
        "Does cleanlab find wrong labels as well?",
        "lab/diagnostics.md",
        ("quality.diagnostics.beside --data DATA",),
    ),
    Experiment(
        "peers",
        "What do other packages do with the same pairs?",
        "lab/peers.md",
        ("quality.peers --data DATA --again",),
    ),
]


def chosen(names: list[str]) -> list[Experiment]:
    """Return the experiments of some names, or all."""
    known = {one.name: one for one in EXPERIMENTS}
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(f"no experiment is called {', '.join(unknown)}: choose from {', '.join(known)}.")
    return [known[name] for name in names] if names else EXPERIMENTS
