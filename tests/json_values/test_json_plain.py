"""Values that are parsed already: read two at a time as one at a time."""

import datetime
import enum
import json
from collections import OrderedDict
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import broken_texts, documents, json_texts, law
from pace import at_most

from llmeval_integrations import JsonFields, JsonMatch, JsonSchema
from llmeval_integrations.json_values.parse import PARSINGS, parse, parse_both


class Level(enum.IntEnum):
    LOW = 1


class Colour(str, enum.Enum):
    RED = "red"


class Item:
    """Dumps itself, as Pydantic's models do."""

    def model_dump(self, mode):
        return {"n": 1}


NESTED = [1]
for _ in range(1_000):
    NESTED = [NESTED]

# Values of which many are written alike, and not all of those are equal or JSON.
VALUES = [
    1, 1.0, True, 0, -0.0, "1", "", None, float("nan"), float("inf"), 10**30, Decimal(1), Level.LOW,
    "red", Colour.RED, b"red", "\ud800", "null", b"1", bytearray(b"[1]"), "[1]", "[1", "[NaN]",
    [], {}, (), [1], (1,), [1.0], [True], [Level.LOW], [float("nan")], [float("inf")], [None],
    {"a": 1}, OrderedDict(a=1), {"a": (1,)}, {"a": [1]}, {1: "a"}, {"1": "a"}, {Colour.RED: 1},
    {"red": 1}, {1, 2}, datetime.date(2024, 1, 2), "2024-01-02", Item(), {"n": 1}, [Item()],
    [{"n": 1}], object(), NESTED, {str(n): n for n in range(200)}, {str(n): Level.LOW for n in range(200)},
    {str(n): 1 for n in range(200)}, {n: n for n in range(200)}, {str(n): (n,) for n in range(200)},
]  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("parsing", PARSINGS)
def test_two_values_are_read_as_each_by_itself(parsing):
    for value, other in product(VALUES, repeat=2):
        expected = parse(value, parsing), parse(other, parsing)
        found = parse_both(value, other, parsing)
        assert repr(found) == repr(expected), (value, other)


@law
@given(st.data(), st.sampled_from(PARSINGS))
def test_two_texts_are_read_as_each_by_itself(data, parsing):
    texts = json_texts | broken_texts | documents
    value = data.draw(texts)
    other = data.draw(texts | st.just(value))
    expected = parse(value, parsing), parse(other, parsing)
    assert repr(parse_both(value, other, parsing)) == repr(expected)


@given(documents)
def test_what_is_written_alike_is_given_twice(document):
    text = json.dumps([document])
    same = [([document], json.loads(text)), (text, text)]
    for value, other in same:
        one, two = parse_both(value, other)
        assert one is two
        assert one is not value
    spaced, plain = parse_both(text, f" {text}")
    assert spaced is not plain


@law
@given(st.integers(-(10**4000), 10**4000), st.integers(0, 9000), st.integers(0, 10**4000))
def test_a_long_integer_is_what_its_text_is(high, zeros, low):
    text = f"{high or 1}{'0' * zeros}{low:04001}"
    sign = -1 if text.startswith("-") else 1
    value = (high or 1) * 10 ** (zeros + 4001) + sign * low
    found = parse(value)
    assert repr(found) == repr(parse(text))
    assert found == parse(text)


@pytest.mark.parametrize("value", [10**400_000, -(2**1_300_000), [3**840_000]], ids=type)
def test_an_integer_of_400_000_digits_takes_no_time(value):
    with at_most(1):
        parse(value)


@pytest.mark.parametrize(
    ("value", "other"),
    [([1], [1.0]), ([1], [True]), ([1], (1,)), ({"a": 1, "b": 2}, {"b": 2, "a": 1})],
)
def test_what_is_written_otherwise_is_not(value, other):
    one, two = parse_both(value, other)
    assert one is not two


def test_in_lenient_mode_nan_is_not_given_twice():
    for value in ("[NaN]", [float("nan")]):
        one, two = parse_both(value, value, "lenient")
        assert one is not two


def test_an_object_of_a_model_is_dumped_by_its_aliases():
    pydantic = pytest.importorskip("pydantic")
    due = (datetime.datetime, pydantic.Field(alias="dueDate"))
    inner = pydantic.create_model("Inner", due=due)
    model = pydantic.create_model("Model", due=due, inner=(inner, pydantic.Field(alias="in")))
    moment = "2024-01-05T10:00:00Z"
    written = {"dueDate": moment, "in": {"dueDate": moment}}
    assert parse(model.model_validate(written)) == written
    assert JsonFields(model)(json.dumps(written), reference=model.model_validate(written)).passed


@pytest.mark.parametrize(
    "alias", [{"serialization_alias": "dueDate"}, {"validation_alias": "dueDate"}], ids=str
)
def test_an_object_whose_aliases_differ_is_dumped_by_its_names(alias):
    pydantic = pytest.importorskip("pydantic")
    due = (str, pydantic.Field(**alias))
    inner = pydantic.create_model("Inner", due=due)
    config = pydantic.ConfigDict(populate_by_name=True)
    model = pydantic.create_model("Model", __config__=config, due=due)
    outer = pydantic.create_model("Outer", all=(list[inner | None], pydantic.Field(alias="every")))
    assert parse(model.model_validate({next(iter(alias.values())): "x", "due": "x"})) == {
        "due": "x"
    }
    assert parse(outer(every=[inner.model_construct(due="x")])) == {"all": [{"due": "x"}]}
    if "serialization_alias" in alias:
        assert JsonSchema(model)(model(due="x")).passed
        assert JsonFields(model)('{"due": "x"}', reference=model(due="x")).passed


def test_generated_aliases_are_those_that_are_read():
    pydantic = pytest.importorskip("pydantic")
    config = pydantic.ConfigDict(alias_generator=str.upper)
    model = pydantic.create_model("Model", __config__=config, due=(str, ...))
    assert parse(model(DUE="x")) == {"DUE": "x"}


def test_a_computed_field_is_in_no_schema_and_so_left_out():
    pydantic = pytest.importorskip("pydantic")

    class Line(pydantic.BaseModel):
        quantity: int
        price: float

        @pydantic.computed_field
        @property
        def total(self) -> float:
            return self.quantity * self.price

    line = Line(quantity=2, price=1.5)
    assert parse(line) == {"quantity": 2, "price": 1.5}
    assert JsonFields(Line)('{"quantity": 2, "price": 1.5}', reference=line).passed
    assert JsonSchema({**Line.model_json_schema(), "additionalProperties": False})(line).passed


def test_objects_of_models_in_arrays_and_objects_are_dumped():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("City", name=(str, pydantic.Field(alias="city")))
    oslo, written = model(city="Oslo"), {"city": "Oslo"}
    assert parse([oslo, 1]) == [written, 1]
    assert parse({"all": ({"one": oslo}, None)}) == {"all": [{"one": written}, None]}
    assert JsonMatch()([oslo], '[{"city": "Oslo"}]').passed
    assert parse([oslo, {"a": {1}}]).name == "not_json"


def test_an_object_that_fails_to_dump_itself_is_no_json():
    class Failing:
        def model_dump(self, **_):
            raise ValueError("not now")

    assert "Failing is not a JSON value" in parse([Failing()]).reason


def test_what_knows_no_aliases_is_dumped_without():
    assert parse(Item()) == {"n": 1}
