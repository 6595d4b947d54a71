"""What was found wrong with an evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from llmeval_integrations.conformance.case import Severity
from llmeval_integrations.core.printable import plain_console

if TYPE_CHECKING:
    from rich.console import Console

# fmt: off
Kind = Literal[
    "wrong", "raised", "nothing", "unclear", "slow", "died", "unsteady", "async", "changed", "cost",
]
# fmt: on
"""What is the matter: a wrong answer, an exception, no score where there should be one, a result
that is none, no answer in time, the end of the process, another answer the second time, another
answer when awaited, a reference that was changed, a cost that grows faster than the output."""

_WIDTH: Final = 120
_WIDTHS: Final = {"severity": 8, "case": 30, "expected": 12, "got": 30}
_STYLES: Final = {"high": "red", "medium": "yellow", "low": ""}


@dataclass(frozen=True)
class Finding:
    """One case in which an evaluator does not do what it claims.

    `got` came instead of what was `expected`; `severity` is `high` where figures are wrong that
    look right. `got`, `output` and `reference` are shortened.
    """

    case: str
    kind: Kind
    expected: str
    got: str
    why: str
    severity: Severity
    output: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """All that was found, the gravest first; true where there is anything, its text a table.

    Of so many `cases`, families that grow among them, so many were `tried`: all, unless the time
    was up.
    """

    evaluator: str
    claim: str
    findings: tuple[Finding, ...]
    tried: int
    cases: int
    seconds: float

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
        count = "no finding" if not self else f"{len(self)} finding{'s' * (len(self) > 1)}"
        tried = f"{self.tried}" if self.tried == self.cases else f"{self.tried} of {self.cases}"
        name = f"{self.evaluator} as {self.claim}"
        lines = [f"{name}: {count} in {tried} cases, {self.seconds:.1f} s"]
        if self.findings:
            console = console or plain_console(_WIDTH)
            with console.capture() as capture:
                console.print(self._as_table())
            lines += [row.rstrip() for row in capture.get().strip("\n").split("\n")]
        return "\n".join(lines)

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
