"""Read the expected calls of a reference, their accepted values, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from llmeval_integrations.core.errors import InvalidReferenceError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.call import ToolCall, read_parts
from llmeval_integrations.tool_calls.read import read_calls

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
    reference: Any, evaluator: Evaluator, parsing: Parsing, *, is_listed: bool
) -> list[ToolCall]:
    """Return the calls of a reference, with an AnyOf for each value with alternatives.

    `is_listed` means that each argument is a list of accepted values, as in BFCL. Raises
    InvalidReferenceError if the reference cannot be read, as that is the caller's mistake.
    """
    answers = _read_answers(reference, parsing) if is_listed else reference
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
    expected = []
    for call in calls:
        problem = problem or call.problem
        wanted = _read_lists(call.arguments) if is_listed else _read_choices(call.arguments)
        if isinstance(wanted, AnyOf):
            raise InvalidReferenceError(
                f"{evaluator.name}: {quote(call.arguments)} replaces all arguments of "
                f"{call.name!r}; a choice can only replace the value of one argument"
            )
        expected.append(ToolCall(call.name, wanted, call.id))
    if problem is not None:
        raise InvalidReferenceError(
            f"{evaluator.name}: the reference {quote(reference)} contains no tool calls: {problem};"
            ' write {"name": ..., "arguments": {...}}, or a list of these'
        )
    return expected


def mark_alternatives(value: Any) -> Any:
    """Write a value as JSON; each AnyOf becomes `{"$any_of": [...]}`."""
    if isinstance(value, dict):
        return dict(zip(value, map(mark_alternatives, value.values())))
    if not isinstance(value, AnyOf):
        return [*map(mark_alternatives, value)] if isinstance(value, list) else value
    values = [*map(mark_alternatives, value.values)]
    if len(values) == 1 and not value.optional:
        return values[0]
    return {ANY_OF: values, OPTIONAL: True} if value.optional else {ANY_OF: values}


def _read_choices(value: Any) -> Any:
    """Read each `{"$any_of": [...], "$optional": true}`, with one or both keys, at any depth.

    Raises InvalidReferenceError if one of them has another value, or for a misspelt key such as
    `$anyof`: a single key that begins with "$any" or "$opti".
    """
    if isinstance(value, list):
        return [*map(_read_choices, value)]
    if not isinstance(value, dict):
        return value
    key = next(iter(value), "").lower() if len(value) == 1 else ""
    if value.keys().isdisjoint((ANY_OF, OPTIONAL)) and not _MISSPELT.match(key):
        return dict(zip(value, map(_read_choices, value.values())))
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
    things = reference if isinstance(reference, (list, tuple)) else [reference]
    if any(isinstance(one, dict) and isinstance(one.get("name"), str) for one in things):
        return reference
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


def pair_positions(
    before: Any, names: Sequence[str], evaluator: Evaluator
) -> list[tuple[int, int]]:
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
        raise InvalidReferenceError(f"{evaluator.name}: {problem}")
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
