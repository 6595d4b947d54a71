"""Read the expected calls of a reference, their accepted values, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from llmeval_integrations.core.errors import InvalidReferenceError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.read import read_calls, read_parts

Alternatives = Literal["marked", "listed"]
Before = Sequence[tuple[str | int, str | int]]
"""Pairs of calls of which the first must come before the second, each given by the tool's name or
by its position among the expected calls."""

_Position: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
_Pairs: TypeAlias = list[tuple[str | _Position, str | _Position]]

ANY_OF: Final = "$any_of"
OPTIONAL: Final = "$optional"
_LISTED_OPTIONAL: Final = ""
_MISSPELT: Final = re.compile(r"\$any|\$opti(?!ons$)")


def read_expected(
    reference: Any, evaluator: str, parsing: Parsing, alternatives: Alternatives
) -> list[ToolCall]:
    """Return the calls of a reference, with an AnyOf for each value with alternatives.

    Raises InvalidReferenceError if it cannot be read, as that is the caller's mistake.
    """
    listed = alternatives == "listed"
    answers = _read_answers(reference, parsing) if listed else reference
    calls = read_calls(answers, parsing)
    problem = None
    if isinstance(calls, Defect):
        problem, calls = calls.reason, []
    elif isinstance(answers, str) and not calls:  # in an output, prose is an answer without calls
        value = parse(answers, parsing)
        if isinstance(value, Defect):
            problem = value.reason
        elif value is not None and not isinstance(value, (dict, list)):
            problem = "it is a single value"
    problem = next((call.problem for call in calls if call.problem is not None), problem)
    if problem is not None:
        raise InvalidReferenceError(
            f"{evaluator}: the reference {quote(reference)} contains no tool calls: {problem}; "
            'write {"name": ..., "arguments": {...}}, or a list of these'
        )
    expected = []
    for call in calls:
        wanted = _read_lists(call.arguments) if listed else _read_choices(call.arguments)
        if isinstance(wanted, AnyOf):
            raise InvalidReferenceError(
                f"{evaluator}: {quote(call.arguments)} replaces all arguments of {call.name!r}; "
                "a choice can only replace the value of one argument"
            )
        expected.append(msgspec.structs.replace(call, arguments=wanted))
    return expected


def mark_alternatives(value: Any) -> Any:
    """Write a value as JSON; each AnyOf becomes `{"$any_of": [...]}`."""
    if isinstance(value, dict):
        return {key: mark_alternatives(item) for key, item in value.items()}
    if not isinstance(value, AnyOf):
        return [mark_alternatives(item) for item in value] if isinstance(value, list) else value
    if len(value.values) == 1 and not value.optional:
        return mark_alternatives(value.values[0])
    values = {ANY_OF: [mark_alternatives(one) for one in value.values]}
    return {**values, OPTIONAL: True} if value.optional else values


def _read_choices(value: Any) -> Any:
    """Read each `{"$any_of": [...], "$optional": true}`, with one or both keys, at any depth.

    Raises InvalidReferenceError if one of them has another value, or for a misspelt key such as
    `$anyof`: a single key that begins with "$any" or "$opti".
    """
    if isinstance(value, list):
        return [_read_choices(item) for item in value]
    if not isinstance(value, dict):
        return value
    key = next(iter(value), "").lower() if len(value) == 1 else ""
    if value.keys().isdisjoint((ANY_OF, OPTIONAL)) and not _MISSPELT.match(key):
        return {key: _read_choices(item) for key, item in value.items()}
    values, optional = value.get(ANY_OF, []), value.get(OPTIONAL, False)
    are_known = value.keys() <= {ANY_OF, OPTIONAL} and isinstance(values, list)
    if not are_known or not isinstance(optional, bool) or not (values or optional):
        raise InvalidReferenceError(
            f"{quote(value)} is not {{{ANY_OF!r}: [...], {OPTIONAL!r}: True or False}}"
        )
    return AnyOf(tuple(map(_read_choices, values)), optional)


# --- references of BFCL ---------------------------------------------------------------------------


def _read_answers(reference: Any, parsing: Parsing) -> Any:
    """Write BFCL's own answers, `{NAME: {argument: [accepted, ...]}, ...}`, as calls.

    Such an object has no shape that `read_calls` knows. Other references are returned unchanged.
    """
    value = parse(reference, parsing)
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) and read_parts(item) is None for item in items):
        return reference
    calls = [(name, arguments) for item in items for name, arguments in item.items()]
    for _, arguments in calls:
        if not isinstance(arguments, dict) or any(
            type(one) is not list for one in arguments.values()
        ):
            return reference
    return [{"name": name, "arguments": arguments} for name, arguments in calls]


def _read_lists(arguments: dict[str, Any]) -> dict[str, Any]:
    """Read arguments that are lists of accepted values.

    An empty text in a list means that the argument may be left out. If it is the only entry, it is
    also an accepted value. Members of accepted objects, also of those in arrays, are such lists,
    too.
    """
    found = {}
    for name, values in arguments.items():
        if not isinstance(values, list) or not values:
            raise InvalidReferenceError(
                f"with alternatives='listed', each argument needs a list of accepted values, "
                f"but {name!r} has {quote(values)}"
            )
        given = [value for value in values if value != _LISTED_OPTIONAL] or values
        found[name] = AnyOf(tuple(map(_read_accepted, given)), _LISTED_OPTIONAL in values)
    return found


def _read_accepted(value: Any) -> Any:
    if isinstance(value, dict):
        return _read_lists(value)
    if isinstance(value, list):
        return [_read_lists(item) if isinstance(item, dict) else item for item in value]
    return value


# --- the order of calls ---------------------------------------------------------------------------


def explain_before(before: Any) -> str | None:
    """Return why `before` is not valid, or None if it is."""
    try:
        return _find_circle(msgspec.convert(before, _Pairs))
    except msgspec.ValidationError as error:
        return f"before={quote(before)} is not a list of pairs of names or positions: {error}"


def pair_positions(before: Any, names: Sequence[str], evaluator: str) -> list[tuple[int, int]]:
    """Return the pairs as positions among the expected calls; a name means all calls of the tool.

    Raises InvalidReferenceError if they are not valid for these calls.
    """
    problem, pairs, calls = explain_before(before), [], [*enumerate(names)]
    for one, other in () if problem else before:
        for which in (one, other):
            if type(which) is int and which >= len(names):
                problem = f"before=...: there is no call {which}; {len(names)} are expected"
        # A call is paired with itself only if the pair names one thing twice, which is a circle.
        pairs += [
            (call[0], then[0])
            for call in calls
            for then in calls
            if one in call and other in then and (call != then or one == other)
        ]
    if problem := problem or _find_circle(pairs):
        raise InvalidReferenceError(f"{evaluator}: {problem}")
    return pairs


def _find_circle(pairs: Iterable[tuple[str | int, str | int]]) -> str | None:
    """Return a message about calls that would have to come before themselves, or None."""
    sorter: TopologicalSorter[str | int] = TopologicalSorter()
    for first, then in pairs:
        sorter.add(first)  # so that a circle is named from the first of its pairs on
        sorter.add(then, first)
    try:
        sorter.prepare()
    except CycleError as error:
        return "before contradicts itself: " + " before ".join(map(repr, error.args[1]))
    return None
