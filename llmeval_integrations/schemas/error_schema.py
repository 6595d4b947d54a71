"""Rewriting a schema so that the validator lists its errors in linear time."""

from __future__ import annotations

import json
from typing import Any, Final

from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.schemas.document import DEFINITIONS, REFERENCES, list_of, subschemas

_REMARK: Final = "llmeval asks for the verdict alone: "
_MOST_VALUES: Final = 100
"""The most enum values that an error may list: 2,000 values in 2,000 errors would take 350 MB."""


LONE_REFERENCES: Final = frozenset(("Draft4Validator", "Draft6Validator", "Draft7Validator"))
"""The drafts in which `$ref` overrides its sibling keywords."""


def simplify(schema: Any, draft: str, *, is_recursive: bool) -> bool:
    """Change a schema in place so that it gives fewer errors but the same verdicts.

    The validator lists the errors of each alternative, which nobody reads. In a recursive schema
    each level multiplies their number by the number of alternatives. Therefore references inside
    alternatives give only a verdict. The only alternative apart from null is read, so it keeps its
    errors, unless each level of a recursive schema would copy all that is in it. Long enums give
    only a verdict, too, since an error lists all their values. Returns whether anything changed.
    """
    is_lone, has_if = draft in LONE_REFERENCES, draft not in ("Draft4Validator", "Draft6Validator")
    changed = False
    parts = subschemas(schema, skipped="not", spares_optional=not is_recursive)
    for part, is_alternative in parts:  # errors quote what is under `not`
        references = [key for key in REFERENCES if key in part] if is_alternative else []
        if references and ("$ref" in part or not is_lone):
            verdict: dict[str, Any] = {key: part.pop(key) for key in references}
            for key in part.keys() - {*DEFINITIONS} if is_lone else ():
                del part[key]
            words = f"does not conform to its {references[0]!r}"
            _ask_verdict(part, f"{references[0]} {words}", verdict, has_if=has_if)
            changed = True
        if part.get("additionalProperties") is False and "properties" not in part:
            part["properties"] = {}  # else the error is about a false schema at the first member
            changed = True
        if has_if and len(list_of(part, "enum")) > _MOST_VALUES:
            first, second, *others = map(canonical, part["enum"])
            words = f"is not one of {first}, {second} or {len(others)} other candidates"
            _ask_verdict(part, f"enum {words}", {"enum": part.pop("enum")}, has_if=True)
            changed = True
    return changed


def _ask_verdict(
    part: dict[str, Any], words: str, verdict: dict[str, Any], *, has_if: bool
) -> None:
    """Add a check that gives only a verdict; its error is a `not` with these words."""
    remark = {"$comment": _REMARK + words}
    # `if` passes on which members were evaluated; a double `not` would lose that.
    closed = (
        {"if": verdict, "else": {"not": remark}} if has_if else {"not": {**remark, "not": verdict}}
    )
    part["allOf"] = [*part.get("allOf", ()), closed]


def read_stand_in(message: str, schema_path: list[Any]) -> tuple[str, str, list[Any]]:
    """Return the keyword, message and path that an error of `not` has in the original schema.

    They differ from the error's own if `simplify` replaced a reference or an enum by the `not`.
    """
    if not message.startswith(f'{{"$comment":"{_REMARK}'):
        return "not", message, schema_path
    remark, end = json.JSONDecoder().raw_decode(message)
    keyword, _, words = remark["$comment"].removeprefix(_REMARK).partition(" ")
    value = message[end:].removeprefix(" is not allowed for ")
    steps = 4 if schema_path[-2] == "else" else 3  # allOf, its index, perhaps else, not
    return keyword, f"{value} {words}", [*schema_path[:-steps], keyword]
