import pytest
from sklearn.cluster import KMeans

from sidecut.cli.console import UsageError
from sidecut.cli.methods import build_estimator, parse_setting


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1", 1),
        ("a=0.5", 0.5),
        ("a=None", None),
        ("a=True", True),
        ("a=true", True),
        ("a=YES", True),
        ("a=off", False),
        ("a=none", None),
        ("a=knn", "knn"),
        ("a='5'", "5"),
        ("a=(1, 2)", (1, 2)),
        ("a=b=c", "b=c"),
        (" a = 1 ", 1),
    ],
)
def test_values_are_read_as_python_reads_them_or_as_text(text, value):
    assert parse_setting(text) == ("a", value)


@pytest.mark.parametrize("text", ["a", "=1"])
def test_a_setting_without_name_or_value_is_refused(text):
    with pytest.raises(UsageError, match="name=value"):
        parse_setting(text)


def test_settings_win_over_options_and_none_keeps_the_default():
    model = build_estimator(KMeans, {"n_clusters": 3, "max_iter": None}, ["n_clusters=4"])
    assert (model.n_clusters, model.max_iter) == (4, KMeans().max_iter)


def test_an_unknown_parameter_is_refused_with_the_known_ones():
    with pytest.raises(
        UsageError, match=r"KMeans has no parameter 'n_cluster'; did you mean n_clusters\?.*max_iter"
    ):
        build_estimator(KMeans, {}, ["n_cluster=4"])
