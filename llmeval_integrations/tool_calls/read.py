"""Read the tool calls of an output or a reference: of texts, values, and messages."""

from __future__ import annotations

import re
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidReferenceError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.call import (
    TYPE,
    Part,
    ToolCall,
    no_call,
    read_parts,
    refuse_stream,
    text_in,
)
from llmeval_integrations.tool_calls.text import JSON_START, find_calls

_PROSE: Final = frozenset(("prose", "prose_around", "bare_word", "empty"))
"""The defects of an answer in prose; `[Paris](http://x)` begins like an array."""

_PLAIN: Final = frozenset(("name", "arguments"))
_WORDS_OF_CALLS: Final = re.compile(
    r"(\b|_)(tool|function|call|action|arg|kwarg|param|input)", re.IGNORECASE
)
"""Words in names and types that suggest a call, in a form that no reader knows."""

ANY_OF: Final = "$any_of"
OPTIONAL: Final = "$optional"
_LISTED_OPTIONAL: Final = ""
_MISSPELT: Final = re.compile(r"\$any|\$opti(?!ons$)")


def read_calls(
    value: Any, parsing: Parsing = "markdown", *, expects_calls: bool = True
) -> list[ToolCall] | Defect:
    """Return the calls in a model's output or a reference, or a Defect if they cannot be read.

    A text may contain calls in `<tool_call>` tags or another model's form. A JSON object or array
    is read as a value. Any other text is an answer without calls. A value is a call, a message, a
    response, or a list of these, as JSON or as objects of an SDK or framework. A message that lists
    no calls may have them in its text.

    A value that no reader knows is the defect `not_a_call`. In a list it becomes a call with a
    `problem`, like a call whose arguments cannot be read. Null and empty values contain no calls.
    Calls that an API makes by itself are skipped. If no calls are expected, JSON that mentions no
    call is an answer without calls.
    """
    if isinstance(value, (bytes, bytearray)):
        try:
            value = value.decode()
        except UnicodeDecodeError as error:
            return Defect("encoding", str(error), error.start)
    if isinstance(value, str):
        return _read_text(value, parsing, expects_calls)
    return _read_value(value, parsing, expects_calls)


def _read_text(text: str, parsing: Parsing, expects_calls: bool) -> list[ToolCall] | Defect:
    """Read the calls in the text of one message, or else its JSON."""
    found = find_calls(text)
    if found is None:
        value = parse(text, parsing) if JSON_START.match(text) else None
        if isinstance(value, Defect):
            return [] if value.name in _PROSE else value
        is_json = isinstance(value, (dict, list))
        return _read_value(value, parsing, expects_calls, is_parsed=True) if is_json else []
    calls: list[ToolCall] = []
    for one in found:
        if isinstance(one, ToolCall):
            calls.append(_parse_arguments(one, parsing))
            continue
        value = parse(one, parsing)
        if isinstance(value, Defect):
            problem = f"no JSON in the tags ({value.name}): {value.reason}"
            calls.append(ToolCall("", problem=problem))
            continue
        # In tags, a value without calls, such as a text or an empty list, is a mistake.
        for part in read_plain(value) or read_parts(value) or [""]:
            call = part if isinstance(part, ToolCall) else no_call(value)
            calls.append(_parse_arguments(call, parsing, is_parsed=True))
    return calls


def _read_value(
    value: Any, parsing: Parsing, expects_calls: bool, *, is_parsed: bool = False
) -> list[ToolCall] | Defect:
    if value is None or value == {}:
        return []
    parts = read_plain(value)
    if parts is None:
        refuse_stream(value)
        parts = read_parts(value)
    calls: list[ToolCall] = []
    texts: list[str] = []
    for part in parts or ():
        if isinstance(part, str):
            texts.append(part)
        else:
            calls.append(_parse_arguments(part, parsing, is_parsed=is_parsed))
    if not (expects_calls or texts or any(call.name for call in calls)) and _is_answer(value):
        return []
    if parts is None:
        return Defect("not_a_call", f"Not a tool call: {quote(value)}")
    if calls or not texts:
        return calls
    read = [_read_text(text, parsing, expects_calls) for text in texts]  # one of each turn
    return [call for found in read if isinstance(found, list) for call in found] or read[-1]


def read_plain(value: Any) -> list[Part] | None:
    """Return calls in the form that prompts ask for; None for any other value.

    This takes a tenth of the time of `read_parts`, which returns the same, or of a search for
    messages.
    """
    calls: list[Part] = []
    for one in value if type(value) is list else [value]:
        if type(one) is not dict or one.keys() != _PLAIN:
            return None
        if not one["name"] or not isinstance(one["name"], str):
            return None
        calls.append(ToolCall(one["name"], one["arguments"]))
    return calls


def _parse_arguments(call: ToolCall, parsing: Parsing, *, is_parsed: bool = False) -> ToolCall:
    """Parse the arguments of a call; if that fails, the call's `problem` says why.

    With `is_parsed`, the call is from JSON, and only arguments that are a text are parsed. Some
    APIs send nothing or an empty text for a tool without arguments.
    """
    given, problem = call.arguments, call.problem
    if given in (None, ""):
        value: Any = {}
    else:
        value = given if is_parsed and isinstance(given, dict) else parse(given, parsing)
    if isinstance(value, Defect):
        problem = f"the arguments are not JSON ({value.name}): {value.reason}"
    elif not isinstance(value, dict):
        problem = f"the arguments are not a JSON object: {quote(given)}"
    return ToolCall(call.name, value if isinstance(value, dict) else {}, call.id, problem)


def _is_answer(value: Any) -> bool:
    """Return whether this is JSON that no reader knows, and that has no word of a call."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_answer, value))
    plain = value if isinstance(value, str) else parse(value)
    is_known = read_parts(value) is not None or isinstance(plain, Defect)
    return not (is_known or _mentions_call(plain))


def _mentions_call(value: Any) -> bool:
    if isinstance(value, dict):
        names = [*map(str, value), text_in(value, *TYPE)]
        return any(map(_WORDS_OF_CALLS.search, names)) or any(map(_mentions_call, value.values()))
    return isinstance(value, list) and any(map(_mentions_call, value))


# --- expected calls -------------------------------------------------------------------------------


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
            f'{evaluator.name}: the reference contains no tool calls; write {{"name": ..., '
            f'"arguments": {{...}}}}, or a list of these, not {quote(reference)}: {problem}'
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
    if all(isinstance(each, dict) and {*map(type, each.values())} <= {list} for _, each in calls):
        return [{"name": name, "arguments": arguments} for name, arguments in calls]
    return reference


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
