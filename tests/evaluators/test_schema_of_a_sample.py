"""A sample may bring the schema that it is to be evaluated by."""

import json

import pytest
from scripted import Scripted

from llmeval_integrations import (
    InvalidSchemaError,
    JsonFields,
    JsonSchema,
    MissingFieldError,
    evaluate,
)
from llmeval_integrations.judges.judged_fields import JudgedFields

PRICE = {"properties": {"price": {"type": "number"}}}  # whose fractions have noise
OPTION, OWN, REFERENCE = {"const": 1}, {"const": 2}, {"const": 3}


@pytest.mark.parametrize(
    ("option", "own", "reference", "right"),
    [
        (OPTION, OWN, REFERENCE, 1),
        (None, OWN, REFERENCE, 2),
        (None, None, REFERENCE, 3),
        (None, json.dumps(OWN), REFERENCE, 2),
        (None, {"const": 2}, None, 2),
    ],
)
def test_the_option_comes_first_then_the_sample_s_schema_then_the_reference(
    option, own, reference, right
):
    for output in (1, 2, 3):
        given = {"output": output, "reference": reference, "schema": own}
        assert JsonSchema(option)(**given).passed is (output == right)
        assert JsonSchema(option).evaluate_many([given])[0].passed is (output == right)


@pytest.mark.parametrize("kind", [JsonFields, JudgedFields])
@pytest.mark.parametrize(
    ("option", "own", "passed"),
    [
        ({"schema": PRICE}, None, True),
        ({"schema": PRICE}, {}, True),
        ({}, PRICE, True),
        ({}, json.dumps(PRICE), True),
        ({}, None, False),
        ({}, {}, False),
        ({"schema": {}}, PRICE, False),
        ({"schema": False}, PRICE, False),
    ],
)
def test_fields_are_compared_by_the_option_else_by_the_sample_s_schema(kind, option, own, passed):
    more = {"model": Scripted(), "judged": ["/note"]} if kind is JudgedFields else {}
    result = kind(**option, **more)({"price": 0.1 + 0.2}, {"price": 0.3}, schema=own)
    assert result.passed is passed


@pytest.mark.parametrize(
    "evaluator",
    [JsonFields(), JsonSchema(), JudgedFields(Scripted(), ["/note"])],
    ids=lambda each: each.name,
)
@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("[1]", r"a schema is an object or a boolean, got '\[1\]'"),
        ("schema.json", "not JSON.*read the file first.*schema.json"),
        ({"type": "objekt"}, "objekt"),
        ({"price": "number"}, "without a keyword .*'price'"),
        (3, "object or a boolean, got '3'"),
    ],
)
def test_a_schema_that_is_none_is_an_error_that_names_it(evaluator, schema, said):
    with pytest.raises(
        InvalidSchemaError, match=f"{evaluator.name}: the sample's schema: .*{said}"
    ):
        evaluator("{}", "{}", schema=schema)
    if not evaluator.is_judge:
        bad, good = evaluate(
            [{"output": "{}", "reference": "{}", "schema": each} for each in (schema, {})],
            [evaluator],
        ).rows
        assert bad.error.startswith("InvalidSchemaError: ")
        assert (bad.score, good.passed) == (None, True)


def test_a_reference_that_is_no_schema_is_named_and_none_at_all_is_asked_for():
    with pytest.raises(InvalidSchemaError, match="json_schema: the sample's reference: "):
        JsonSchema()("1", {"price": 3})
    for nothing in ({}, {"reference": None, "schema": None}):
        with pytest.raises(MissingFieldError, match="json_schema needs a schema: "):
            JsonSchema()("1", **nothing)
