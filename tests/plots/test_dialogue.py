"""The picture of a dialogue."""

import numpy as np
import pytest

from sidecut.active import Answer, ClassAnswer
from sidecut.plots import plot_dialogue

SAID = [
    Answer(0, 1, True, changed=0.3),
    Answer(1, 2, False, changed=0.1),
    ClassAnswer(4, "cat"),
    Answer(2, 3, None),
]


def test_each_answer_is_a_mark_at_what_it_changed():
    ax = plot_dialogue(SAID)
    marks = {one.get_label(): np.asarray(one.get_offsets()).tolist() for one in ax.collections[1:]}
    assert marks == {
        "together": [[1.0, 0.3]],
        "apart": [[2.0, 0.1]],
        "a class was named": [[3.0, 0.0]],
        "unsure": [[4.0, 0.0]],
    }


def test_scores_begin_before_the_first_answer():
    ax = plot_dialogue(SAID, [0.1, 0.5, 0.6, 0.6, 0.7])
    (line,) = ax.figure.axes[1].lines
    assert line.get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert list(line.get_ydata()) == [0.1, 0.5, 0.6, 0.6, 0.7]


@pytest.mark.parametrize(
    ("history", "scores", "complaint"),
    [([], None, "has no answers"), (SAID, [0.1], "4 answers and 1 scores")],
)
def test_refusals(history, scores, complaint):
    with pytest.raises(ValueError, match=complaint):
        plot_dialogue(history, scores)
