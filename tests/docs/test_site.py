"""The site: it builds without a warning, and its pages fetch nothing from outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FETCHED = ("stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "manifest")
"""Relations of a `link` that a browser follows by itself."""


class Fetched(HTMLParser):
    """Addresses that a browser fetches to show a page; where its links lead is not among them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag fetches."""
        given = {name: value or "" for name, value in attrs}
        self.addresses += [given[name] for name in ("src", "poster", "data") if name in given]
        self.addresses += [part.split()[0] for part in given.get("srcset", "").split(",") if part]
        if tag == "link" and set(given.get("rel", "").split()) & set(FETCHED):
            self.addresses.append(given.get("href", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it; not quietly, since warnings do not count then."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def is_outside(address: str) -> bool:
    """Whether an address names a host."""
    return re.match(r"([a-z]+:)?//", address, re.IGNORECASE) is not None


def test_no_page_fetches_anything_from_outside(site: Path) -> None:
    """Scripts, style sheets and pictures are files of the site, on every page."""
    pages = sorted(site.rglob("*.html"))
    assert {"index.html", "404.html", "recovering.html"} <= {page.name for page in pages}
    for page in pages:
        addresses = Fetched(page.read_text(encoding="utf-8")).addresses
        assert any(address.endswith(".js") for address in addresses), page.name
        assert [address for address in addresses if is_outside(address)] == [], page.name


def test_no_style_sheet_fetches_anything_from_outside(site: Path) -> None:
    """Fonts and pictures of the style sheets are files of the site or stand in the sheet."""
    sheets = sorted(site.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        text = sheet.read_text(encoding="utf-8")
        addresses = re.findall(r"(?:url\(|@import )\s*[\"']?([^\"')\s]+)", text)
        assert [address for address in addresses if is_outside(address)] == [], sheet.name


def test_what_would_be_fetched_is_seen() -> None:
    """The test above would notice each kind of tag."""
    page = """<script src="https://a.org/x.js"></script><img src="//b.org/y.png">
        <link rel="stylesheet" href="http://c.org/z.css"><a href="https://d.org">link</a>
        <link rel="canonical" href="https://e.org"><script src="assets/x.js"></script>"""
    outside = [address for address in Fetched(page).addresses if is_outside(address)]
    assert outside == ["https://a.org/x.js", "//b.org/y.png", "http://c.org/z.css"]
