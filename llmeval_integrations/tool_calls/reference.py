"""The reference: which calls are expected, with which values."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.errors import InvalidReferenceError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.read import read_calls, read_parts
from llmeval_integrations.tool_calls.spelling import AnySpelling

Alternatives = Literal["marked", "listed"]
"""How a reference says that several values will do.

`marked`: by `{"$any_of": [...]}` in place of a value, with `"$optional": true` where it may be left
out. `listed`: each argument has a list of accepted values, as in BFCL, with an empty text where it
may be left out.
"""

ALTERNATIVES: Final[tuple[str, ...]] = get_args(Alternatives)

ANY_OF: Final = "$any_of"
OPTIONAL: Final = "$optional"
_LISTED_OPTIONAL = ""
_LONGEST_MARK: Final = 20
_ALIKE: Final = 0.85
"""How alike a misspelt mark is: of its letters one is wrong, or one too many, or missing."""


def read_expected(
    reference: Any, evaluator: str, parsing: Parsing, alternatives: Alternatives
) -> list[ToolCall]:
    """Return the calls of a reference, with an AnyOf where several values will do.

    Raises InvalidReferenceError: whatever cannot be read is the caller's fault.
    """
    listed = alternatives == "listed"
    answers = _read_answers(reference, parsing) if listed else reference
    calls = read_calls(answers, parsing)
    problem = None
    if isinstance(calls, Defect):
        problem, calls = calls.reason, []
    elif isinstance(answers, str) and not calls:  # prose is an answer, and no reference
        value = parse(answers, parsing)
        if isinstance(value, Defect):
            problem = value.reason
        elif value is not None and not isinstance(value, (dict, list)):
            problem = "it is a value by itself"
    problem = next((call.problem for call in calls if call.problem is not None), problem)
    if problem is not None:
        raise InvalidReferenceError(
            f"{evaluator}: the reference {quote(reference)} holds no tool calls: {problem}; "
            'write {"name": ..., "arguments": {...}}, or a list of these'
        )
    read = _read_lists if listed else _read_choices
    expected = [msgspec.structs.replace(call, arguments=read(call.arguments)) for call in calls]
    for call, wanted in zip(calls, expected):
        if isinstance(wanted.arguments, AnyOf):
            raise InvalidReferenceError(
                f"{evaluator}: {quote(call.arguments)} stands for all arguments of {call.name!r}; "
                "a choice stands in place of one argument's value"
            )
    return expected


def is_optional(expected: Any) -> bool:
    """Whether a value may be left out."""
    return type(expected) is AnyOf and expected.optional


def _read_choices(value: Any) -> Any:
    """Read `{"$any_of": [...], "$optional": true}`, with one of the two or both, at any depth.

    Raises InvalidReferenceError where one of them holds something else, and where an object's
    only key is nearly one of these and is another one, such as `$anyof` and `$Optional`.
    """
    if isinstance(value, list):
        return [_read_choices(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys().isdisjoint((ANY_OF, OPTIONAL)) and not _is_misspelt(value):
        return {key: _read_choices(item) for key, item in value.items()}
    values, optional = value.get(ANY_OF, []), value.get(OPTIONAL, False)
    if (
        not value.keys() <= {ANY_OF, OPTIONAL}
        or not isinstance(values, list)
        or not isinstance(optional, bool)
        or not (values or optional)
    ):
        raise InvalidReferenceError(
            f"{quote(value)} is not {{{ANY_OF!r}: [...], {OPTIONAL!r}: True or False}}"
        )
    return AnyOf(tuple(map(_read_choices, values)), optional)


def _is_misspelt(value: dict[str, Any]) -> bool:
    """Whether this is `{"$anyof": [...]}` or the like, which would say nothing as a value."""
    key = next(iter(value), "")
    if len(value) != 1 or not key.startswith("$"):
        return False
    from difflib import get_close_matches

    alike = get_close_matches(key.lower()[:_LONGEST_MARK], (ANY_OF, OPTIONAL), 1, _ALIKE)
    return bool(alike) or key.startswith("$any")


def _read_answers(reference: Any, parsing: Parsing = "markdown") -> Any:
    """Write BFCL's own answers, `{NAME: {argument: [accepted, ...]}}`, as calls for `_read_lists`.

    They stand alone or in a list, as JSON or as its text. An object is one where it has one key,
    lists alone under it, and no shape that `read_calls` knows. Without any, the reference is given
    back as it is.
    """
    value = parse(reference, parsing)
    if isinstance(value, dict):
        return _read_answer(value) or reference
    if not isinstance(value, list):
        return reference
    answers = [_read_answer(item) for item in value]
    return [new or old for new, old in zip(answers, value)] if any(answers) else reference


def _read_answer(item: Any) -> dict[str, Any] | None:
    """Return one answer of BFCL's as a call, None of anything else."""
    if not isinstance(item, dict) or len(item) != 1:
        return None
    ((name, arguments),) = item.items()
    if (
        not isinstance(arguments, dict)
        or not all(isinstance(values, list) for values in arguments.values())
        or read_parts(item) is not None  # a call, a message or a response
    ):
        return None
    return {"name": name, "arguments": arguments}


def _read_lists(arguments: dict[str, Any]) -> dict[str, Any]:
    """Read arguments each of which is a list of accepted values, as BFCL's answers are.

    An empty text among them says that the argument may be left out; alone it is a value, too. The
    members of an accepted object, and of the objects in an accepted array, are lists of accepted
    values too.
    """
    return {name: _read_choice(name, values) for name, values in arguments.items()}


def _read_choice(name: str, values: Any) -> AnyOf:
    if not isinstance(values, list) or not values:
        raise InvalidReferenceError(
            f"with alternatives='listed' each argument has a list of accepted values, "
            f"and {name!r} has {quote(values)}"
        )
    given = [value for value in values if value != _LISTED_OPTIONAL] or values
    return AnyOf(tuple(map(_read_accepted, given)), _LISTED_OPTIONAL in values)


def _read_accepted(value: Any) -> Any:
    if isinstance(value, dict):
        return _read_lists(value)
    if isinstance(value, list):
        return [_read_lists(item) if isinstance(item, dict) else item for item in value]
    return value


def write(value: Any) -> Any:
    """Write a value as JSON, choices as `_read_choices` reads them."""
    if isinstance(value, AnySpelling):
        return value.text
    if isinstance(value, AnyOf):
        if len(value.values) == 1 and not value.optional:
            return write(value.values[0])
        values = {ANY_OF: [write(one) for one in value.values]}
        return {**values, OPTIONAL: True} if value.optional else values
    if isinstance(value, dict):
        return {key: write(item) for key, item in value.items()}
    return [write(item) for item in value] if isinstance(value, list) else value
