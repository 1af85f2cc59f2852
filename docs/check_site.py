"""Look at the built site as a reader without a network would: `python docs/check_site.py docs/_build/html`.

Every link within the site leads to a page and a place on it, nothing is loaded from elsewhere, every public
name has its place, every example shows a picture, and where an example prints scores before and after, the
second is better.
"""

from __future__ import annotations

import re
import sys
import zlib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

#: Tags that fetch what they name, and the attribute that names it.
FETCHING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
SCORES = re.compile(r"(before|after):\s+ARI (-?[\d.]+)")
GAIN = 0.05
#: Code keeps its braces.
CODE = re.compile(r"<(pre|code|script|style|title)\b.*?</\1>", re.DOTALL)


class Page(HTMLParser):
    """What a page links to, what it fetches and the places on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links, what is fetched, and places."""
        values = {name: value or "" for name, value in attrs}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in FETCHING and FETCHING[tag] in values and values.get("rel") not in ("author", "canonical"):
            self.fetched.append(values[FETCHING[tag]])


@cache
def read_page(path: Path) -> Page:
    """Read one page; pages that many link to are read once."""
    return Page(path.read_text(encoding="utf-8"))


def is_elsewhere(link: str) -> bool:
    """Whether a link leaves the site."""
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def leads_nowhere(page: Path, link: str) -> bool:
    """Whether a link within the site has no target."""
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return True
    place = unquote(parts.fragment)
    return bool(place) and target.suffix == ".html" and place not in read_page(target).places


def check_links(folder: Path) -> list[str]:
    """Links and pictures that lead nowhere, and what is loaded from elsewhere."""
    faults = []
    pages = (path for path in folder.resolve().rglob("*.html") if "_static" not in path.parts)
    for path in sorted(pages):
        page, name = read_page(path), path.relative_to(folder.resolve())
        inner = [link for link in page.links + page.fetched if not is_elsewhere(link)]
        faults += [f"{name}: {link} leads nowhere" for link in inner if leads_nowhere(path, link)]
        foreign = [link for link in page.fetched if is_elsewhere(link) and not link.startswith("data:")]
        faults += [f"{name}: {link} is loaded from elsewhere" for link in foreign]
    return faults


def described_names(folder: Path) -> set[str]:
    """The names in the site's inventory of objects."""
    content = (folder / "objects.inv").read_bytes().split(b"\n", 4)[4]
    return {line.split(" ", 1)[0] for line in zlib.decompress(content).decode().splitlines()}


def check_formulas(folder: Path) -> list[str]:
    """Powers in braces, outside code: they should be raised."""
    texts = {page: CODE.sub("", page.read_text(encoding="utf-8")) for page in sorted(folder.rglob("*.html"))}
    return [f"{page.name} shows a power in braces" for page, text in texts.items() if "^{" in text]


def check_names(folder: Path) -> list[str]:
    """Public names without a place in the reference."""
    from public_names import assign_homes, find_rooms

    promised = {home for names in assign_homes(find_rooms()).values() for home in names.values()}
    return [
        f"{name} is public but not in the reference" for name in sorted(promised - described_names(folder))
    ]


def check_example(page: Path) -> list[str]:
    """What an example's page lacks: a picture, or a gain where it tells scores."""
    text = page.read_text(encoding="utf-8")
    faults = (
        []
        if "sphx-glr-single-img" in text or "sphx-glr-multi-img" in text
        else [f"{page.name} shows no picture"]
    )
    scores = dict(SCORES.findall(text))
    if len(scores) == 2 and float(scores["after"]) < float(scores["before"]) + GAIN:
        faults.append(f"{page.name} is not better after ({scores['after']}) than before ({scores['before']})")
    return faults


def main() -> int:
    """Print what is wrong with a site and return 1, or its size and return 0."""
    folder = Path(sys.argv[1])
    examples = [page for page in (folder / "gallery").rglob("*.html") if page.name != "index.html"]
    faults = (
        check_links(folder)
        + check_formulas(folder)
        + check_names(folder)
        + [fault for page in examples for fault in check_example(page)]
    )
    n_pages, size = (
        len(list(folder.rglob("*.html"))),
        sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()),
    )
    for fault in faults:
        sys.stderr.write(fault + "\n")
    sys.stdout.write(
        f"{n_pages} pages, {len(examples)} examples, {size / 1e6:.0f} MB, {len(faults)} faults\n"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
