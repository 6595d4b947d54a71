"""Text to JSON value or defect: what the modes accept, and what never happens on the way."""

import enum
import gc
import json
import re
import sys
from collections import OrderedDict
from decimal import Decimal
from typing import Any, NamedTuple, get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from json_strategies import OUT_OF_RANGE, broken_texts, documents, json_texts, law

from llmeval_integrations import JsonFields, JsonSchema
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, check, parse
from llmeval_integrations.json_values.values import canonical

# Pieces that confuse a parser about where it is, one after the other.
PIECES = st.sampled_from([
    *'{}[]:,"\\1-.e \n\té😀\ufeff', "nul", "null", "true", "trux", "falsy", "NaN", "Infin", "-Infinity", "tnull",
    '"a"', '"b', '"é":', '{"a":', "[1,", "],", "},", "01", "1e5", "1.", "1e", "\\u12", "\\ud83d", '"c":[',
])  # fmt: skip
texts = broken_texts | st.lists(PIECES, max_size=14).map("".join)


# text, then what strict, markdown and lenient mode make of it; "defect" where it is none.
MODES = [
    ('{"a": 1}', {"a": 1}, {"a": 1}, {"a": 1}),
    ("null", None, None, None),
    ("```json\n[1]\n```", "defect", [1], [1]),
    ("```JSON\n[1]\n```", "defect", [1], "defect"),
    ("```json [1] ```", "defect", [1], [1]),
    ("```[1]```", "defect", [1], [1]),
    ("````json\n[1]\n````", "defect", [1], "defect"),
    ("~~~json\n[1]\n~~~", "defect", [1], "defect"),
    ("```json\n[1]", "defect", [1], [1]),
    ('```json\n["```"]\n```', "defect", ["```"], ["```"]),
    ("`[1]`", "defect", [1], [1]),
    ("`[1]", "defect", "defect", [1]),
    ("[1]`", "defect", "defect", [1]),
    ("[1]\n```", "defect", [1], [1]),
    ("```json:file.json\r\n[1]\r\n```", "defect", [1], "defect"),
    ("```json {}\n```", "defect", {}, {}),
    ('```json {\n"a":1}\n```', "defect", {"a": 1}, {"a": 1}),
    ("```jsonc [1]\n```", "defect", "defect", "defect"),
    ("```json\n[1]\n```\nDone.", "defect", "defect", [1]),
    ("Here: ```json\n[1]\n```", "defect", "defect", [1]),
    ("```json\n[1]\n```\n```json\n[2]\n```", "defect", "defect", [1]),
    ("[1] [2]", "defect", "defect", [1]),
    ('{"a": [1, 2', "defect", "defect", {"a": [1, 2]}),
    ('{"a": "b', "defect", "defect", {"a": "b"}),
    ("}", "defect", "defect", None),
    ("[NaN]", "defect", "defect", "[NaN]"),
    ('{"a": 1, "a": 2}', "defect", {"a": 2}, {"a": 2}),
    ('["\\ud800"]', "defect", "defect", "defect"),
    ('["a\nb"]', "defect", "defect", ["a\nb"]),
    ("", "defect", "defect", "defect"),
]  # fmt: skip


class Pair(NamedTuple):
    a: int
    b: int


class Name(str):
    __slots__ = ()


class Level(enum.IntEnum):
    LOW = 1


class Share(float):
    pass


# value → what parse gives; its types are those of a parsed text.
VALUES = [
    (b'{"a": 1}', {"a": 1}),
    (Name("[1]"), [1]),
    ((1, (2,)), [1, [2]]),
    (Pair(1, 2), [1, 2]),
    (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    ([Level.LOW], [1]),
    ({Name("a"): Name("b")}, {"a": "b"}),
    (Share(0.5), 0.5),
    (Decimal(5), 5),
    (Decimal("0.1"), 0.1),
    (Decimal("1E+2"), 100.0),
]

NUMBERS = [
    ("-0", 0),
    ("-0.0", -0.0),
    ("12345678901234567890123", 12345678901234567890123),
    ("-170141183460469231731687303715884105728", -(2**127)),
    ("5e-324", 5e-324),
    ("1e-400", 0.0),
    ("1.7976931348623157e308", sys.float_info.max),
    ("-" + "1" * 308, -int("1" * 308)),
    ("0." + "1" * 400, 1 / 9),
    ("1" * 309 + ".5", float("1" * 309)),
]


def short(value: object) -> str:
    return repr(value)[:40] if isinstance(value, (str, bytes)) else type(value).__name__


class NotOurs(Exception):  # noqa: N818 - a signal, not an error
    pass


def python_reads(text: str, *, unique: bool) -> Any:
    """Read as RFC 8259 has it, with Python's parser: the value, or its complaint."""

    def refuse(_constant: str) -> Any:
        raise NotOurs

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if unique and len(dict(pairs)) < len(pairs):
            raise NotOurs
        return dict(pairs)

    try:
        value = json.loads(text, parse_constant=refuse, object_pairs_hook=members)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        return NotOurs(str(error))
    except (NotOurs, UnicodeEncodeError):
        return NotOurs()
    return value


@pytest.mark.parametrize(("text", "strict", "markdown", "lenient"), MODES, ids=short)
def test_a_mode_accepts_what_it_says(text, strict, markdown, lenient):
    for parsing, expected in zip(get_args(Parsing), (strict, markdown, lenient)):
        value = parse(text, parsing)
        if isinstance(expected, str) and expected.startswith("["):
            assert canonical(value) == expected
        elif expected == "defect":
            assert isinstance(value, Defect), parsing
        else:
            assert repr(value) == repr(expected), parsing


@pytest.mark.parametrize(("text", "number"), NUMBERS, ids=short)
def test_numbers_are_exact(text, number):
    for parsing in get_args(Parsing):
        assert repr(parse(text, parsing)) == repr(number)
        assert repr(parse(f'{{"a": [{text}]}}', parsing)) == repr({"a": [number]})
        assert check(text, parsing) is None


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=short)
def test_values_get_the_types_of_parsed_text(value, expected):
    for parsing in get_args(Parsing):
        assert repr(parse(value, parsing)) == repr(expected)
        assert check(value, parsing) is None


