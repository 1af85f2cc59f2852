import re
from html.parser import HTMLParser

import numpy as np
import pytest

from sidecut.exceptions import ConstraintWarning


class Page(HTMLParser):
    """What a reader of the page gets: its text, its links to elsewhere, its pictures."""

    def __init__(self, html):
        super().__init__()
        self.text, self.links, self.tags, self.alts, self._skip = "", [], [], [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._skip = tag == "style"
        named = dict(attrs)
        self.links += [named[key] for key in ("src", "href", "srcset") if key in named]
        if tag == "img":
            self.alts.append(named.get("alt"))

    def handle_endtag(self, tag):
        self._skip = False

    def handle_data(self, data):
        if not self._skip:
            self.text += data


EVIL = "<script>alert(1)</script>"


@pytest.fixture
def page(shell, two_clouds):
    """The report of a run that was told to join two clouds far apart and was given a hostile name."""
    X, classes = two_clouds
    first, second = np.flatnonzero(classes == 0)[0], np.flatnonzero(classes == 1)[0]
    names = [EVIL if i == first else f"p{i}" for i in range(20)]
    rows = [f"{x},{y},{n},{c}" for (x, y), n, c in zip(X.tolist(), names, classes, strict=True)]
    shell.write("clouds & co.csv", "\n".join(["x,y,name,class", *rows]))
    shell.write("c.csv", f"i,j,strength\n{EVIL},p{second},1\n")
    shell.options = (
        "--id-column",
        "name",
        "--truth-column",
        "class",
        "--neighbors",
        5,
        "--constraints",
        "c.csv",
    )
    words = ("-k", 2, "-o", "l.csv", "--no-compare", "--method", "spectral-learning", *shell.options)
    assert shell("cluster", "clouds & co.csv", *words) == 0, shell.err
    return Page((shell.directory / "l.html").read_text(encoding="utf-8"))


def test_it_tells_what_was_run_and_with_which_versions(page):
    assert "clouds & co.csv in 2 clusters" in page.text
    assert "sidecut cluster 'clouds & co.csv' " in page.text
    assert "--output l.csv --clusters 2" in page.text
    assert re.search(r"sidecut \d.*Python 3.*numpy \d.*scikit-learn \d", page.text)


def test_violated_constraints_are_listed_with_their_points(page):
    assert "1 of 1 constraint is violated" in page.text
    assert re.search(
        rf"must-link{re.escape(EVIL)}p\d+1in cluster (0 and cluster 1|1 and cluster 0)", page.text
    )


def test_names_from_files_cannot_become_markup(page):
    assert "script" not in page.tags


def test_it_loads_nothing_from_anywhere(page):
    assert page.links
    assert all(link.startswith("data:image/png;base64,") for link in page.links)


def test_every_picture_is_described(page):
    assert len(page.alts) == 2
    assert "20 points in 2 clusters" in page.alts[0]
    assert "eigenvalues" in page.alts[1]


def test_sizes_scores_and_spectrum_are_there(page):
    for expected in (
        "Sizes",
        "adjusted Rand index, all points",
        "1.000",
        "the spectrum",
        "Certificate",
    ):
        assert expected in page.text


def test_before_and_after_are_compared_when_constraints_are_used(shell, page):
    assert shell("cluster", "clouds & co.csv", "-k", 2, "-o", "l.csv", *shell.options) == 0
    compared = Page((shell.directory / "l.html").read_text(encoding="utf-8"))
    assert "without constraints" in compared.text
    assert "20 points in 2 clusters" in compared.alts[0]
    assert "without what you know" in compared.alts[1]


def test_long_lists_are_folded_and_the_culprit_is_named(shell, page):
    known = {row[2] for row in shell.table("clouds & co.csv")[1:]}
    shell.write("c.csv", "".join(f"{EVIL},{name},-1\n" for name in sorted(known - {EVIL})))
    assert shell("cluster", "clouds & co.csv", "-k", 1, "-o", "l.csv", "--no-compare", *shell.options) == 0
    folded = Page((shell.directory / "l.html").read_text(encoding="utf-8"))
    assert "19 of 19 constraints are violated" in folded.text
    assert f"Points in most of them: {EVIL} (19)" in folded.text
    assert "details" in folded.tags


def test_the_least_sure_points_are_listed(shell, page):
    sure = {row[0]: float(row[2]) for row in shell.table("l.csv")[1:]}
    section = page.text.split("The most doubtful points")[1].replace("\n", "")
    listed = {name: float(value) for name, value in re.findall(r"(p\d+)cluster [01](\d\.\d\d)", section)}
    assert len(listed) >= 9
    assert all(abs(sure[name] - value) < 0.006 for name, value in listed.items())
    assert max(listed.values()) <= sorted(sure.values())[10] + 0.006


def test_warnings_are_listed(shell, page):
    shell.write("d.csv", f"i,j,strength\n{EVIL},p1,1\n{EVIL},p1,-0.5\n")
    words = ("-k", 2, "-o", "l.csv", *shell.options, "--on-conflict", "drop", "--constraints", "d.csv")
    assert shell("cluster", "clouds & co.csv", *words) == 0, shell.err
    warned = Page((shell.directory / "l.html").read_text(encoding="utf-8"))
    assert "Warnings" in warned.text
    assert "dropped 1 of 2 links" in warned.text


def test_labels_are_counted_as_labels(shell, clouds_csv):
    """24 labels were "276 constraints"; labels go in, and labels come out."""
    words = ("--id-column", "name", "--label-column", "seen", "--drop", "class", "-k", 2, "-o", "l.csv")
    assert shell("cluster", clouds_csv, *words) == 0, shell.err
    page = Page((shell.directory / "l.html").read_text(encoding="utf-8"))
    assert "4 / 4" in page.text
    assert "All of them are in the cluster of their class" in page.text
    assert "constraints satisfied" not in page.text
    assert "must-link" not in page.text


def test_classes_that_share_a_cluster_without_labels_are_no_news(shell, recwarn):
    """The comparison without labels printed a warning of Python, with a path, about a right answer."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) * [1.0, 0.1]
    kind = np.where(X[:, 1] > -0.07, "up", "down")
    rows = [f"{x},{y},{kind[row] if row < 30 else ''}" for row, (x, y) in enumerate(X)]
    shell.write("w.csv", "\n".join(["x,y,seen", *rows]) + "\n")
    assert shell("cluster", "w.csv", "--label-column", "seen", "-k", 2, "-o", "l.csv") == 0, shell.err
    assert [str(one.message) for one in recwarn if issubclass(one.category, ConstraintWarning)] == []


def test_a_wrong_label_is_listed_by_name(shell, two_clouds):
    X, classes = two_clouds
    known = ["ab"[c] if row < 9 else "" for row, c in enumerate(classes)]
    known[3] = "ab"[1 - classes[3]]
    rows = [f"{x},{y},p{row},{known[row]}" for row, (x, y) in enumerate(X)]
    shell.write("w.csv", "\n".join(["x,y,name,seen", *rows]) + "\n")
    words = ("--id-column", "name", "--label-column", "seen", "-k", 2, "-o", "l.csv", "--method", "e2cp")
    assert shell("cluster", "w.csv", *words, "--set", "safe=false") == 0, shell.err
    page = Page((shell.directory / "l.html").read_text(encoding="utf-8"))
    assert "8 of 9 labelled points are in the cluster of their class. This one is not:" in page.text
    section = page.text.split("Labelled points")[1].split("Labels that look wrong")[0].replace("\n", "")
    assert f"p3{known[3]}{'ab'[classes[3]]}" in section


#: The most lines that a number or its heading takes in the table of clusters.
LINES = """Math.max(...[...document.querySelectorAll(".sizes .number")].map((cell) => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return new Set([...text.getClientRects()].map((line) => line.top)).size;
}))"""


def test_the_page_is_whole_on_a_phone(shell, page, browser):
    """Nothing is cut off at 390 pixels, and the picture is on the first screen."""
    for width, height in ((390, 844), (1400, 900)):
        sheet = browser.new_page(viewport={"width": width, "height": height})
        sheet.goto((shell.directory / "l.html").as_uri())
        assert sheet.evaluate("document.documentElement.scrollWidth") <= width
        wide = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).length"
        sheet.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert sheet.evaluate(wide) == 0
        sheet.evaluate(
            "document.querySelector('.sizes tbody th').textContent = 'Schnäppchenjägergemeinschaften'"
        )
        assert sheet.evaluate(wide) == 0
        # A number is not broken in two: "29.0" over "%".
        assert sheet.evaluate(LINES) == 1
        box = sheet.locator("figure img").first.bounding_box()
        assert box["y"] + box["height"] <= height
        sheet.close()
