"""Read a model's confidence in each value, and compare it with whether the value is right."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.options import is_number
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.json_values.values import escape, read_pointer
from llmeval_integrations.matching.node import Node, Outcome

Source: TypeAlias = str | Callable[[Sample], Any]
"""Where to find confidences: a pointer into the output, `variables.NAME`, or a function."""

VARIABLE: Final = "variables."

_TOKEN: Final = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[-+.\w]+', re.DOTALL)
"""A string, which may be the name of a member, or a number or literal."""


def read_confidences(
    source: Source, sample: Sample, output: Any
) -> tuple[dict[str, float], list[str]]:
    """Return the confidences of a sample, and the places of those that are no number from 0 to 1.

    They are a mapping from pointers or fields to numbers, or have the form of the output:
    `{"vendor": 0.9, "items": [{"price": 0.4}]}`. A variable may be their JSON text. Raises
    InputError if the caller, and not the model, states another value.
    """
    by_model = False
    if callable(source):
        found = source(sample)
    elif source.startswith(VARIABLE):
        given = sample.variables  # a sample may have none
        found = given.get(source.removeprefix(VARIABLE)) if isinstance(given, Mapping) else None
        if isinstance(found, str):  # a CSV file has JSON as text, and empty cells
            value = parse(found) if found.strip() else None
            found = found if type(value) is Defect else value
    else:
        by_model, found = True, output
        for step in read_pointer(source):
            found = found.get(step) if isinstance(found, dict) else None
    confidences, unread = {}, []
    for place, value in () if found is MISSING else _flatten(found, ""):
        if is_number(value) and 0 <= value <= 1:
            confidences[place] = float(value)
        elif by_model:
            unread.append(place)
        else:
            raise InputError(f"confidence of {place!r}: {quote(value)} is not a number from 0 to 1")
    return confidences, unread


def _flatten(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            is_pointer = not name or str(name).startswith("/")
            step = str(name) if is_pointer else f"/{escape(str(name))}"
            yield from _flatten(part, place + step)
    elif isinstance(value, (list, tuple)):
        for position, part in enumerate(value):
            yield from _flatten(part, f"{place}/{position}")
    elif value is not None:
        yield place, value


def rate_leaves(
    node: Node, output: Any, confidences: Mapping[str, float], outcomes: Iterable[Outcome]
) -> list[dict[str, Any]]:
    """List the leaves of an output that have a confidence, and whether each of them is right.

    A leaf that the reference lacks is wrong. A missing leaf has no confidence.
    """
    in_output = [each for each in outcomes if each.kind != "missing" and each.alone != "reference"]
    wrong = {each.pointer for each in in_output if each.kind != "match"}
    found = []
    for its, pointer, _ in node.leaves(output, ""):
        confidence = confidences.get(pointer, confidences.get(its.path))
        if confidence is not None:
            entry = {"pointer": pointer, "field": its.path, "confidence": confidence}
            found.append({**entry, "right": pointer not in wrong})
    return found


class _Scalars(Node):
    counts_empty = False


def confidence_from_logprobs(tokens: Iterable[Any], text: str) -> dict[str, float]:
    """Return a confidence for each value of a JSON text, from the probabilities of its tokens.

    tokens: the tokens of the text in order, as pairs of text and log probability, or as objects or
        mappings with `token` and `logprob`, such as OpenAI's `choice.logprobs.content`.
    text: the text of all tokens, which contains one JSON value.

    A token belongs to a value if they share a character. The confidence of a value is the product
    of the probabilities of its tokens. Hand the result to `JsonFields(confidence=...)` by a
    function of the sample, or keep it in a variable of the sample.

    >>> confidence_from_logprobs([('{"a": ', -0.1), ("12", -0.5), ("}", 0.0)], '{"a": 12}')
    {'/a': 0.6065306597126334}
    """
    spans, place = [], 0
    for token in tokens:
        if isinstance(token, Mapping):
            written, logprob = token["token"], token["logprob"]
        else:
            written, logprob = token if type(token) is tuple else (token.token, token.logprob)
        spans.append((place, place + len(written), logprob))
        place += len(written)
    if place != len(text):
        raise InputError(f"the tokens have {place} characters and the text {len(text)}")
    start = min((at for at in map(text.find, "{[") if at >= 0), default=0)
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError as error:
        raise InputError(f"no JSON value at character {start}: {quote(text[start:])}") from error
    scalars = [each.span() for each in _TOKEN.finditer(text, start, end) if not each[2]]
    pointers = [pointer for _, pointer, _ in _Scalars().leaves(value, "")]
    if len(pointers) != len(scalars):
        raise InputError("the JSON value has a member twice")
    return {
        pointer: math.exp(
            math.fsum(logprob for low, high, logprob in spans if low < end and begin < high)
        )
        for pointer, (begin, end) in zip(pointers, scalars)
    }
