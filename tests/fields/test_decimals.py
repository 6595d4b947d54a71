"""Numbers that may be texts, as Pydantic writes them for Decimal."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

import pytest
from one_field import passes

from llmeval_integrations import JsonFields

PATTERN = r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"
LIMITED = r"^(?!^[-+.]*$)[+-]?0*(?:\d{0,4}|(?=[\d.]{1,7}0*$)\d{0,4}\.\d{0,2}0*$)"
NUMBER, TEXT = {"type": "number"}, {"type": "string"}
SCHEMAS = [
    {"anyOf": [NUMBER, TEXT]},  # Pydantic to 2.11, and from 2.14 on
    {"anyOf": [NUMBER, TEXT, {"type": "null"}]},
    {"anyOf": [{**NUMBER, "minimum": 0}, TEXT], "title": "Total", "default": None},
    {"anyOf": [NUMBER, TEXT, {"type": "object"}, {"type": "array"}, {"type": "boolean"}]},
    {"anyOf": [{**TEXT, "const": "auto"}, NUMBER, TEXT, {**TEXT, "format": "date"}]},
    {"oneOf": [{"anyOf": [NUMBER, TEXT]}, {"type": "integer"}]},
    {"anyOf": [NUMBER, {**TEXT, "pattern": PATTERN}]},  # 2.12 and 2.13
    {"anyOf": [NUMBER, {**TEXT, "pattern": LIMITED}, {"type": "null"}]},
    {**TEXT, "pattern": PATTERN},  # in the schema of what is dumped
    {"anyOf": [{**TEXT, "pattern": PATTERN}, {"type": "null"}]},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_number_is_compared_as_one_however_it_is_written(schema):
    for output, reference in [
        ("1250.50", "1250.5"),
        (1250.5, "1250.50"),
        ("1250.50", 1250.5),
        (0.1, "0.10"),
        ("1E+3", 1000),
        ("1000.0", "1E+3"),
    ]:
        assert passes(schema, output, reference), (output, reference)
    for output, reference in [
        ("1250.50", "1250.51"),
        (1250.51, "1250.50"),
        (10**12 + 1, str(10**12)),
        ("1,250.50", "1250.50"),
        ("1,250.50", 1250.5),
        ("n/a", "N/A"),
        ("007", "7"),  # which may be a code
        ("true", True),
        ("5", True),
        ("null", None),
        (" 5", 5),
    ]:
        assert not passes(schema, output, reference), (output, reference)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_settings_for_numbers_hold_for_those_that_are_texts(schema):
    for settings in ({"tolerance": 0.01}, {"relative_tolerance": 1e-3}, {"multiple_of": 0.05}):
        for options in ({"fields": {"/a": settings}}, {"defaults": settings}):
            assert passes(schema, "12.504", "12.50", **options)
            assert passes(schema, 12.504, "12.50", **options)
            assert not passes(schema, "12.60", "12.50", **options)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_two_texts_are_compared_to_the_last_digit(schema):
    for output, reference in [
        ("12345678901.12", "12345678901.11"),
        ("0.12345678901234567891", "0.1234567890123456789"),
        ("1e-400", "0"),
        (1250000001, "1250000000.00"),  # an integer has lost no digits
    ]:
        assert not passes(schema, output, reference), (output, reference)
        amounts, any_order = {"items": schema}, {"/a": {"order": "any_order"}}
        assert not passes(amounts, [output, "x"], ["x", reference], fields=any_order)
    near = {"/a": {"tolerance": 0.01}}
    assert passes(schema, "12345678901.12", "12345678901.11", fields=near)
    assert not passes(schema, "12345678901.13", "12345678901.11", fields=near)
    assert passes(schema, 12345678901234567.89, "12345678901234567.89")
    assert passes(schema, 0.1, "0.10", fields={"/a": {"relative_tolerance": 0.0}})
    assert passes(schema, "1e-99999999999999999999", "1e-99999999999999999999")
    assert not passes(schema, "1e-99999999999999999999", "0")


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_unequal_numbers_may_be_similar_texts(schema):
    told = JsonFields({"properties": {"a": schema}}, {"/a": {"similarity": 0.5}})
    assert told({"a": "1.1"}, {"a": "1.2"}).score == pytest.approx(2 / 3)
    assert told({"a": "9.9"}, {"a": "1.2"}).score == 0.0
    assert told({"a": "1e1"}, {"a": "10"}).score == 1.0


@pytest.mark.parametrize("schema", [each for each in SCHEMAS if "pattern" in str(each)], ids=str)
def test_a_default_does_not_make_what_has_a_pattern_similar(schema):
    assert not passes(schema, "1250.50", "1250.51", defaults={"similarity": 0.5})


@pytest.mark.parametrize("text", [TEXT, {**TEXT, "pattern": PATTERN}], ids=str)
@pytest.mark.parametrize("fixed", [{"enum": [1.5, 2.5]}, {"const": 1.5}], ids=str)
def test_a_number_that_is_named_stays_exact(fixed, text):
    schema = {"anyOf": [{**NUMBER, **fixed}, text]}
    assert passes(schema, 1.5, 1.5)
    assert not passes(schema, 1.5000000001, 1.5)
    assert not passes(schema, "1.50", "1.5")
    assert not passes(schema, 1.5, "1.5")


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [TEXT, NUMBER]},
        {"anyOf": [NUMBER, {**TEXT, "minLength": 1}]},
        {"anyOf": [NUMBER, {**TEXT, "pattern": "^[0-9.]+$"}]},
        {"anyOf": [NUMBER, TEXT, {**TEXT, "minLength": 1}]},
        {"anyOf": [TEXT, NUMBER, TEXT]},
        {"oneOf": [NUMBER, TEXT]},
        {"anyOf": [{"anyOf": [{"type": "null"}, NUMBER]}, {"anyOf": [TEXT, {"type": "null"}]}]},
        {"if": {"const": 1}, "then": NUMBER, "else": TEXT},
        {"anyOf": [{"type": "integer"}, TEXT]},
        {"type": ["number", "string"]},
        {**TEXT, "pattern": "^[+-]?0*"},
        TEXT,
        NUMBER,
    ],
    ids=str,
)
def test_other_texts_beside_numbers_are_texts(schema):
    assert not passes(schema, "1250.50", "1250.5")
    assert not passes(schema, 1250.5, "1250.50")


def test_items_are_paired_by_what_number_they_are():
    amounts = {"type": "array", "items": SCHEMAS[0]}
    any_order = {"/a": {"order": "any_order"}}
    assert passes(amounts, ["2.0", 1, "x"], ["x", "1.00", 2], fields=any_order)
    lines = {"items": {"properties": {"no": SCHEMAS[3]}}}
    output, reference = [{"no": "2.0", "v": 1}, {"no": 1}], [{"no": 1}, {"no": 2, "v": 1}]
    assert passes(lines, output, reference, fields={"/a": {"key": "no"}})


def test_tiny_numbers_and_their_texts_are_keyed_alike():
    amounts = {"type": "array", "items": SCHEMAS[0]}
    output = [n * 1e-7 for n in range(1, 300)]  # too many to be tried pair by pair
    reference = [str(Decimal(repr(number))) for number in reversed(output)]
    assert passes(amounts, output, reference, fields={"/a": {"order": "any_order"}})


def test_a_model_with_decimals():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Bill", total=(Decimal, ...), tip=(Decimal | None, None))
    told = JsonFields(model)
    assert told(model(total="1250.50"), model(total="1250.5")).passed
    assert told({"total": 1250.5, "tip": None}, model(total="1250.50")).passed
    assert told({"total": "8", "tip": "0.50"}, model(total=8, tip="0.5")).passed
    result = told({"total": 1250.51, "tip": None}, model(total="1250.5"))
    assert result.reason == '/total 1250.51, expected "1250.5"'
    assert result.label == "wrong_type"
    near = JsonFields(model, {"/total": {"tolerance": 0.01}})
    assert near({"total": "1250.504", "tip": None}, model(total="1250.5")).passed


def test_a_number_of_one_alternative_and_a_text_of_another_are_no_decimal():
    pydantic = pytest.importorskip("pydantic")
    number = pydantic.create_model("Number", kind=(Literal["number"], ...), value=(float, ...))
    text = pydantic.create_model("Text", kind=(Literal["text"], ...), value=(str, ...))
    tagged = Annotated[number | text, pydantic.Field(discriminator="kind")]
    kinds = (number | text, text | number, tagged)
    for kind in (*kinds, dict[str, float] | dict[str, str]):
        told = JsonFields(pydantic.create_model("Holder", v=(kind, ...)))
        for output, reference in [("1.10", "1.1"), ("1e2", "100"), (1.1, "1.1")]:
            one, other = ({"kind": "text", "value": value} for value in (output, reference))
            assert not told({"v": one}, {"v": other}).passed
    lists = JsonFields(pydantic.create_model("Lists", v=(list[float] | list[str], ...)))
    assert not lists({"v": ["1.10"]}, {"v": ["1.1"]}).passed


def test_a_decimal_is_one_beside_whatever_else_there_may_be():
    pydantic = pytest.importorskip("pydantic")
    money = pydantic.create_model("Money", amount=(Decimal, ...), currency=(str, ...))
    for kind in (
        Decimal | money,
        Decimal | date,
        datetime | Decimal,
        Decimal | bool,
        Decimal | list[Decimal],
        Decimal | Literal["n/a"],
        Decimal | int | None,
    ):
        model = pydantic.create_model("Bill", total=(kind, ...))
        told = JsonFields(model)
        assert told({"total": 12.5}, model(total=Decimal("12.50"))).passed, kind
        assert not told({"total": 12.51}, model(total=Decimal("12.50"))).passed, kind