@law
@given(documents.filter(lambda document: not isinstance(document, str)))
def test_a_value_is_what_its_text_is(document):
    assert repr(parse(document)) == repr(parse(json.dumps(document)))


def test_a_model_is_dumped_by_alias_and_without_computed_fields():
    pydantic = pytest.importorskip("pydantic")

    class Line(pydantic.BaseModel):
        count: int = pydantic.Field(alias="itemCount")
        inner: Any = None

        @pydantic.computed_field
        @property
        def total(self) -> int:
            return self.count * 2

    line, written = Line(itemCount=2), {"itemCount": 2, "inner": None}
    assert parse(line) == written
    assert parse({"all": ({"one": line}, None)}) == {"all": [{"one": written}, None]}
    assert JsonFields(Line)(json.dumps(written), reference=line).passed
    assert JsonSchema({**Line.model_json_schema(), "additionalProperties": False})(line).passed
    assert parse(Line).name == parse([line, {1}]).name == "not_json"
    assert parse(Line(itemCount=1, inner=object())).name == "not_json"


# --- against Python's parser and LangChain's ---------------------------------------------------


@law
@given(texts)
def test_strict_mode_is_rfc_8259_in_python_s_words(text):
    assume(not OUT_OF_RANGE.search(text))
    expected, value = python_reads(text, unique=True), parse(text, "strict")
    if isinstance(expected, NotOurs):
        assert isinstance(value, Defect)
        if expected.args and value.name != "code_fence":
            assert value.reason == expected.args[0]
    else:
        assert repr(value) == repr(expected)


@law
@given(
    st.one_of(json_texts, broken_texts).map(str.strip),
    st.sampled_from(
        ["{}", " {}\n", "`{}`", "```{}```", "```json\n{}\n```", "```\n{}", "~~~\n{}\n~~~"]
    ),
)
def test_markdown_mode_is_rfc_8259_in_a_wrapper(body, wrapper):
    assume(body and body[0] not in "`~" and body[-1] not in "`~" and not OUT_OF_RANGE.search(body))
    assume(body[:4].lower() != "json" and not re.match(r"[\w+.-]*[ \t]*\r?\n", body))
    expected, value = python_reads(body, unique=False), parse(wrapper.replace("{}", body))
    if isinstance(expected, NotOurs):
        assert isinstance(value, Defect)
    else:
        assert repr(value) == repr(expected)


@law
@given(broken_texts, st.sampled_from(["strict", "markdown"]))
def test_check_and_parse_agree(text, parsing):
    assume(not OUT_OF_RANGE.search(text))
    value = parse(text, parsing)
    assert check(text, parsing) == (value if isinstance(value, Defect) else None)
    data = text.encode(errors="replace")
    assert check(data, parsing) == check(data.decode(), parsing)


@law
@given(texts)
def test_lenient_mode_is_langchain_s_and_its_check_does_not_complete(text):
    langchain = pytest.importorskip("langchain_core.utils.json")
    assume(not OUT_OF_RANGE.search(text))
    found, expected = check(text, "lenient"), langchain_reads(langchain, text, parser=json.loads)
    is_error = isinstance(expected, json.JSONDecodeError)
    assert holds_surrogate(expected) or (found and found.reason) == (
        str(expected) if is_error else None
    )
    expected, value = langchain_reads(langchain, text), parse(text, "lenient")
    if isinstance(expected, json.JSONDecodeError):
        assert value.reason == str(expected)
        assert 0 <= value.offset <= len(text)
    elif holds_surrogate(expected):
        assert value.name == "lone_surrogate"
    else:
        assert repr(value) == repr(expected)


def langchain_reads(langchain: Any, text: str, **options: Any) -> Any:
    """Give LangChain's value, or the error it raises."""
    try:
        return langchain.parse_json_markdown(text, **options)
    except json.JSONDecodeError as error:
        return error


def holds_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False


BROKEN = [
    "{",
    '{"a": 1,}',
    "```json\n{]\n```",
    " [1, 2",
    "no JSON",
    "[1] [2]",
    "{'a': 1}",
    '{"a": NaN}',
]


@pytest.mark.parametrize("parsing", ["strict", "markdown", "lenient"])
def test_a_broken_text_leaves_nothing_to_the_garbage_collector(parsing):
    for _ in range(2):  # the first time, modules are imported
        gc.collect()
        gc.disable()
        try:
            for text in BROKEN:
                parse(text, parsing)
            left = gc.collect()
        finally:
            gc.enable()
    assert left == 0
