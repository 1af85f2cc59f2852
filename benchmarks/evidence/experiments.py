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
    minutes : float
        What it takes on an idle core; a run that takes three times as long is stopped.
    quick : tuple of str
        The same in a minute or less, without data from elsewhere; empty where that cannot be.
    forget : tuple of str
        Files below benchmarks/results that are its own: the run begins without their rows. Old rows are kept
        where they differ from all new ones in the columns after the name, "speed/blocks.csv: edges, place".
    is_timed : bool
        Whether it is about time, and runs with nothing beside it.
    """

    name: str
    question: str
    page: str
    steps: tuple[str, ...]
    minutes: float
    quick: tuple[str, ...] = ()
    forget: tuple[str, ...] = ()
    is_timed: bool = False

    def forgotten(self) -> dict[str, list[str]]:
        """Return the files of `forget`, and the columns by which old rows are kept."""
        found = {}
        for one in self.forget:
            name, _, columns = one.partition(": ")
            found[name] = columns.split(", ") if columns else []
        return found


SPEED, SELECTION, ASKING, FEW, LASTING, LAYERS = (
    f"lab/{name}.md" for name in ("speed", "selection", "asking", "few-labels", "lasting", "layers")
)
LAYERS_ALONE = "quality.layers nothing --data DATA --methods Layers"
#: Where the lines of large samples are, and the methods that are first on small ones.
CELLS, FIRST = "selection_cells", "AutoCut+NormalizedCut+PoissonLearning+PoissonMBO+CCSR"
#: The sets on which the cost of knowledge is measured; two moons of 70,000 points take as long as all others.
SMALL = "blobs unbalanced moons mnist pendigits usps"
MIDDLE = "blobs unbalanced moons mnist"
BY_LABELS = (
    "PoissonLearning PoissonMBO 'PoissonMBO, sizes given' 'LabelSpreading .99' CSP E2CP NCSC CCSR "
    "NormalizedCut 'scikit-learn lobpcg'"
)
OF_KINDS = "iris wine glass ionosphere sonar wdbc hepatitis"


def speed(
    name: str,
    question: str,
    minutes: float,
    *steps: str,
    quick: tuple[str, ...] = (),
    forget: tuple[str, ...] = (),
) -> Experiment:
    """Return an experiment about time."""
    return Experiment(name, question, SPEED, steps, minutes, quick, forget, is_timed=True)


def cost(script: str, large: str) -> tuple[str, ...]:
    """Return the steps that measure what knowledge costs, at three sizes."""
    at = {3_000: SMALL, 20_000: MIDDLE, 70_000: large}
    return tuple(
        f"speed.{script} --data DATA --slowest 0.3 --sizes {size} --sets {sets}" for size, sets in at.items()
    )


def few(what: str, options: str) -> str:
    """Return a step that measures few labels or pairs."""
    return f"quality.few_labels {what} --data DATA --graphs .evidence/graphs --draws 5 {options}"


# The last ones are those that a run may have no time for.
EXPERIMENTS = [
    speed(
        "scaling",
        "How does the time of every method grow?",
        3,
        "speed.scaling --data DATA --sizes 10000 30000 70000",
        quick=("speed.scaling --sizes 2000 4000 --repeats 1",),
        forget=("speed/scaling.csv",),
    ),
    speed(
        "normalized-cut",
        "Is the unconstrained cut as fast as scikit-learn's, and right?",
        2.5,
        "speed.normalized_cut --data DATA --sizes 10000 70000",
        quick=("speed.normalized_cut --families blobs moons --sizes 2000 4000 --repeats 1",),
        forget=("speed/normalized_cut.csv",),
    ),
    speed(
        "few-labels-cost",
        "What do a few labels cost?",
        5,
        *cost("few_labels", "blobs mnist"),
        quick=("speed.few_labels --sizes 1000 --sets blobs moons --methods CSP E2CP --repeats 1",),
        forget=("speed/few_labels.csv",),
    ),
    speed(
        "pairs-cost",
        "What do pairs cost?",
        6,
        *cost("pairs", "mnist components covtype"),
        quick=("speed.pairs --sizes 1000 --sets blobs moons --methods CSP E2CP --repeats 1",),
        forget=("speed/pairs.csv",),
    ),
    speed(
        "papers-own-way",
        "How much faster is it than the papers' own matrices?",
        1,
        "speed.csp --parts a --dense-sizes 500 1000",
        "speed.e2cp --parts a --dense-sizes 1000 2000",
        "speed.csap --points 1000 --tiled",
        quick=("speed.csp --parts a --dense-sizes 250 500", "speed.csap --points 250 --links 100 --tiled"),
    ),
    speed(
        "mnist-fits",
        "How long do all digits of MNIST take with labels?",
        3,
        "speed.csp --data DATA --parts b --draws 5",
        "speed.e2cp --data DATA --parts e",
        "speed.ncsc --data DATA --parts b --solvers lobpcg --repeats 1",
    ),
    speed(
        "landmarks",
        "How long do landmarks take, and Dask?",
        2.5,
        "speed.scacs --data DATA --parts ac --names usps letter mnist covtype --repeats 3 "
        "--sizes 100000 1000000",
        "speed.dask",
        quick=("speed.scacs --parts c --sizes 20000 100000",),
    ),
    speed(
        "raw-points",
        "How fast is the search for neighbours?",
        1,
        "speed.raw_points --data DATA --sets mnist mixture --searches sidecut --digits 70000 --ways auto",
        quick=("speed.raw_points --parts a --sets blobs --searches sidecut",),
    ),
    speed(
        "large-graphs",
        "How large a graph can be cut in memory?",
        4,
        "speed.large_graphs --nodes 200000 2000000 --methods NormalizedCut E2CP '100 products with a vector'",
        quick=("speed.large_graphs --nodes 20000 40000",),
    ),
    speed(
        "startup",
        "How long does it take to start?",
        0.8,
        "speed.startup",
        quick=("speed.startup --repeats 1",),
        forget=("speed/startup.csv",),
    ),
    Experiment(
        "choosing-cost",
        "What does choosing cost?",
        SELECTION,
        ("quality.selection.cost --sizes 2000 20000",),
        0.7,
        ("quality.selection.cost --sizes 2000",),
        is_timed=True,
    ),
    Experiment(
        "lasting-speed",
        "How fast is an update?",
        LASTING,
        ("quality.lasting.speed --data DATA --store",),
        3,
        forget=("quality/lasting_speed.csv",),
        is_timed=True,
    ),
    Experiment(
        "approximations",
        "What does each approximation lose?",
        SPEED,
        (
            "speed.pairs --data DATA --exact 5 --known 'n/5 pairs' --sizes 2100 "
            "--sets duplicates letter mnist moons rings unbalanced --methods CSAP CSP E2CP CCSR",
        ),
        3,
        ("speed.pairs --exact 1 --known 'n/5 pairs' --sizes 500 --sets moons --methods CSP E2CP",),
        ("speed/pairs_exact.csv",),
    ),
    Experiment(
        "blocks",
        "What does a graph take on a disk and on a cluster?",
        "lab/blocks.md",
        (
            "speed.blocks fits --edges 1000000 --places memory disk dask2 --known labels "
            "--methods NormalizedCut CSP E2CP PoissonLearning",
            "speed.blocks fits --edges 100000000 --degree 100 --clusters 4 --limit 4 "
            "--methods PoissonLearning --known labels --places memory disk",
            "speed.blocks parts --edges 10000000 --degree 100 --clusters 4 --columns 4",
            "speed.blocks traffic",
            "speed.blocks points --limit 4 --points 1000000",
        ),
        7,
        ("speed.blocks fits --edges 100000 --methods PoissonLearning --known labels --places memory disk",),
    ),
    Experiment(
        "selection",
        "How well does AutoCut choose?",
        SELECTION,
        ("quality.selection --data DATA --draws 3",),
        15,
        forget=("quality/selection_cells.csv",),
    ),
    Experiment(
        "few-labels-in-all",
        "What do one, two and three labels bring?",
        SELECTION,
        ("quality.selection.few --draws 5",),
        2.5,
        ("quality.selection.few --draws 1",),
        ("quality/selection_few.csv",),
    ),
    Experiment(
        "few-labels",
        "How good is each method with one to ten labels per class?",
        FEW,
        (
            few("labels mnist", f"--first 2 --amounts 1 5 --methods {BY_LABELS}"),
            few("labels usps", f"--amounts 1 5 10 --methods {BY_LABELS}"),
            few("labels digits", f"--amounts 1 5 10 --methods {BY_LABELS}"),
            few("uneven usps", f"--amounts 1 5 --methods {BY_LABELS}"),
            few("missing usps", "--amounts 50"),
            few("sizes usps", "--amounts 5"),
            few("pairs usps", "--amounts 500 2000"),
        ),
        10,
        ("quality.few_labels labels digits --graphs .evidence/graphs --draws 1 --amounts 1 5",),
        ("quality/few_labels.csv: experiment, data, method",),
    ),
    Experiment(
        "lasting",
        "Do clusters last?",
        LASTING,
        ("quality.lasting --data DATA --draws 3 --store",),
        3.5,
        ("quality.lasting --data . --sets iris,wine --draws 1 --store",),
        ("quality/lasting.csv: method",),
    ),
    Experiment(
        "asking",
        "How good are the clusters after each number of questions?",
        ASKING,
        (
            "quality.active --data DATA --draws 5 --sets iris wine glass ionosphere sonar wdbc hepatitis",
            "quality.active --data DATA --draws 3 --sets segment digits pendigits usps",
            "quality.active --data DATA --draws 3 --error 0.1 --sets iris wine glass sonar",
        ),
        7,
        ("quality.active --sets iris wine --draws 1",),
        ("quality/active_curves.jsonl: set, strategy, error",),
    ),
    Experiment(
        "asking-kinds",
        "Pairs, labels or sets?",
        ASKING,
        (
            f"quality.active.kinds --data DATA --draws 3 --sets {OF_KINDS}",
            "quality.active.kinds --data DATA --draws 3 --prices all --error 0.1 --sets iris wine glass",
        ),
        5,
        ("quality.active.kinds --sets iris --draws 1",),
        ("quality/active_kinds.jsonl: set, error",),
    ),
    Experiment(
        "certificates",
        "Is a certificate right as often as it says?",
        ASKING,
        (
            "quality.active.certificates --data DATA --draws 3",
            "quality.active.certificates --data DATA --draws 3 --way all",
            "quality.active.promise --ways pairs 'all kinds'",
        ),
        4,
        ("quality.active.certificates --sets iris --draws 1",),
        ("quality/active_promise.jsonl: way",),
    ),
    Experiment(
        "many-classes",
        "How many of 77 and 150 classes do questions find?",
        ASKING,
        (
            "quality.active.many --classes 77 --ways pairs labels all",
            "quality.active.many --classes 150 --ways labels all",
        ),
        5,
        ("quality.active.many --classes 20 --ways labels --draws 0",),
        ("quality/active_many.jsonl: classes, way",),
    ),
    Experiment(
        "layers",
        "What does Layers find, with nothing known and with few labels?",
        LAYERS,
        (
            f"{LAYERS_ALONE} --draws 4 --sets digits usps pendigits segment",
            f"{LAYERS_ALONE} --draws 1 --sets letter scene8_features mnist",
            "quality.layers labels --data DATA --draws 2 --sets digits segment usps scene8_features",
            "quality.layers labels --data DATA --draws 1 --sets letter",
        ),
        4,
        ("quality.layers nothing --methods Layers --draws 1 --sets digits",),
    ),
    Experiment(
        "guard",
        "What is `safe=True` worth?",
        "lab/guard.md",
        ("choices.guard --data DATA --sets 10",),
        2.5,
        forget=("choices/guard.csv",),
    ),
    Experiment(
        "harm",
        "Can correct knowledge do harm?",
        "lab/guard.md",
        # One fit of fifty is more than 117 fits can tell: where they find more, there are 702.
        ("choices.harm --draws 1", "choices.harm --only MetricKMeans PoissonLearning SCACS --draws 6"),
        6,
        ("choices.harm --only LCSC --draws 1",),
    ),
    Experiment(
        "defaults",
        "What do the defaults cost beside exact methods?",
        "lab/defaults.md",
        ("choices.defaults --data DATA --draws 1",),
        5,
        forget=("choices/defaults.csv",),
    ),
    Experiment(
        "diagnostics",
        "Are wrong labels found?",
        "lab/diagnostics.md",
        ("quality.diagnostics --data DATA --draws 3",),
        3,
        ("quality.diagnostics --sets iris wine --draws 1 --fits 1",),
        ("quality/diagnostics.jsonl",),
    ),
    Experiment(
        "peers",
        "What do other packages do with the same pairs?",
        "lab/peers.md",
        ("quality.peers --only sidecut scikit-learn --on digits moons --draws 2 --again",),
        6,
    ),
    Experiment(
        "parts",
        "What becomes of graphs in many parts?",
        "lab/parts.md",
        ("quality.parts",),
        3,
        ("quality.parts --methods CSP E2CP --shapes sparse citations",),
        ("quality/parts.csv",),
    ),
    Experiment(
        "points-and-graph",
        "What do points and a graph of them bring together?",
        "lab/points-and-graph.md",
        ("quality.points_and_graph",),
        3,
        forget=("quality/points_and_graph.csv",),
    ),
    Experiment(
        "layers-many-classes",
        "What do few labels and pairs bring in 77 and 150 classes?",
        LAYERS,
        ("quality.layers.many --draws 1 --ours Layers PoissonMBO PoissonLearning NormalizedCut",),
        4,
        ("quality.layers.many --draws 1 --points far --classes 77 --ours Layers",),
    ),
    Experiment(
        "layers-counts",
        "How many clusters are found where nothing is known, and with 5 % of labels?",
        LAYERS,
        ("quality.layers counts --draws 60",),
        4,
        ("quality.layers counts --draws 3",),
    ),
    Experiment(
        "selection-large",
        "How well does AutoCut choose for 3,000 and 70,000 points?",
        SELECTION,
        (
            f"quality.selection --data DATA --draws 1 --points 3000 --store {CELLS}_3000.csv --only {FIRST}",
            f"quality.selection --data DATA --draws 1 --points 70000 --store {CELLS}_70000.csv "
            f"--only {FIRST} --names mnist covtype --known 'labels 1 %'",
        ),
        minutes=10,
        forget=(f"quality/{CELLS}_3000.csv", f"quality/{CELLS}_70000.csv"),
    ),
]


def chosen(names: list[str]) -> list[Experiment]:
    """Return the experiments of some names, or all."""
    known = {one.name: one for one in EXPERIMENTS}
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(f"no experiment is called {', '.join(unknown)}: choose from {', '.join(known)}.")
    return [known[name] for name in names] if names else EXPERIMENTS
