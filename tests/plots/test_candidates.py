import numpy as np
import pytest

from sidecut.plots import plot_candidates

TABLE = {
    "method": ["vote", "E2CP", "CSP", "NCSC"],
    "graph": ["20 neighbours"] * 4,
    "score": [0.9, 0.8, 0.7, float("nan")],
    "spread": [0.1, float("nan"), 0.05, float("nan")],
    "verdict": ["chosen", "in the vote", "others were better", "the budget was spent"],
}


def test_those_that_made_the_answer_stand_out():
    drawn = {artist.get_gid(): artist for artist in plot_candidates(TABLE).collections if artist.get_gid()}
    np.testing.assert_array_equal(drawn["chosen"].get_offsets(), [[0.9, 0], [0.8, 1]])
    np.testing.assert_array_equal(drawn["left out"].get_offsets(), [[0.7, 2]])
    assert len(drawn["left out"].get_facecolor()) == 0


def test_the_best_is_on_top_and_nobody_without_a_score_is_drawn():
    ax = plot_candidates(TABLE)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "vote, 20 neighbours",
        "E2CP, 20 neighbours",
        "CSP, 20 neighbours",
    ]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_nothing_compared_is_refused():
    with pytest.raises(ValueError, match="too few constraints"):
        plot_candidates({name: values[3:] for name, values in TABLE.items()})
