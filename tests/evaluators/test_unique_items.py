"""`uniqueItems` over many integers beyond 64 bits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pace import at_most

from llmeval_integrations import JsonSchema

LONG = [10**299 + n for n in range(2_000)]


@pytest.mark.parametrize(
    ("schema", "value", "keyword"),
    [
        ({"uniqueItems": True}, LONG, None),
        ({"uniqueItems": True}, [*LONG, 10**299], "uniqueItems"),
        ({"uniqueItems": True}, [*LONG, [1], [1.0]], "uniqueItems"),
        ({"uniqueItems": True}, [*LONG, True, 1, "1", None, {}, []], None),
        ({"uniqueItems": False}, [*LONG, 10**299], None),
        ({"not": {"uniqueItems": True}}, LONG, "not"),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [*LONG, 10**299]}, "uniqueItems"),
        ({"uniqueItems": True}, {"a": [*LONG, 10**299]}, None),
        ({"uniqueItems": True, "maxItems": 5}, LONG, "maxItems"),
    ],
    ids=[
        *("unique", "repeated", "equal numbers", "not equal", "not asserted", "in not", "inside"),
        *("elsewhere", "another keyword"),
    ],
)
def test_many_long_integers(schema: Any, value: Any, keyword: str | None) -> None:
    evaluator, text = JsonSchema(schema), json.dumps(value)
    with at_most(1.0):
        result = evaluator(text)
    assert result.passed is (keyword is None)
    if keyword:
        (error,) = result.metadata["errors"]
        assert error["keyword"] == keyword


def test_the_error_is_worded_as_that_of_few_integers() -> None:
    evaluator = JsonSchema({"uniqueItems": True})
    few, many = evaluator("[7, 7]"), evaluator(json.dumps([*LONG, *LONG]))
    assert few.metadata["errors"][0]["message"] == "[7,7] has non-unique elements"
    assert many.metadata["errors"][0]["message"].endswith("] has non-unique elements")
    assert few.metadata["errors"][0]["schema_pointer"] == "/uniqueItems"
    assert many.metadata["errors"][0]["schema_pointer"] == "/uniqueItems"
