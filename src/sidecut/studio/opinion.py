"""A second opinion: what AutoCut makes of all that was said."""

from __future__ import annotations

import warnings

from sklearn.metrics import adjusted_rand_score

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.selection import AutoCut
from sidecut.studio.messages import Column, Opinion, pack
from sidecut.studio.session import Session


def second_opinion(session: Session, known: Constraints, labels: IntArray) -> Opinion:
    """Return the clusters AutoCut finds with the same knowledge, and its reasons.

    Parameters
    ----------
    session : Session
        With the data.
    known : Constraints
        What was said, at the time of the question.
    labels : array of int
        The clusters at that time.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut.studio import Session
    >>> from sidecut.studio.opinion import second_opinion
    >>> X, y = load_iris(return_X_y=True)
    >>> session = Session(X)
    >>> for _ in range(20):
    ...     session = session.answer(bool(y[session.question().i] == y[session.question().j]))
    >>> run = session.run
    >>> second_opinion(session, run.constraints_, run.labels_)["agreement"] > 0.8
    True
    """
    model = AutoCut(
        int(labels.max()) + 1,
        affinity="precomputed" if session.setup.is_graph else "auto",
        random_state=session.setup.random_state,
    )
    with warnings.catch_warnings():
        # Its words say how much was known, and the page shows them.
        warnings.simplefilter("ignore", SidecutWarning)
        model.fit(session.X, constraints=known)
    names = [f"AutoCut {number + 1}" for number in range(int(model.labels_.max()) + 1)]
    column = Column(
        name="AutoCut",
        is_number=False,
        values=pack(model.labels_, "u2"),
        low=0.0,
        high=0.0,
        categories=names,
    )
    agreement = float(adjusted_rand_score(labels, model.labels_))
    return Opinion(column=column, words=model.explanation_, agreement=agreement)
