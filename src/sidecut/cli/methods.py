"""The methods the command line offers, what each is good for, and how options become their parameters."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

from sidecut.cli.console import Exit, UsageError, did_you_mean, show_table
from sidecut.cli.options import MethodsOptions
from sidecut.constraints import Constraints

__all__ = [
    "METHODS",
    "Method",
    "build_estimator",
    "default_method",
    "method_named",
    "parse_setting",
    "run",
]


@dataclass(frozen=True)
class Method:
    """A method as a user chooses it."""

    class_path: str
    purpose: str
    takes: str
    cost: str
    citation: str

    def load(self) -> type[Any]:
        """Import the estimator's class."""
        module, _, name = self.class_path.partition(":")
        return getattr(importlib.import_module(module), name)

    def as_dict(self) -> dict[str, str]:
        """Return the fields by name."""
        return asdict(self)


METHODS: dict[str, Method] = {
    "auto": Method(
        class_path="sidecut:AutoCut",
        purpose="the method, the graph and the number of clusters chosen by what is known; the default",
        takes="pairs, labels",
        cost="twenty to thirty fits of at most 600 points, then one to five on all",
        citation="Pourrajabi et al. 2014; Van Craenendonck and Blockeel 2017",
    ),
    "normalized-cut": Method(
        class_path="sidecut:NormalizedCut",
        purpose="no side information: the clusters the graph itself suggests",
        takes="nothing",
        cost="k eigenvectors of the graph",
        citation="Shi and Malik 2000; Ng, Jordan and Weiss 2001",
    ),
    "csap": Method(
        class_path="sidecut:CSAP",
        purpose="few pairs or labels, hard or soft, that should tell about the points around them too",
        takes="pairs, labels",
        cost="affinities among the neighbours of linked points, then as normalized-cut",
        citation="Lu and Carreira-Perpiñán 2008",
    ),
    "ccsr": Method(
        class_path="sidecut:CCSR",
        purpose="pairs or labels that should bend the eigenvectors, none of them much alone",
        takes="pairs, labels, degrees of belief",
        cost="a semidefinite programme of fixed size, beside a few more eigenvectors",
        citation="Li, Liu and Tang 2009",
    ),
    "csp": Method(
        class_path="sidecut:CSP",
        purpose="any beliefs, sure or not, few or many: satisfied as far as you ask, at the least cut",
        takes="pairs, labels, degrees of belief, a second graph",
        cost="about 20 products with the graph for each of k - 1 cuts",
        citation="Wang, Qian and Davidson 2014",
    ),
    "e2cp": Method(
        class_path="sidecut:E2CP",
        purpose="a few pairs or labels that should reach all points around them",
        takes="pairs, labels, degrees of belief",
        cost="one linear system per class of labels, or per point with pairs",
        citation="Lu and Ip 2010",
    ),
    "lcsc": Method(
        class_path="sidecut:LCSC",
        purpose="must-links alone, all of which hold; cannot-links are not used",
        takes="must-links",
        cost="as normalized-cut, on a smaller graph",
        citation="Yu and Shi 2004",
    ),
    "ncsc": Method(
        class_path="sidecut:NCSC",
        purpose="pairs or labels of both kinds, must-links kept and cannot-links at a price",
        takes="pairs, labels, degrees of belief",
        cost="about 40 products with the graph, beside normalized-cut",
        citation="Hu, Zhou, Feng and Zhou 2012",
    ),
    "lsc": Method(
        class_path="sidecut:LSC",
        purpose="no side information, and hundreds of thousands of points or millions",
        takes="nothing",
        cost="distances to 500 landmarks instead of a graph, and a 500 x 500 eigenproblem",
        citation="Chen and Cai 2011",
    ),
    "scacs": Method(
        class_path="sidecut:SCACS",
        purpose="any beliefs about hundreds of thousands of points or millions, and new points to come",
        takes="pairs, labels, degrees of belief, a second graph",
        cost="distances to 500 landmarks instead of a graph, and three 500 x 500 eigenproblems",
        citation="Li, Xia, Shan and Liu 2015",
    ),
    "spectral-learning": Method(
        class_path="sidecut:SpectralLearning",
        purpose="pairs or labels you are sure of, many enough to change the graph",
        takes="pairs, labels",
        cost="as normalized-cut",
        citation="Kamvar, Klein and Manning 2003",
    ),
    "sskk": Method(
        class_path="sidecut:SSKK",
        purpose="labels of every cluster on a large graph, as penalties that may be broken",
        takes="pairs, labels, degrees of belief",
        cost="about 20 products with the graph, from labels without any eigenvectors",
        citation="Kulis, Basu, Dhillon and Mooney 2005, 2009",
    ),
    "poisson-learning": Method(
        class_path="sidecut:PoissonLearning",
        purpose="very few labels of every class, spread over the graph",
        takes="labels, pairs",
        cost="one linear system per class",
        citation="Calder, Cook, Thorpe and Slepčev 2020",
    ),
    "poisson-mbo": Method(
        class_path="sidecut:PoissonMBO",
        purpose="very few labels, pairs, and sizes of clusters that are known",
        takes="labels, pairs, sizes",
        cost="a few hundred products with the graph",
        citation="Calder, Cook, Thorpe and Slepčev 2020",
    ),
    "cop-kmeans": Method(
        class_path="sidecut:COPKMeans",
        purpose="round clusters of points in which every link must hold; says which links cannot",
        takes="pairs, labels",
        cost="k-means, and an assignment of the linked points in every iteration; no graph",
        citation="Wagstaff, Cardie, Rogers and Schroedl 2001",
    ),
    "constrained-gmm": Method(
        class_path="sidecut:ConstrainedGMM",
        purpose="elliptic clusters of points, and how sure each membership is",
        takes="pairs, labels, degrees of belief",
        cost="EM with a covariance per cluster; no graph",
        citation="Shental, Bar-Hillel, Hertz and Weinshall 2003; Lu and Leen 2007",
    ),
    "metric-kmeans": Method(
        class_path="sidecut:MetricKMeans",
        purpose="points with features of which only some matter: a few links teach which",
        takes="pairs, labels, degrees of belief",
        cost="a convex problem in the features, then k-means; no graph",
        citation="Xing, Ng, Jordan and Russell 2002",
    ),
}


