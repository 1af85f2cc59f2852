import numpy as np
import pytest

from sidecut.images import touching_discs


@pytest.fixture(scope="session")
def discs():
    """Two discs of one grey that touch, and which is which."""
    return touching_discs(random_state=0)


@pytest.fixture(scope="session")
def boxes():
    """A box of 5 x 5 pixels on each disc."""
    return [("left", 22, 22, 5, 5), ("right", 22, 50, 5, 5)]


@pytest.fixture
def small_pictures():
    """Grey and colour pictures of 7 x 6 pixels, with nothing regular in them."""
    rng = np.random.default_rng(0)
    return {"grey": rng.random((7, 6)), "colour": rng.random((7, 6, 3))}
