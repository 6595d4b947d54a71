"""Schemas with alternatives: the order in which they stand has no say."""

from decimal import Decimal
from typing import Literal

import pytest
from json_strategies import seconds
from one_field import passes

from llmeval_integrations import JsonFields

TEXT, NUMBER, NULL = {"type": "string"}, {"type": "number"}, {"type": "null"}
DATE, MOMENT, EMAIL, URI = (
    {"type": "string", "format": each} for each in ("date", "date-time", "email", "uri")
)


def both_ways(*alternatives):
    return [{"anyOf": [*alternatives]}, {"oneOf": [*reversed(alternatives)]}]


@pytest.mark.parametrize("schema", both_ways(DATE, MOMENT) + both_ways(MOMENT, URI, EMAIL, DATE))
def test_a_text_is_compared_by_the_format_whose_form_it_has(schema):
    assert passes(schema, "2024-01-05T10:00:00Z", "2024-01-05T11:00:00+01:00")
    assert not passes(schema, "2024-01-05T10:00:00Z", "2024-01-05T10:00:00+01:00")
    assert passes(schema, "2024-01-05", "2024-01-05")
    assert not passes(schema, "2024-01-05", "2024-01-06")


@pytest.mark.parametrize("schema", both_ways(EMAIL, URI))
def test_an_address_is_one_of_the_web_or_of_a_person(schema):
    assert passes(schema, "HTTP://x.org:80/A", "http://x.org/A")
    assert passes(schema, "Ann@X.org", "ann@x.org")
    assert not passes(schema, "http://x.org/A", "http://x.org/a")
    assert not passes(schema, "http://ann@x.org/A", "http://ann@x.org/a")
    assert not passes(schema, "N/A", "n/a")


def test_a_login_in_an_address_of_the_web_makes_it_nobody_s():
    assert not passes(EMAIL, "http://a@x.org/A", "http://a@x.org/a")
    assert passes(EMAIL, "Sales/EU@X.org", "sales/eu@x.org")


@pytest.mark.once
def test_a_single_format_costs_no_more_for_the_others():
    addresses = [f"Person{n}@x.org" for n in range(5_000)]
    small = [address.lower() for address in addresses]
    one, several = (
        JsonFields({"items": {"anyOf": alternatives}})
        for alternatives in ([EMAIL, NULL], [EMAIL, URI, MOMENT])
    )
    assert one(addresses, small).passed
    assert seconds(one, addresses, small) < 0.8 * seconds(several, addresses, small)


@pytest.mark.parametrize(
    "schema", both_ways({"const": 0}, NUMBER) + both_ways({"enum": [1]}, NUMBER)
)
def test_what_one_alternative_names_does_not_make_another_exact(schema):
    assert passes(schema, 0.1 + 0.2, 0.3)
    assert not passes(schema, 0.3001, 0.3)


def test_a_grid_holds_where_all_alternatives_have_one():
    tens, fives = {**NUMBER, "multipleOf": 10}, {**NUMBER, "multipleOf": 5}
    for schema in both_ways(tens, NUMBER):
        assert not passes(schema, 3.5, 4)
    for schema in both_ways(tens, fives):
        assert passes(schema, 4.5, 5)
        assert not passes(schema, 6, 8)
    for schema in both_ways(tens, NULL, TEXT):
        assert passes(schema, 11, 10)
    for other in ({"enum": ["N/A"]}, {"const": None}):
        for schema in both_ways(tens, other):
            assert passes(schema, 11, 10)
    for schema in both_ways({**NUMBER, "multipleOf": 0.01}, {"type": "integer"}):
        assert passes(schema, 1.004, 1.0)
        assert not passes(schema, 1.01, 1)
        assert not passes(schema, 1, 2)


def test_decimals_of_alternative_models():
    pydantic = pytest.importorskip("pydantic")

    def line(kind, price):
        return pydantic.create_model(kind, kind=(Literal[kind], ...), price=(price, ...))

    unions = [
        line("product", one) | line("service", other)
        for one, other in [(Decimal, Decimal), (Decimal, Decimal | None), (Decimal, float)]
    ]
    fields = [(union, ...) for union in unions]
    fields.append((unions[0], pydantic.Field(discriminator="kind")))
    cents = (Decimal, pydantic.Field(multiple_of=Decimal("0.01")))
    fields += [
        (pydantic.create_model("Line", price=price), ...) for price in (cents, (Decimal | int, ...))
    ]
    for field in fields:
        evaluator = JsonFields(pydantic.create_model("Order", line=field))
        assert evaluator({"line": {"price": "1250.50"}}, {"line": {"price": 1250.5}}).passed
        assert not evaluator({"line": {"price": "1250.50"}}, {"line": {"price": 1251}}).passed
        assert not evaluator({"line": {"price": "n/a"}}, {"line": {"price": "N/A"}}).passed


def test_a_number_with_notes_may_be_written_as_text():
    schema = {"anyOf": [{**NUMBER, "description": "EUR"}, {**TEXT, "title": "Price"}]}
    assert passes(schema, "1250.50", 1250.5)
    for text in ({**TEXT, "minLength": 1}, {**TEXT, "enum": ["1250.50"]}):
        assert not passes({"anyOf": [NUMBER, text]}, "1250.50", 1250.5)
    assert not passes({"anyOf": [{"type": "integer"}, TEXT]}, "1250", 1250)
    assert not passes({"anyOf": [NUMBER, TEXT, TEXT]}, "1250.50", 1250.5)
