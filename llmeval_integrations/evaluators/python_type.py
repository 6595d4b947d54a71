"""Is the output an instance of a Python type?"""

from __future__ import annotations

import builtins
from contextlib import suppress
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Final, Union, get_args, get_origin

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import option_error
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.messages.read import read_answer

_NAMED: Final[dict[str, type]] = {
    **{kind.__name__: kind for kind in vars(builtins).values() if isinstance(kind, type)},
    "None": NoneType,
    "NoneType": NoneType,
}

TypeOption = type | UnionType | str | tuple["type | UnionType | str", ...]


@dataclass(frozen=True)
class PythonType(Evaluator):
    """Is the output an instance of a Python type?

    Score: 1.0 or 0.0, by `isinstance`. Nothing is parsed: a text is a `str`. If the output is
    messages, their parsed answer is checked, or else their text.

    Metadata: `response`, the output; `format`, the name of its type; `custom_response_result`,
    "pass" or "fail".
    """

    expected_type: TypeOption
    """A type, a union, the name of a built-in type ("dict"), names joined by "|", or a tuple of
    these."""

    def __post_init__(self) -> None:
        if isinstance(self.expected_type, list):  # the command line has no tuples
            object.__setattr__(self, "expected_type", tuple(self.expected_type))
        object.__setattr__(self, "_types", self._resolve(self.expected_type))

    def check(self, sample: Sample) -> Result:
        types: tuple[type, ...] = self._types  # type: ignore[attr-defined]
        output = None if sample.output is None else read_answer(sample.output).value
        found = type(output).__name__
        passed = isinstance(output, types)
        details = {
            "response": output,
            "format": found,
            "custom_response_result": "pass" if passed else "fail",
        }
        if passed:
            return Result(1.0, True, None, f"An instance of {found}", details)
        expected = " or ".join(kind.__name__ for kind in types)
        return Result(0.0, False, found, f"Expected {expected}, got {found}", details)

    def _resolve(self, option: object) -> tuple[type, ...]:
        if isinstance(option, type):
            with suppress(TypeError):  # of `list[int]`, TypedDicts and most Protocols
                isinstance(None, option)
                return (option,)
        if isinstance(option, str):
            names = [name.strip() for name in option.split("|")]
            if all(name in _NAMED for name in names):
                return tuple(_NAMED[name] for name in names)
        if get_origin(option) in (Union, UnionType):
            option = get_args(option)
        if isinstance(option, (tuple, list)) and option:
            return tuple(kind for part in option for kind in self._resolve(part))
        raise option_error(
            self,
            "expected_type",
            "a type that isinstance accepts, the name of a built-in type, or a tuple of these",
        )
