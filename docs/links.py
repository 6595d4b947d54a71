"""Says which links of a built site lead nowhere, and what its pages would fetch from elsewhere.

Links to other sites are not followed: that takes a network, and `sphinx-build -b linkcheck`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, what it fetches to be shown, and where in it links may lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = re.findall(r"@import\s+[\"']([^\"']+)", text)
        self.places: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given.get("id", ""), given.get("name", "") if tag == "a" else ""}
        self.fetched += [given[name] for name in ("src", "poster", "data") if name in given]
        if "href" in given:
            (self.links if tag == "a" else self.fetched).append(given["href"])


def problems(site: Path) -> Iterator[str]:
    """Yield a line for every link that leads nowhere and everything fetched from elsewhere."""
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        here = path.relative_to(site)
        for address in page.fetched:
            if is_elsewhere(address):
                yield f"{here}: fetches {address}"
        for address in dict.fromkeys(page.links + page.fetched):
            if not urlsplit(address).scheme and not leads(address, path, pages):
                yield f"{here}: {address} leads nowhere"
    for sheet in sorted(site.rglob("*.css")):
        for address in re.findall(r"(?:url\(|@import\s)\s*[\"']?([^\"')\s]+)", sheet.read_text()):
            if is_elsewhere(address):
                yield f"{sheet.relative_to(site)}: fetches {address}"


def is_elsewhere(address: str) -> bool:
    """Tell what is neither in the site nor in the page itself."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def leads(address: str, start: Path, pages: dict[Path, Page]) -> bool:
    """Tell whether an address within the site is that of a file, and of a place in it."""
    parts = urlsplit(address)
    target = (start.parent / unquote(parts.path)).resolve() if parts.path else start
    if target not in pages:
        return target.is_file()
    return unquote(parts.fragment) in pages[target].places


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "every link within the site leads somewhere")
    sys.exit(bool(found))
