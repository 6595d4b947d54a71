"""A schema changed so that the validator finds its errors in linear time."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.schemas.document import DEFINITIONS, REFERENCES, list_of, subschemas

_REMARK: Final = "llmeval does not follow "
_ENUM: Final = "llmeval-enum-"
_MOST_VALUES: Final = 100
"""The values of an enum that an error holds: 2,000 of them in 2,000 errors would take 350 MB."""

_REFERENCE_ERROR: Final = re.compile(
    rf'\{{"\$comment":"{_REMARK}(?P<keyword>[$a-zA-Z]+)"'
    r'(?P<lone>,"not":.*?\})?\} is not allowed for '
)


def simplify(schema: Any, *, lone_references: bool) -> bool:
    """Change a schema in place so that it has few errors, the verdicts being the same.

    The validator lists the errors of each alternative, which nobody reads. With each level of a
    recursive schema these are as many times more as there are alternatives. So references inside
    alternatives are asked for their verdict alone. `lone_references` says that `$ref` hides its
    neighbours, as in the drafts up to 7. An error of an enum lists all its values: of a long one
    the verdict alone is asked. Returns whether anything changed.
    """
    changed = False
    enums: list[list[Any]] = []
    for part, is_alternative in subschemas(schema, skipped="not"):  # whose error shows it
        if is_alternative and not part.keys().isdisjoint(REFERENCES):
            (_close_lone_reference if lone_references else _close_references)(part)
            changed = True
        if part.get("additionalProperties") is False and "properties" not in part:
            part["properties"] = {}  # else the error is that of a false schema at the first member
            changed = True
        if len(list_of(part, "enum")) > _MOST_VALUES:
            enums.append(part.pop("enum"))
            first, second, *others = map(canonical, enums[-1])
            remark = f"{_ENUM}{first}, {second} or {len(others)} other candidates"
            verdict = {"$ref": f"#/definitions/{_ENUM}{len(enums)}"}
            closed = {"not": {"$comment": remark, "not": verdict}}
            part["allOf"] = [*part.get("allOf", ()), closed]
    for number, values in enumerate(enums, 1):
        schema.setdefault("definitions", {})[f"{_ENUM}{number}"] = {"enum": values}
    return changed or bool(enums)


def _close_references(schema: dict[str, Any]) -> None:
    references = {key: schema.pop(key) for key in REFERENCES if key in schema}
    remark = {"$comment": _REMARK + next(iter(references))}
    # A condition passes on which members were evaluated; a double `not` would not.
    verdict = {"if": references, "else": {"not": remark}}
    schema["allOf"] = [*schema.get("allOf", ()), verdict]


def _close_lone_reference(schema: dict[str, Any]) -> None:
    if "$ref" not in schema:
        return
    definitions = {key: schema[key] for key in DEFINITIONS if key in schema}
    verdict = {"$comment": f"{_REMARK}$ref", "not": {"$ref": schema["$ref"]}}
    schema.clear()
    schema.update(definitions, **{"not": verdict})


def read_stand_in(message: str, schema_path: list[Any]) -> tuple[str, str, list[Any]]:
    """Return keyword, message and path of an error of `not` as the schema had them before.

    That is another one where the `not` stands for a reference or an enum.
    """
    if message.startswith(f'{{"$comment":"{_ENUM}'):
        remark, end = json.JSONDecoder().raw_decode(message)
        value = message[end:].removeprefix(" is not allowed for ")
        message = f"{value} is not one of {remark['$comment'].removeprefix(_ENUM)}"
        return "enum", message, [*schema_path[:-3], "enum"]  # allOf, n, not
    found = _REFERENCE_ERROR.match(message)
    if found is None:
        return "not", message, schema_path
    reference = found["keyword"]
    steps = 1 if found["lone"] else 4  # not; allOf, n, else, not
    message = f"{message[found.end() :]} does not conform to its {reference!r}"
    return reference, message, [*schema_path[:-steps], reference]
