"""Find broken links of a built site, and content that its pages fetch from other sites.

Links to other sites are not followed. For these, use `sphinx-build -b linkcheck` and a network.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, the addresses it fetches, and the anchors it has."""

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
    """Yield a line for every broken link and every address that is fetched from another site."""
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
    """Return whether an address is outside the site."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def leads(address: str, start: Path, pages: dict[Path, Page]) -> bool:
    """Return whether an address within the site leads to a file and an anchor that exist."""
    parts = urlsplit(address)
    target = (start.parent / unquote(parts.path)).resolve() if parts.path else start
    if target not in pages:
        return target.is_file()
    return unquote(parts.fragment) in pages[target].places


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "every link within the site leads somewhere")
    sys.exit(bool(found))
