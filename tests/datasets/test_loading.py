import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.datasets import load, loading
from sidecut.datasets import loading as openml
from sidecut.datasets.dataset import Dataset
from sidecut.datasets.loading import CATALOGUE, Entry
from sidecut.exceptions import DatasetWarning, DataUnavailableError


@pytest.fixture
def toy(monkeypatch):
    """A data set of four points in the catalogue, which no folder holds as yet."""
    monkeypatch.delenv(loading.FOLDER, raising=False)
    entry = Entry("Four points.", (4, 2, 2), openml=7, divisor=10.0)
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    return entry


@pytest.fixture
def offline(monkeypatch):
    def fail(**arguments):
        raise OSError("the network is unreachable")

    monkeypatch.setattr(openml, "fetch_openml", fail)


def write_toy(folder, X=((0, 10), (0, 20), (30, 10), (30, 20)), y=(0, 0, 1, 1)):
    np.savez(folder / "toy.npz", X=np.array(X, dtype=np.int16), y=np.array(y, dtype=np.uint8))


@pytest.mark.parametrize("name", ["iris", "wine", "wdbc", "digits"])
def test_bundled_data_need_no_folder(name, monkeypatch):
    monkeypatch.delenv(loading.FOLDER, raising=False)
    data = load(name)
    assert (data.n_samples, data.X.shape[1], data.n_classes) == CATALOGUE[name].shape


def test_a_file_of_the_folder_is_read_and_divided(toy, tmp_path):
    write_toy(tmp_path)
    data = load("toy", tmp_path)
    np.testing.assert_array_equal(data.X, [[0, 1], [0, 2], [3, 1], [3, 2]])
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.y, [0, 0, 1, 1])


def test_the_environment_names_the_folder_unless_an_argument_does(toy, tmp_path, monkeypatch, offline):
    write_toy(tmp_path)
    monkeypatch.setenv(loading.FOLDER, str(tmp_path))
    assert load("toy").n_samples == 4
    with pytest.raises(DataUnavailableError):
        load("toy", tmp_path / "elsewhere")


def test_a_sparse_file_stays_sparse(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "toy", Entry("Words.", (3, 4, 3)))
    X = sp.csr_array(np.array([[1, 0, 0, 2], [0, 0, 3, 0], [0, 4, 0, 0]], dtype=np.int16))
    path = tmp_path / "toy.npz"
    sp.save_npz(path, X)
    with np.load(path) as file:
        np.savez(path, **dict(file), y=np.arange(3))
    data = load("toy", tmp_path)
    assert sp.issparse(data.X)
    np.testing.assert_array_equal(data.X.toarray(), X.toarray())


def test_offline_says_where_it_looked_and_what_to_do(toy, offline):
    with pytest.raises(DataUnavailableError, match=r"SIDECUT_DATA is not set.*unreachable.*put toy\.npz"):
        load("toy")


def test_what_is_nowhere_is_not_fetched(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "toy", Entry("Rare.", (4, 2, 2)))
    with pytest.raises(DataUnavailableError, match=r"there is no .*toy\.npz, and it is not at openml"):
        load("toy", tmp_path)


def fetched(X, classes):
    def fetch_openml(**arguments):
        assert arguments["data_id"] == 7
        return np.array(X, dtype=float), np.array(classes, dtype=object)

    return fetch_openml


def test_fetched_classes_are_numbered_and_missing_values_left_out(toy, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "toy", Entry("Fetched.", (3, 1, 2), openml=7, complete=True))
    monkeypatch.setattr(openml, "fetch_openml", fetched([[1], [np.nan], [2], [3]], ["10", "2", "2", "10"]))
    data = load("toy")
    np.testing.assert_array_equal(data.X.ravel(), [1, 2, 3])
    np.testing.assert_array_equal(data.y, [1, 0, 1])  # 2 comes before 10


def test_another_copy_is_told(toy, monkeypatch):
    points, classes = [[0, 1], [0, 2], [3, 1], [3, 2]], ["a", "a", "b", "b"]
    right = Dataset("toy", np.array(points, dtype=float), np.array([0, 0, 1, 1]), "").checksum
    monkeypatch.setitem(CATALOGUE, "toy", Entry("Fetched.", (4, 2, 2), openml=7, checksum=right))
    monkeypatch.setattr(openml, "fetch_openml", fetched(points, classes))
    assert load("toy").n_samples == 4  # a warning would be an error here
    monkeypatch.setattr(openml, "fetch_openml", fetched(points[::-1], classes[::-1]))
    with pytest.warns(DatasetWarning, match="checksum differs"):
        load("toy")


def test_a_copy_of_another_shape_is_refused(toy, tmp_path):
    write_toy(tmp_path, y=(0, 0, 1, 2))
    with pytest.raises(ValueError, match=r"must have 4 points, 2 features, 2 classes; this copy has .* 3 cl"):
        load("toy", tmp_path)


def test_a_file_without_classes_is_refused(toy, tmp_path):
    np.savez(tmp_path / "toy.npz", X=np.zeros((4, 2)))
    with pytest.raises(DataUnavailableError, match="holds X, but no y"):
        load("toy", tmp_path)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no data set 'wein'; choose one of iris, wine"):
        load("wein")
    with pytest.raises(ValueError, match=r"'iris' has no subset 'without-rosa'; choose .*without-setosa"):
        load("iris/without-rosa")
