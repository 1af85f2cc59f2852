"""The look at the built site finds what is wrong with it."""

import zlib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def check_site():
    spec = spec_from_file_location("check_site", ROOT / "docs" / "check_site.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_that_lead_nowhere_are_found(check_site, tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="#top">x</a><a href="#low">x</a><a href="b.html">x</a>'
        '<a href="c.html">x</a>'
        '<a href="b.html#there">x</a><a href="b.html#gone">x</a>'
        '<a href="https://example.org/gone">x</a><img src="no.png">'
    )
    (tmp_path / "b.html").write_text('<p id="there">B</p>')
    assert check_site.check_links(tmp_path) == [
        "a.html: #low leads nowhere",
        "a.html: c.html leads nowhere",
        "a.html: b.html#gone leads nowhere",
        "a.html: no.png leads nowhere",
    ]


def test_what_is_loaded_from_elsewhere_is_found(check_site, tmp_path):
    (tmp_path / "a.html").write_text(
        '<script src="https://example.org/x.js"></script><link rel="stylesheet" href="//example.org/x.css">'
        '<img src="data:image/png;base64,AA"><a href="https://example.org">a link may leave</a>'
    )
    assert check_site.check_links(tmp_path) == [
        "a.html: https://example.org/x.js is loaded from elsewhere",
        "a.html: //example.org/x.css is loaded from elsewhere",
    ]


def test_the_inventory_is_read(check_site, tmp_path):
    lines = b"sidecut.CSP py:class 1 a.html#$ -\nsidecut.E2CP py:class 1 b.html#$ -\n"
    head = b"# Sphinx inventory version 2\n# Project: p\n# Version: 1\n# compressed using zlib\n"
    (tmp_path / "objects.inv").write_bytes(head + zlib.compress(lines))
    assert check_site.described_names(tmp_path) == {"sidecut.CSP", "sidecut.E2CP"}


@pytest.mark.parametrize(
    ("text", "n_faults"),
    [
        ('<img class="sphx-glr-single-img"/>', 0),
        ("no picture", 1),
        ('<img class="sphx-glr-single-img"/> before: ARI 0.40 after:  ARI 0.80', 0),
        ('<img class="sphx-glr-single-img"/> before: ARI 0.40 after:  ARI 0.41', 1),
    ],
)
def test_an_example_has_a_picture_and_gains(check_site, tmp_path, text, n_faults):
    page = tmp_path / "page.html"
    page.write_text(text)
    assert len(check_site.check_example(page)) == n_faults


def test_powers_in_braces_are_found(check_site, tmp_path):
    (tmp_path / "a.html").write_text("<p>D<sup>-1/2</sup> and <code>x^{2}</code></p><pre>y^{3}</pre>")
    assert check_site.check_formulas(tmp_path) == []
    (tmp_path / "b.html").write_text("<p>D^{-1/2}</p>")
    assert check_site.check_formulas(tmp_path) == ["b.html shows a power in braces"]
