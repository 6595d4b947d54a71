"""The options of `check_evaluator`, and the cases that have one right answer under them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Final, Literal, get_args

from llmeval_integrations.conformance import claims as bank
from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.options import check_choice, check_flag, check_number

ListOrder = Literal["strict", "any", "top_level_any"]
"""Whether the order of array items counts: everywhere, nowhere, or but in the outermost array."""


_USUAL: Final = {"list_order": "strict", "extra_keys": False}


def list_claims() -> list[str]:
    """List what can be checked."""
    return [found.name for found in iter_modules(bank.__path__)]


@dataclass(frozen=True)
class Rules:
    """The options of `check_evaluator`."""

    list_order: str
    extra_keys: bool
    limit: float
    seconds: float
    isolate: bool
    name = "check_evaluator"

    def __post_init__(self) -> None:
        check_choice(self, "list_order", get_args(ListOrder))
        check_flag(self, "extra_keys")
        check_number(self, "limit", minimum=0.001)
        check_number(self, "seconds", minimum=0.001)
        check_flag(self, "isolate")

    def bank(self, claim: str) -> tuple[list[Case], list[Growth]]:
        """Return the cases and families of a claim that these rules decide.

        Raises InvalidOptionError for a rule on which nothing of this claim depends.
        """
        module = import_module(f"{bank.__name__}.{claim}")
        decisive = {name for each in (*module.CASES, *module.GROWTHS) for name in each.only}
        for name, usual in _USUAL.items():
            if getattr(self, name) != usual and name not in decisive:
                raise InvalidOptionError(
                    f"{self.name}: nothing of {claim} depends on {name}; leave it out"
                )
        return (
            [case for case in module.CASES if self._decides(case)],
            [growth for growth in module.GROWTHS if self._decides(growth)],
        )

    def _decides(self, case: Case | Growth) -> bool:
        return all(getattr(self, name) in values for name, values in case.only.items())
