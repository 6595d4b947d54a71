"""Whether an object is meant for a JSON Schema at all."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.core.errors import InvalidSchemaError
from llmeval_integrations.core.quoting import shown

KEYWORDS: Final = frozenset(
    """
    $schema $id $vocabulary $anchor $dynamicAnchor $recursiveAnchor
    $ref $dynamicRef $recursiveRef $defs definitions
    type enum const format not allOf anyOf oneOf if then else
    properties patternProperties additionalProperties unevaluatedProperties propertyNames
    required minProperties maxProperties dependencies dependentRequired dependentSchemas
    items prefixItems additionalItems unevaluatedItems
    contains minContains maxContains minItems maxItems uniqueItems
    minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern
    contentEncoding contentMediaType contentSchema
    """.split()  # noqa: SIM905 - a list would fill a page
)
"""What drafts 4 to 2020-12 have to say something with: one at the root, and a schema is meant."""

REMARKS: Final = frozenset(
    "id title description default examples $comment deprecated readOnly writeOnly".split()  # noqa: SIM905
)
"""What a schema may consist of as well, if everything is to conform to it.

They prove nothing beside other names: an answer that was taken for a schema has such members, too.
"""


def require_keyword(schema: dict[str, Any]) -> None:
    """Refuse an object that says nothing as a schema, since then everything would conform.

    Raises InvalidSchemaError. Fair are an empty object, remarks alone, names that begin with `x-`,
    and anything beside a keyword.
    """
    others = [key for key in schema if key not in REMARKS and not key.startswith("x-")]
    if not others or not KEYWORDS.isdisjoint(others):
        return
    inner = next((key for key in ("schema", "json_schema") if key in others), None)
    hint = f"is its {inner!r} meant?" if inner else "its members belong under 'properties'"
    raise InvalidSchemaError(
        f"without a keyword of JSON Schema everything would conform to {shown(schema)}; {hint}"
    )
