"""One part of the proof: a table of figures, and each record on which we differ."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Part:
    """What one set of public files shows."""

    title: str
    origin: str
    """Where the files come from."""

    columns: Sequence[str] = ()
    rows: list[Sequence[str]] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    """Each record on which we differ, with the reason."""

    records: int = 0
    """How many published figures were compared."""

    missing: str | None = None
    """What was looked for and not found; None where the part was run."""

    def markdown(self) -> str:
        """Write the part as Markdown."""
        lines = [f"## {self.title}", "", self.origin, ""]
        if self.missing:
            return "\n".join([*lines, f"Not run: {self.missing}.", ""])
        lines += [_row(self.columns), _row(["---"] * len(self.columns)), *map(_row, self.rows), ""]
        agreed = self.records - len(self.exceptions)
        lines.append(f"{agreed:,} of {self.records:,} figures are the published ones.")
        if self.exceptions:
            lines += ["", "The others:", "", *(f"- {each}" for each in self.exceptions)]
        return "\n".join([*lines, ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def source_files(folder: Path, package: str, inside: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of a source distribution below a folder inside it."""
    for archive in sorted(folder.rglob(f"{package}-*.tar.gz")):
        with tarfile.open(archive) as tar:
            for member in tar:
                _, _, name = member.name.partition(f"{inside}/")
                content = tar.extractfile(member)
                if name and content is not None:
                    yield name, content.read()
        return
