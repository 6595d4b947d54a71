"""Values in prompts: text as it is, JSON for the rest, and what is missing or is neither."""

import dataclasses
import datetime
import decimal
import enum
import json
import types
import uuid

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import InputError, MissingFieldError
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.judges.prompts.prompt import Prompt


def filled(template, template_format=None, **variables):
    (message,) = Prompt(template, template_format).render(variables)
    assert message.role == "user"
    return message.content


@pytest.mark.parametrize("template", ["{a}, {c}", "{{a}}, {{c}}", "{{#c}}{{/c}}{{a}}"])
def test_a_missing_variable_is_named_beside_those_given(template):
    for values in ({"b": 1, "c": 2}, {"b": 1, "c": 2, "a": MISSING}):
        with pytest.raises(MissingFieldError, match="no value for 'a'; given: 'b', 'c'"):
            Prompt(template).render(values)
    with pytest.raises(MissingFieldError, match=r"no value for '\w', '\w'; given: none"):
        Prompt(template).render({})


def test_a_thousand_given_variables_are_not_all_listed():
    with pytest.raises(MissingFieldError) as error:
        Prompt("{a}").render({f"v{number}": 1 for number in range(1_000)})
    assert "'v49' and 950 more" in str(error.value)


def test_variables_are_a_mapping_and_more_of_them_than_needed_do_no_harm():
    assert Prompt("{a}").render(types.MappingProxyType({"a": "A", "b": object()}))[0].text == "A"
    for wrong in ("a", None, [("a", 1)], object()):
        with pytest.raises(InputError, match="mapping"):
            Prompt("{a}").render(wrong)


any_text = st.text(st.characters()) | st.text("{}ab#/^!> .\n", max_size=30)


@settings(max_examples=150, deadline=None)
@given(any_text, any_text, any_text, any_text)
def test_values_come_out_as_they_went_in(before, after, a, b):
    assert filled("<{a}|{b}>{a}", a=a, b=b) == f"<{a}|{b}>{a}"
    assert filled("<{{a}}|{{{b}}}>{{&a}}", a=a, b=b) == f"<{a}|{b}>{a}"
    assert filled("{{#x}}<{{.}}>{{/x}}", x=[a, b]) == f"<{a}><{b}>"
    before, after = (text.replace("{", "").replace("}", "") for text in (before, after))
    assert filled(before + "{a}" + after, a=a) == before + a + after


json_values = st.recursive(
    st.text("ab}\"' ") | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab} "), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(json_values, st.sampled_from([None, 2]), st.sampled_from([None, (",", ":")]))
def test_json_in_a_template_stays_as_it_is(value, indent, separators):
    text = json.dumps(value, indent=indent, separators=separators)
    assert filled(text + "{v}", v=1) == text + "1"
    assert filled(text + "{{v}}", v=1) == text + "1"


class Colour(enum.Enum):
    RED = "red"


class Shade(str, enum.Enum):
    DARK = "dark"


@dataclasses.dataclass
class Box:
    inner: object
    colour: Colour = Colour.RED


class Struct(msgspec.Struct):
    x: object


class Array:
    def tolist(self):
        return [1, 2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1.5, "1.5"),
        ("", ""),
        ("é\ud800", "é\ud800"),
        ({"b": ["é", {"a": None}], "a": ()}, '{"b": ["é", {"a": null}], "a": []}'),
        (["\ud800"], '["\ud800"]'),
        (types.MappingProxyType({"a": Box(Struct(1))}), '{"a": {"inner": {"x": 1}, "colour": "red"}}'),
        (Colour.RED, '"red"'),
        (Shade.DARK, "dark"),
        ([Shade.DARK], '["dark"]'),
        (datetime.date(2024, 2, 3), '"2024-02-03"'),
        (datetime.datetime(2024, 2, 3, tzinfo=datetime.timezone.utc), '"2024-02-03T00:00:00+00:00"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (decimal.Decimal("1.10"), '"1.10"'),
        (Array(), "[1, 2]"),
    ],
)  # fmt: skip
def test_what_is_not_text_is_written_as_json(value, text):
    assert filled("{a}", a=value) == text
    assert filled("{{a}}", a=value) == text


def test_pydantic_models_and_numpy_are_written_as_json():
    pydantic, numpy = pytest.importorskip("pydantic"), pytest.importorskip("numpy")

    class Model(pydantic.BaseModel):
        name: str = pydantic.Field(alias="Name")
        day: datetime.date

    model = Model(Name="é", day=datetime.date(2024, 2, 3))
    assert filled("{a}", a=[model]) == '[{"Name": "é", "day": "2024-02-03"}]'
    assert filled("{a}", a={"x": numpy.arange(2), "y": numpy.int64(3)}) == '{"x": [0, 1], "y": 3}'
    assert filled("{{#a}}<{{.}}>{{/a}}", a=numpy.arange(2)) == "<0><1>"
    with pytest.raises(MissingFieldError, match="never reaches an attribute"):
        filled("{{a.name}}", a=model)


class Broken:
    def model_dump(self, mode):
        raise KeyError(mode)


@pytest.mark.parametrize(
    "value",
    [
        object(), {1, 2}, b"bytes", len, Box, iter([]), float("nan"), [float("inf")], {(1,): 2},
        {"a": object()}, Broken(), 10**5_000, 1j, json,
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_value_that_is_no_json_is_an_error_that_names_its_type_and_no_address(value):
    for template in ("{a}", "{{a}}", "{{#a}}{{.}}{{/a}}"):
        with pytest.raises(
            InputError, match=f"'[a.]', of type {type(value).__name__}|'\\.'"
        ) as error:
            filled(template, a=value)
        assert " at 0x" not in str(error.value)


@pytest.mark.parametrize("depth", [100, 100_000])
def test_depth_is_no_crash(depth):
    value = []
    for _ in range(depth):
        value = [value]
    if depth == 100:
        assert filled("{a}", a=value) == "[" * 101 + "]" * 101
    else:
        with pytest.raises(InputError, match="nested too deeply"):
            filled("{a}", a=value)


def test_a_deep_value_with_something_in_it_that_is_no_json_is_an_error_of_ours():
    for depth in range(900, 1_000, 9):
        value = object()
        for _ in range(depth):
            value = [value]
        with pytest.raises(InputError):
            filled("{a}", a=value)
