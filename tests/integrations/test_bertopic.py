"""BERTopic: its own object, with our cluster model; known topics, corrections, outliers, new documents."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from sidecut import E2CP, PoissonLearning
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning
from sidecut.integrations.bertopic import TopicClusterer

WORDS = {
    "sport": ["goal", "match", "team", "player", "coach", "league", "season", "score", "ball", "win"],
    "space": ["orbit", "launch", "rocket", "moon", "probe", "star", "planet", "crew", "mission", "engine"],
    "food": ["bread", "butter", "oven", "salt", "recipe", "dough", "sugar", "soup", "onion", "pepper"],
}
NAMES = list(WORDS)


def write_documents(n=150, seed=0):
    """Documents of twelve words, two of them of other topics."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(3, size=n)
    every = [word for words in WORDS.values() for word in words]
    documents = [" ".join([*rng.choice(WORDS[NAMES[kind]], 10), *rng.choice(every, 2)]) for kind in kinds]
    return documents, kinds


DOCUMENTS, KINDS = write_documents()
EMBEDDINGS = TruncatedSVD(8, random_state=0).fit_transform(TfidfVectorizer().fit_transform(DOCUMENTS))
PARTIAL = np.where(np.arange(150) < 12, KINDS, -1)


class AsItIs:
    """A reduction that leaves the embeddings as they are: what is tested is the step after it."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def topic_model(clusterer):
    from bertopic import BERTopic

    return BERTopic(
        hdbscan_model=clusterer, umap_model=AsItIs(), vectorizer_model=CountVectorizer(), embedding_model=None
    )


def quick(**options):
    return TopicClusterer(3, estimator=PoissonLearning(safe=False), random_state=0, **options)


def test_bertopic_takes_it_for_its_cluster_model():
    clusterer = TopicClusterer(random_state=0)
    model = topic_model(clusterer)
    topics, probabilities = model.fit_transform(DOCUMENTS, EMBEDDINGS, y=PARTIAL)
    assert len(set(topics)) == 3
    names = clusterer.names_of(model.topics_)
    assert sorted(names) == sorted(set(topics))
    assert np.mean([names[topic] == kind for topic, kind in zip(topics, KINDS, strict=True)]) > 0.95
    np.testing.assert_array_equal(probabilities, clusterer.probabilities_)
    # Each topic is described by its own words.
    for topic, kind in names.items():
        assert {word for word, _ in model.get_topic(topic)} <= set(WORDS[NAMES[kind]])


def test_new_documents():
    clusterer = quick()
    model = topic_model(clusterer)
    model.fit(DOCUMENTS[:100], EMBEDDINGS[:100], y=PARTIAL[:100])
    topics, _ = model.transform(DOCUMENTS[100:], EMBEDDINGS[100:])
    names = clusterer.names_of(model.topics_)
    assert np.mean([names[topic] == kind for topic, kind in zip(topics, KINDS[100:], strict=True)]) > 0.95


def test_corrections_survive_when_the_model_is_fitted_again():
    clusterer = quick()
    model = topic_model(clusterer)
    model.fit(DOCUMENTS, EMBEDDINGS, y=PARTIAL)
    document = int(np.flatnonzero((PARTIAL == -1) & (KINDS == 0))[0])
    assert clusterer.names_[clusterer.labels_[document]] == 0
    clusterer.correct(known={document: 2})
    for _ in range(2):
        model.fit(DOCUMENTS, EMBEDDINGS, y=PARTIAL)
        assert clusterer.names_[clusterer.labels_[document]] == 2
    clusterer.correct(known={document: None})
    assert clusterer.known == {}
    model.fit(DOCUMENTS, EMBEDDINGS, y=PARTIAL)
    assert clusterer.names_[clusterer.labels_[document]] == 0


def test_corrections_are_parameters():
    clusterer = (
        quick(known={3: "a"}).correct(must_link=[(0, 1)]).correct(cannot_link=[(0, 2)], must_link=[(4, 5)])
    )
    copy = clone(clusterer)
    assert copy.get_params()["must_link"] == [(0, 1), (4, 5)]
    assert copy.cannot_link == [(0, 2)]
    assert copy.known == {3: "a"}


def test_pairs_are_kept():
    clusterer = TopicClusterer(3, estimator=PoissonLearning(hard=True), random_state=0)
    a, b = (int(np.flatnonzero(kind == KINDS)[-1]) for kind in (0, 1))
    labels = clusterer.correct(must_link=[(a, b)]).fit(EMBEDDINGS, y=PARTIAL).labels_
    assert labels[a] == labels[b]


def test_outliers_are_the_least_sure():
    whole = quick().fit(EMBEDDINGS, y=PARTIAL)
    clusterer = quick(outliers=0.2).fit(EMBEDDINGS, y=PARTIAL)
    is_outlier = clusterer.labels_ == -1
    assert is_outlier.sum() == 30
    assert not is_outlier[:12].any()
    np.testing.assert_array_equal(clusterer.labels_[~is_outlier], whole.labels_[~is_outlier])
    assert (clusterer.probabilities_[is_outlier] == 0).all()
    open_to_it = np.arange(150) >= 12
    assert whole.probabilities_[is_outlier].max() <= whole.probabilities_[~is_outlier & open_to_it].min()
    model = topic_model(quick(outliers=0.2)).fit(DOCUMENTS, EMBEDDINGS, y=PARTIAL)
    assert model.get_topic_info()["Topic"].tolist() == [-1, 0, 1, 2]


def test_a_new_document_among_outliers_is_one():
    clusterer = quick(outliers=0.5)
    clusterer.fit(EMBEDDINGS, y=PARTIAL)
    votes = [np.argsort(np.linalg.norm(EMBEDDINGS - point, axis=1))[:15] for point in EMBEDDINGS]
    expected = [np.bincount(clusterer.labels_[near] + 1).argmax() - 1 for near in votes]
    np.testing.assert_array_equal(clusterer.predict(EMBEDDINGS), expected)
    assert -1 in expected


def test_nothing_known_is_the_plain_cut():
    clusterer = TopicClusterer(3, random_state=0).fit(EMBEDDINGS)
    assert clusterer.names_ == {}
    assert len(set(clusterer.labels_)) == 3
    purity = [np.bincount(KINDS[clusterer.labels_ == topic]).max() for topic in range(3)]
    assert sum(purity) > 140


@pytest.mark.parametrize(
    ("clusterer", "y", "error", "message"),
    [
        (quick(known={150: 1}), None, ConstraintError, "document 150 is known, but there are 150"),
        (quick(outliers=1.0), None, ValueError, "outliers=1.0"),
        (quick(), [0, 1], ConstraintError, "y has 2 topics for 150 documents"),
        (quick(must_link=[(0, 1)], cannot_link=[(1, 0)]), None, ConstraintError, "cannot_link"),
    ],
)
def test_errors_say_what_is_wrong(clusterer, y, error, message):
    with pytest.raises(error, match=message):
        clusterer.fit(EMBEDDINGS, y=y)


def test_a_correction_wins_over_y():
    """In the trial a correction against y raised only at the next fit, with advice that led nowhere."""
    X, y = load_iris(return_X_y=True)
    partial = np.where(np.arange(150) % 10 == 0, y, -1)
    model = TopicClusterer(random_state=0, estimator=E2CP(3, safe=False, hard=True))
    model.correct(must_link=[(0, 60)], cannot_link=[(100, 110)])
    with pytest.warns(ConstraintWarning, match=r"its topics of 4 documents \(0, 60, 100, 110\) are not used"):
        model.fit(X, y=partial)
    assert model.labels_[0] == model.labels_[60]
    assert model.labels_[100] != model.labels_[110]
    # Chains count, and what the user corrected by name is kept.
    chained = TopicClusterer(random_state=0, estimator=E2CP(3, safe=False, hard=True))
    chained.correct(known={60: 1}, must_link=[(0, 5), (5, 60)])
    with pytest.warns(ConstraintWarning, match=r"its topics of 1 documents \(0\)"):
        chained.fit(X, y=partial)
    assert len({int(chained.labels_[place]) for place in (0, 5, 60)}) == 1


def test_corrections_that_contradict_each_other_are_refused_at_once():
    model = TopicClusterer().correct(must_link=[(4, 8), (8, 9)])
    with pytest.raises(ConflictError):
        model.correct(cannot_link=[(9, 4)])
    with pytest.raises(ConflictError):
        model.correct(known={4: "sport", 9: "music"})
    assert model.cannot_link == []
    assert model.known == {}


def test_the_number_of_topics_may_have_bounds():
    model = TopicClusterer(n_topics=(2, 9), random_state=0).fit(EMBEDDINGS)
    assert len(set(model.labels_)) == 3
    with pytest.raises(ValueError, match="the smaller one first"):
        TopicClusterer(n_topics=(9, 2)).fit(EMBEDDINGS)
