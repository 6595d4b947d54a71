"""Add the repository's addresses to the metadata of a release, and to the links of its README.

The release workflow knows the address. Other builds have no addresses, and the README as it is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE_LINK: Final = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:)([^)]+)\)")


class ReleaseMetadata(MetadataHookInterface):
    """Hatch's hook: it fills the dynamic `urls` and `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill them from `REPOSITORY_URL`, such as `https://github.com/OWNER/NAME`."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        address, tag = os.environ.get("REPOSITORY_URL"), f"v{metadata['version']}"
        if address:
            readme = make_absolute(readme, address, tag)
            metadata["urls"] = {
                "Homepage": address,
                "Documentation": f"{address}/blob/{tag}/README.md#documentation",
                "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


def make_absolute(readme: str, address: str, tag: str) -> str:
    """Point relative links to the files of a tag; a package index has only the README."""

    def link(found: re.Match[str]) -> str:
        is_image, text, path = found.groups()
        return f"{is_image}{text}({address}/{'raw' if is_image else 'blob'}/{tag}/{path})"

    return _RELATIVE_LINK.sub(link, readme)
