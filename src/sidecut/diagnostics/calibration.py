"""From what the others say about a label or link to the chance that it is wrong.

Both have the same model. The others foretell what is true with chances p; what was said is true with chance
1 - ε, and otherwise one of the other answers, all alike. So what was said has the likelihood

    l = (1 - ε) p_said + ε (1 - p_said) / (K - 1),

and is wrong with chance ε (1 - p_said) / (K - 1) / l, where K is the number of possible answers. How sharp p
is, and ε, are those that make all that was said most likely. So evidence that foretells little, as on a graph
that has nothing to do with the classes, makes no label suspicious.

Some points are odd: evidence, however sharp, says nothing about them. A share δ of all points is taken to be
so, which keeps every p above δ / K. Without it a right label of an odd point would be called wrong with
certainty.

All constants were set on iris, wine, breast cancer, digits and generated sets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from sidecut.checks import BoolArray, FloatArray, IntArray

#: How sharp the chances are: powers of the shares that are tried.
SHARPNESS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0)
#: The shares of wrong answers that are tried.
ERROR_RATES = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4)
#: What is believed of the share of wrong answers before any is seen: Beta(2, 13), with mode 1/13.
PRIOR_WRONG, PRIOR_RIGHT = 1.0, 12.0
#: How strongly log β is drawn towards zero, and what is added to β before the logarithm.
RIDGE_OF_SHARPNESS, FLAT = 0.3, 0.05
#: With so many labels per class another view is trusted as much as the first beforehand; in proportion to it.
MANY_LABELS = 60.0
#: The share of points, or pairs, that nothing foretells. On the sets of the constants, with all labels right,
#: about one label in a hundred was called wrong before this was allowed for.
ODD = 0.01
#: By how much of its log likelihood each label speaks for a view: labels are few, and not independent.
WORTH_OF_A_LABEL = 0.1
#: No share is taken to be smaller than this over the number of classes.
LEAST_SHARE = 1e-3
#: The weight of each view of a link is drawn towards this number, the offset towards zero.
TYPICAL_WEIGHT = 1.5
#: How strongly they are drawn there.
RIDGE_OF_WEIGHTS, RIDGE_OF_OFFSET = 0.3, 0.03


def chances_of_classes(views: Sequence[Sequence[FloatArray]], classes: IntArray) -> FloatArray:
    """Return the chance of every class for each label, given what was said and what the others foretell.

    What was said has the chance (1 - ε) p_said / l, any other class c the chance ε p_c / (K - 1) / l.

    In each view the chances of the classes are p ∝ shares^β. They are mixed by how well each view foretells
    what was said. The views after the first are trusted in proportion to the labels per class.
    """
    best = [max((_sharpen(shares, classes) for shares in view), key=lambda fit: fit[0]) for view in views]
    per_class = len(classes) / best[0][1].shape[1]
    leaning = np.array([1.0] + [per_class / MANY_LABELS] * (len(views) - 1))
    weights = softmax(WORTH_OF_A_LABEL * np.array([fit[0] for fit in best]) + np.log(leaning))
    mixed = np.tensordot(weights, [fit[1] for fit in best], axes=1)
    if len(views) > 1:
        # A mixture is blunter than its parts.
        mixed = _sharpen(mixed, classes)[1]
    mixed = _allow_for_odd(mixed, mixed.shape[1])
    here, others = np.arange(len(classes)), max(mixed.shape[1] - 1, 1)
    rate = max(ERROR_RATES, key=lambda rate: _posterior(mixed[here, classes], rate, others)[0])
    weighed = mixed * rate / others
    weighed[here, classes] = mixed[here, classes] * (1.0 - rate)
    return weighed / weighed.sum(axis=1, keepdims=True)


def chance_labels_wrong(views: Sequence[Sequence[FloatArray]], classes: IntArray) -> FloatArray:
    """Return the chance that each label is wrong: that of all other classes together."""
    return 1.0 - chances_of_classes(views, classes)[np.arange(len(classes)), classes]


def _sharpen(shares: FloatArray, classes: IntArray) -> tuple[float, FloatArray]:
    """Return the log likelihood of all that was said, and the chances p ∝ shares^β that make it largest.

    β is drawn towards one: a few labels that happen to disagree do not make the evidence worthless.
    """
    n_classes = shares.shape[1]
    logs = np.log(shares + LEAST_SHARE / n_classes)
    others = max(n_classes - 1, 1)
    here = np.arange(len(classes))
    fits = []
    for sharpness in SHARPNESS:
        chances = softmax(sharpness * logs, axis=1)
        said = _allow_for_odd(chances[here, classes], n_classes)
        likelihood = max(_posterior(said, rate, others)[0] for rate in ERROR_RATES)
        off = np.log((sharpness + FLAT) / (1.0 + FLAT))
        fits.append((likelihood - RIDGE_OF_SHARPNESS * off**2, chances))
    return max(fits, key=lambda fit: fit[0])


def _allow_for_odd(chances: FloatArray, n_answers: int) -> FloatArray:
    """Return the chances where a share of all points may be anything."""
    return (1.0 - ODD) * chances + ODD / n_answers


def chance_links_wrong(views: FloatArray, is_must: BoolArray) -> FloatArray:
    """Return the chance that each link is wrong.

    The chance of "together" is p = 1 / (1 + exp(-b - Σ w_v view_v)), with weights w ≥ 0, but for odd pairs.
    """
    fits = [_fit_links(views, np.where(is_must, 1.0, -1.0), rate) for rate in ERROR_RATES]
    return max(fits, key=lambda fit: fit[0])[1]


def _posterior(said: FloatArray, rate: float, others: int) -> tuple[float, FloatArray]:
    """Return the log likelihood of all that was said, with the prior of the rate, and the chances wrong."""
    wrong = rate * (1.0 - said) / others
    likelihood = (1.0 - rate) * said + wrong
    prior = PRIOR_WRONG * np.log(rate) + PRIOR_RIGHT * np.log1p(-rate)
    return float(np.log(likelihood).sum() + prior), wrong / likelihood


def _fit_links(views: FloatArray, sign: FloatArray, rate: float) -> tuple[float, FloatArray]:
    """Return the penalised log likelihood of the best weights for a share of wrong links, and the chances."""
    n_views = views.shape[1]
    design = np.column_stack([views, np.ones(len(views))])
    centre = np.append(np.full(n_views, TYPICAL_WEIGHT), 0.0)
    ridge = np.append(np.full(n_views, RIDGE_OF_WEIGHTS), RIDGE_OF_OFFSET)

    def cost(weights: FloatArray) -> tuple[float, FloatArray]:
        foretold = expit(sign * (design @ weights))
        said = _allow_for_odd(foretold, 2)
        likelihood = (1.0 - rate) * said + rate * (1.0 - said)
        slopes = (1.0 - 2.0 * rate) * (1.0 - ODD) * foretold * (1.0 - foretold) / likelihood * sign
        off = weights - centre
        return float(ridge @ off**2 - np.log(likelihood).sum()), 2.0 * ridge * off - design.T @ slopes

    bounds = [(0.0, None)] * n_views + [(None, None)]
    found = minimize(cost, centre, jac=True, bounds=bounds, method="L-BFGS-B")
    said = _allow_for_odd(expit(sign * (design @ found.x)), 2)
    likelihood, wrong = _posterior(said, rate, 1)
    return likelihood - float(ridge @ (found.x - centre) ** 2), wrong
