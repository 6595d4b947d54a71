"""What was found wrong with an evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from llmeval_integrations.conformance.case import Severity
from llmeval_integrations.core.printable import plain_console

if TYPE_CHECKING:
    from rich.console import Console

Kind = Literal[
    "wrong",
    "raised",
    "nothing",
    "unclear",
    "slow",
    "died",
    "unsteady",
    "async",
    "changed",
    "cost",
]
"""What is the matter: a wrong answer, an exception, no score where there should be one, a result
that is none, no answer in time, the end of the process, another answer the second time, another
answer when awaited, a reference that was changed, a cost that grows faster than the output."""

_WIDTH: Final = 120
_WIDTHS: Final = {"severity": 8, "case": 30, "expected": 12, "got": 30}
_STYLES: Final = {"high": "red", "medium": "yellow", "low": ""}


@dataclass(frozen=True)
class Finding:
    """One case in which an evaluator does not do what it claims."""

    case: str
    """The case's name."""

    kind: Kind
    """What is the matter."""

    expected: str
    """The right answer."""

    got: str
    """What came instead, shortened."""

    why: str
    """Why it matters."""

    severity: Severity
    """How much it does: `high` makes figures wrong that look right."""

    output: str = ""
    """The output that shows it, shortened."""

    reference: str = ""
    """Its reference, shortened."""


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """All that was found, the gravest first; true where there is anything, its text a table."""

    evaluator: str
    """What was tried."""

    claim: str
    """On what."""

    findings: tuple[Finding, ...]
    """What was found."""

    tried: int
    """How many cases were tried, families that grow among them."""

    cases: int
    """How many there are; more than were tried where the time was up."""

    seconds: float
    """How long it took."""

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return self.table()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    def table(self, console: Console | None = None) -> str:
        """Write a line on all, and a table of what was found.

        For the given console with its width and colours, else as plain text.
        """
        line = self._line()
        if not self.findings:
            return line
        if console is None:
            console = plain_console(_WIDTH)
        with console.capture() as capture:
            console.print(self._as_table())
        rows = (row.rstrip() for row in capture.get().strip("\n").split("\n"))
        return "\n".join([line, *rows])

    def _line(self) -> str:
        count = "no finding" if not self else f"{len(self)} finding{'s' * (len(self) > 1)}"
        of_all = "" if self.tried == self.cases else f" of {self.cases}"
        return (
            f"{self.evaluator} as {self.claim}: {count} in {self.tried}{of_all} cases, "
            f"{self.seconds:.1f} s"
        )

    def _as_table(self) -> Any:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        for heading, width in _WIDTHS.items():
            table.add_column(heading, max_width=width, no_wrap=True, overflow="ellipsis")
        table.add_column("why it matters")
        for each in self.findings:
            cells = (each.severity, each.case, each.expected, each.got, each.why)
            style = _STYLES[each.severity]
            table.add_row(Text(cells[0], style), *map(Text, cells[1:]))
        return table
