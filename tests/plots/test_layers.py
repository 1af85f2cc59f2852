import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import Layers, NormalizedCut
from sidecut.plots import plot_layers


@pytest.fixture(scope="module")
def model():
    X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.5, random_state=0)
    return Layers(random_state=0).fit(X)


def test_every_cluster_is_a_block_within_its_parent(model):
    ax = plot_layers(model)
    blocks = {bar.get_gid(): bar for bar in ax.patches}
    assert set(blocks) == {f"cluster {branch}" for branch in range(1, len(model.tree_["parent"]))}
    for branch, parent in enumerate(model.tree_["parent"].tolist()):
        if parent > 0:
            inner, outer = blocks[f"cluster {branch}"], blocks[f"cluster {parent}"]
            assert (
                outer.get_x()
                <= inner.get_x()
                < inner.get_x() + inner.get_width()
                <= outer.get_x() + outer.get_width()
            )
            assert inner.get_y() + inner.get_height() == outer.get_y()


def test_a_line_marks_each_layer_among_its_blocks(model):
    ax = plot_layers(model)
    lines = {line.get_gid(): line.get_ydata()[0] for line in ax.lines}
    for labels in model.layers_:
        count = len(np.unique(labels))
        height = lines[f"layer {count}"]
        cut = [bar for bar in ax.patches if bar.get_y() < height < bar.get_y() + bar.get_height()]
        assert len(cut) == count
        assert sum(bar.get_width() for bar in cut) == 300


def test_clusters_of_the_layer_have_colours_of_their_own(model):
    blocks = plot_layers(model).patches
    top = [bar.get_facecolor() for bar in blocks if bar.get_y() + bar.get_height() > 50][-3:]
    assert len(set(top)) == 3


def test_a_model_without_a_tree_is_refused():
    with pytest.raises(ValueError, match="fit Layers first"):
        plot_layers(NormalizedCut())
