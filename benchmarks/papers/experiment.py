"""An experiment of a paper as a value: data, graph, side information, methods, metric."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any, Literal

from sidecut.datasets.dataset import Scaling
from sidecut.graphs import GraphRecipe

#: How side information is drawn, see `side_information.draw`.
Kind = Literal[
    "pairs",
    "wrong pairs",
    "pairs among few",
    "labels",
    "must-links vary",
    "cannot-links vary",
    "second graph",
]
Metric = Literal["ari", "rand", "acc", "err"]

#: What `--quick` is content with.
QUICK_DRAWS, QUICK_SIZES = 3, 3


@dataclass(frozen=True)
class Contender:
    """A method in an experiment.

    Parameters
    ----------
    label : str
        Its name in tables and figures.
    method : str
        Its class in `sidecut`.
    settings : dict
        Parameters, as the paper gives them or ours by default.
    grid : dict of lists
        Parameters to be tuned, and the values to try.
    graph : GraphRecipe, optional
        Where the paper gives this method a graph of its own.
    uses_constraints : bool
        False for unconstrained methods.
    """

    label: str
    method: str
    settings: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, list] = field(default_factory=dict)
    graph: GraphRecipe | None = None
    uses_constraints: bool = True

    @property
    def choices(self) -> list[dict[str, Any]]:
        """All settings to try: one, or every point of the grid."""
        return [
            {**self.settings, **dict(zip(self.grid, point, strict=True))}
            for point in product(*self.grid.values())
        ]


@dataclass(frozen=True)
class Protocol:
    """What may differ from the papers' protocol, in favour of honesty.

    Parameters
    ----------
    pairs : {"paper", "random"}
        As the paper draws them, or uniformly at random from all pairs.
    noise : float
        The share of pairs that are wrong.
    choose : {"labels", "held-out"}
        Tuned parameters: the value with the best score against the true labels, as the papers do, or the one
        that keeps most of the constraints that were held out.
    """

    pairs: Literal["paper", "random"] = "paper"
    noise: float = 0.0
    choose: Literal["labels", "held-out"] = "labels"

    @property
    def suffix(self) -> str:
        """What the name of an experiment under this protocol ends with."""
        parts = [
            "+random-pairs" if self.pairs == "random" else "",
            f"+noise-{100 * self.noise:g}" if self.noise else "",
            "+held-out" if self.choose == "held-out" else "",
        ]
        return "".join(parts)


@dataclass(frozen=True)
class Experiment:
    """One panel of a figure: how methods fare on one data set as more is known.

    Parameters
    ----------
    name : str
        ``<paper>-<figure>-<data>``.
    paper, figure : str
        Such as "csp" and "fig. 9".
    data : str
        A name that `sidecut.datasets.load` knows, or "made:<name>" for a generated one.
    graph : GraphRecipe
        The graph all contenders share, unless one has its own.
    kind : str
        How side information is drawn.
    sizes : tuple of int
        How much of it: the horizontal axis.
    draws : int
        How many random draws at each size.
    metric : {"ari", "rand", "acc", "err"}
        What the paper reports.
    contenders : tuple of Contender
        The methods.
    scaling : str
        What is done to the features first.
    samples : int
        Of generated data: how many samples of points there are; draws take turns on them.
    fixed : int
        The amount that stays fixed where something else varies.
    sweep : str, optional
        A parameter of the methods that varies along the axis instead of the amount of side information.
    note : str
        What the paper leaves open, and how it was read.
    protocol : Protocol
        Departures from the paper's protocol.
    """

    name: str
    paper: str
    figure: str
    data: str
    graph: GraphRecipe
    kind: Kind
    sizes: tuple
    draws: int
    metric: Metric
    contenders: tuple[Contender, ...]
    scaling: Scaling = "none"
    samples: int = 1
    fixed: int = 0
    sweep: str | None = None
    note: str = ""
    protocol: Protocol = Protocol()

    def under(self, protocol: Protocol) -> Experiment:
        """Return the same experiment under another protocol, stored under another name."""
        return replace(self, name=f"{self.name}{protocol.suffix}", protocol=protocol)

    def shortened(self, draws: int | None = None, *, quick: bool = False) -> Experiment:
        """Return it with fewer draws, and if quick with fewer sizes: the first, the middle, the last."""
        if quick:
            last = len(self.sizes) - 1
            places = sorted({round(last * i / (QUICK_SIZES - 1)) for i in range(QUICK_SIZES)})
            sizes = tuple(self.sizes[place] for place in places)
            return replace(self, sizes=sizes, draws=min(draws or QUICK_DRAWS, self.draws))
        return self if draws is None else replace(self, draws=draws)

    def sample_of(self, draw: int) -> int:
        """Tell which sample of generated points a draw is about."""
        return draw % self.samples

    def configuration(self) -> dict[str, Any]:
        """Return everything that makes the results, ready for JSON."""
        plain = {name: value for name, value in vars(self).items() if name not in ("contenders", "protocol")}
        contenders = [{**vars(c), "graph": repr(c.graph)} for c in self.contenders]
        return {**plain, "graph": repr(self.graph), "contenders": contenders, **asdict(self.protocol)}

    def fingerprint(self, contender: Contender) -> str:
        """Return eight digits that change whenever a result of this contender would.

        The sizes, the number of draws and the other contenders do not matter to it.
        """
        apart = ("contenders", "sizes", "draws", "note", "name", "metric", "figure")
        conditions = {name: value for name, value in self.configuration().items() if name not in apart}
        text = json.dumps([conditions, {**vars(contender), "graph": repr(contender.graph)}], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]
