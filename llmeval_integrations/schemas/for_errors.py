"""The same schema again, made so that telling what is wrong takes linear time."""

from __future__ import annotations

import re
from typing import Any, Final

from llmeval_integrations.schemas.document import DEFINITIONS, subschemas

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that lead elsewhere."""

_REMARK: Final = "llmeval does not follow "
_UNFOLLOWED: Final = re.compile(
    rf'\{{"\$comment":"{_REMARK}(?P<keyword>[$a-zA-Z]+)"'
    r'(?P<lone>,"not":.*?\})?\} is not allowed for '
)


def may_need_preparing(text: str) -> bool:
    """Whether to look closer at a schema's text; far cheaper than to read it again."""
    references = "$ref" in text or "$dynamicRef" in text or "$recursiveRef" in text
    alternatives = "anyOf" in text or "oneOf" in text
    return (references and alternatives) or "additionalProperties" in text or "\\u" in text


def prepare(schema: Any, *, lone_references: bool) -> bool:
    """Change a schema in place so that its errors are few and well worded; say whether it changed.

    It stands for the same values as before. Of each alternative of `anyOf` and `oneOf` the
    validator lists all that is wrong, which nobody reads, through references, too: with each level
    of a recursive schema as many times more as there are alternatives. Here references inside
    alternatives are asked for their verdict alone. `lone_references` says that `$ref` hides what
    stands beside it, as in the drafts up to 7.
    """
    changed = False
    for part, is_alternative in subschemas(schema, skipped="not"):  # whose error shows it
        if is_alternative and not part.keys().isdisjoint(REFERENCES):
            (_close_lone if lone_references else _close)(part)
            changed = True
        if part.get("additionalProperties") is False and "properties" not in part:
            part["properties"] = {}  # else the error is that of a false schema at the first member
            changed = True
    return changed


def _close(schema: dict[str, Any]) -> None:
    references = {key: schema.pop(key) for key in REFERENCES if key in schema}
    remark = {"$comment": _REMARK + next(iter(references))}
    # A condition passes on which members were evaluated; a double `not` would not.
    verdict = {"if": references, "else": {"not": remark}}
    schema["allOf"] = [*schema.get("allOf", ()), verdict]


def _close_lone(schema: dict[str, Any]) -> None:
    if "$ref" not in schema:
        return
    definitions = {key: schema[key] for key in DEFINITIONS if key in schema}
    verdict = {"$comment": f"{_REMARK}$ref", "not": {"$ref": schema["$ref"]}}
    schema.clear()
    schema.update(definitions, **{"not": verdict})


def unfollowed(message: str, schema_path: list[Any]) -> tuple[str, str, list[Any]] | None:
    """Tell the error of a `not` from that of a reference that was not followed.

    That is met where another reference leads into an alternative. Gives keyword, message and path
    as the schema had them before; None for any other error.
    """
    found = _UNFOLLOWED.match(message)
    if found is None:
        return None
    keyword, steps = found["keyword"], 1 if found["lone"] else 4  # not; allOf, n, else, not
    message = f"{message[found.end() :]} does not conform to its {keyword!r}"
    return keyword, message, [*schema_path[:-steps], keyword]