def method_named(name: str) -> Method:
    """Return a method by name."""
    known = name.lower().replace("_", "-")
    if known not in METHODS:
        raise UsageError(
            f"There is no method {name!r}{did_you_mean(known, METHODS) or '.'} There are "
            f"{', '.join(METHODS)} (see sidecut methods)."
        )
    return METHODS[known]


def default_method(constraints: Constraints, clusters: str) -> str:
    """Return the name of the method used when none is named, by what is known (docs/which-method.md)."""
    # Where nothing is known and nothing is to be chosen, the choice would be the normalised cut anyway.
    return "normalized-cut" if constraints.is_empty and clusters != "auto" else "auto"


def parse_setting(text: str) -> tuple[str, Any]:
    """Split ``name=value``; true, false and none in any spelling, Python literals, anything else as text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--set {text}: write it as name=value, for example --set n_neighbors=15.")
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "none": None}
    if value.strip().lower() in words:
        return name.strip(), words[value.strip().lower()]
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def build_estimator(estimator_class: type[Any], chosen: dict[str, Any], settings: Iterable[str] = ()) -> Any:
    """Make an estimator from named options and ``--set`` texts."""
    wanted = {name: value for name, value in chosen.items() if value is not None}
    wanted.update(parse_setting(text) for text in settings)
    valid = sorted(estimator_class().get_params(deep=False))
    for name in wanted:
        if name not in valid:
            raise UsageError(_unknown(name, valid, estimator_class.__name__))
    return estimator_class(**wanted)


def _unknown(name: str, valid: list[str], owner: str) -> str:
    close = get_close_matches(name, valid, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"{owner} has no parameter {name!r}.{hint} It has {', '.join(valid)}."


def run(options: MethodsOptions) -> int:
    """Print the table of methods."""
    if options.json:
        print(json.dumps({name: method.as_dict() for name, method in METHODS.items()}))
        return Exit.OK
    show_table(
        ["METHOD", "USES", "GOOD FOR", "COST"],
        [(name, method.takes, method.purpose, method.cost) for name, method in METHODS.items()],
    )
    print()
    for name, method in METHODS.items():
        print(f"{name}: {method.citation}")
    return Exit.OK
