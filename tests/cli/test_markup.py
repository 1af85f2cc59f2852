from html.parser import HTMLParser

import pytest

from sidecut.cli.markup import figure, paragraph, section, table, tile

EVIL = "<script>\"&'</script>"


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.alts = [], "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.alts += [value for name, value in attrs if name == "alt"]

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    "html",
    [
        section(EVIL),
        paragraph(EVIL),
        tile(EVIL, ""),
        table([EVIL], []),
        table(["a"], [[EVIL]]),
        table(["a"], [], EVIL),
    ],
)
def test_text_stays_text(html):
    reader = Reader()
    reader.feed(html)
    assert "script" not in reader.tags
    assert EVIL in reader.text


def test_descriptions_of_pictures_stay_text():
    reader = Reader()
    reader.feed(figure(b"", b"", EVIL, EVIL))
    assert reader.alts == [EVIL]
    assert "script" not in reader.tags
