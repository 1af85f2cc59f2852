"""From the leave-one-out scores of a label or link to the chance that it is wrong.

Labels and links have the same model. The other labels or links predict the true answer with probabilities p.
The given answer is true with probability 1 - ε; otherwise it is one of the other answers, all equally likely.
So the given answer has the likelihood

    l = (1 - ε) p_given + ε (1 - p_given) / (K - 1),

and is wrong with probability ε (1 - p_given) / (K - 1) / l, where K is the number of possible answers. ε and
the sharpness of p maximise the likelihood of all given answers. So evidence that predicts little, as on a
graph that has nothing to do with the classes, makes no label suspicious.

Some points are odd: no evidence predicts them. Their share δ keeps every p above δ / K. Without it a right
label of an odd point would be called wrong with certainty.

All numbers were set on iris, wine, breast cancer, digits and generated sets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from sidecut.checks import BoolArray, FloatArray, IntArray

#: β, the power of the shares: the values that are tried.
SHARPNESS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0)
#: ε, the share of wrong answers: the values that are tried.
ERROR_RATES = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4)
#: δ, the share of points, or pairs, that nothing predicts. Without it about one right label in a hundred was
#: called wrong.
ODD_SHARE = 0.01


def chances_of_classes(views: Sequence[Sequence[FloatArray]], classes: IntArray) -> FloatArray:
    """Return the probability of every class for each labelled point.

    The given class has the probability (1 - ε) p_given / l, any other class c has ε p_c / (K - 1) / l. In
    each view p ∝ shares^β. Views are mixed by the likelihood of the given labels.
    """
    best = [max((_sharpen(shares, classes) for shares in view), key=lambda fit: fit[0]) for view in views]
    per_class = len(classes) / best[0][1].shape[1]
    # The views after the first have a prior weight that grows with the labels per class: 1 at 60 labels.
    prior = np.array([1.0] + [per_class / 60.0] * (len(views) - 1))
    # A label counts as a tenth of its log likelihood: labels are few, and not independent.
    weights = softmax(0.1 * np.array([fit[0] for fit in best]) + np.log(prior))
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


def _sharpen(shares: FloatArray, classes: IntArray) -> tuple[float, FloatArray]:
    """Return the largest log likelihood of the given labels over β, and the p ∝ shares^β that reach it.

    β is drawn towards one: a few labels that happen to disagree do not make the evidence worthless.
    """
    n_classes = shares.shape[1]
    logs = np.log(shares + 1e-3 / n_classes)
    others = max(n_classes - 1, 1)
    here = np.arange(len(classes))
    fits = []
    for sharpness in SHARPNESS:
        chances = softmax(sharpness * logs, axis=1)
        given = _allow_for_odd(chances[here, classes], n_classes)
        likelihood = max(_posterior(given, rate, others)[0] for rate in ERROR_RATES)
        # A normal prior of log β around 0; 0.05 keeps the logarithm finite at β = 0.
        off = np.log((sharpness + 0.05) / 1.05)
        fits.append((likelihood - 0.3 * off**2, chances))
    return max(fits, key=lambda fit: fit[0])


def _allow_for_odd(chances: FloatArray, n_answers: int) -> FloatArray:
    """Return (1 - δ) p + δ / K."""
    return (1.0 - ODD_SHARE) * chances + ODD_SHARE / n_answers


def _posterior(given: FloatArray, rate: float, others: int) -> tuple[float, FloatArray]:
    """Return the log likelihood of the given answers times the prior of ε, and their chances to be wrong."""
    wrong = rate * (1.0 - given) / others
    likelihood = (1.0 - rate) * given + wrong
    # ε has the prior Beta(2, 13), with mode 1/13.
    prior = np.log(rate) + 12.0 * np.log1p(-rate)
    return float(np.log(likelihood).sum() + prior), wrong / likelihood


def chance_links_wrong(views: FloatArray, is_must: BoolArray) -> FloatArray:
    """Return the chance that each link is wrong.

    The chance of "together" is p = 1 / (1 + exp(-b - Σ w_v view_v)), with weights w ≥ 0, but for odd pairs.
    """
    fits = [_fit_links(views, np.where(is_must, 1.0, -1.0), rate) for rate in ERROR_RATES]
    return max(fits, key=lambda fit: fit[0])[1]


def _fit_links(views: FloatArray, sign: FloatArray, rate: float) -> tuple[float, FloatArray]:
    """Return the penalised log likelihood of the best weights for an error rate ε, and the chances."""
    n_views = views.shape[1]
    design = np.column_stack([views, np.ones(len(views))])
    # The weights are drawn towards 1.5, the offset, more weakly, towards 0.
    centre = np.append(np.full(n_views, 1.5), 0.0)
    ridge = np.append(np.full(n_views, 0.3), 0.03)

    def cost(weights: FloatArray) -> tuple[float, FloatArray]:
        predicted = expit(sign * (design @ weights))
        given = _allow_for_odd(predicted, 2)
        likelihood = (1.0 - rate) * given + rate * (1.0 - given)
        slopes = (1.0 - 2.0 * rate) * (1.0 - ODD_SHARE) * predicted * (1.0 - predicted) / likelihood * sign
        off = weights - centre
        return float(ridge @ off**2 - np.log(likelihood).sum()), 2.0 * ridge * off - design.T @ slopes

    bounds = [(0.0, None)] * n_views + [(None, None)]
    found = minimize(cost, centre, jac=True, bounds=bounds, method="L-BFGS-B")
    given = _allow_for_odd(expit(sign * (design @ found.x)), 2)
    likelihood, wrong = _posterior(given, rate, 1)
    return likelihood - float(ridge @ (found.x - centre) ** 2), wrong
