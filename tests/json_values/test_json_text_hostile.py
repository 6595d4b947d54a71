"""No text and no value hangs the parser, crashes it or confuses two threads."""

import json
import sys
import threading
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import documents, law, nested, seconds
from pace import at_most

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import (
    PARSINGS,
    check,
    parse,
)

LONG = 200_000
HOSTILE = {
    "[": "[" * LONG,
    '{"a":': '{"a":' * (LONG // 5),
    '"': '"' * LONG,
    "\\": "\\" * LONG,
    '"\\': '"' + "\\" * LONG,
    "`": "`" * LONG,
    "~": "~" * LONG,
    "space": " " * LONG,
    "digits": "1" * LONG,
    "1.1...": "[1." + "1" * LONG + "]",
    "/*": "/*" * (LONG // 2),
    "[ ": "[ " * (LONG // 2),
    "{ ": "{ " * (LONG // 2),
    "[]": "[]" * (LONG // 2),
    "[[],": "[" + "[]," * (LONG // 3),
    "{": "{" * LONG,
    "}": "}" * LONG,
    "{a": "{a" * (LONG // 2),
    '{"a":1,': "{" + '"a":1,' * (LONG // 6),
    "prose": "I like {cats}, [dogs] and (all) the rest of them. " * (LONG // 50),
    "fences": "```json\n{" * (LONG // 9),
    "fence and space": "```json" + " " * LONG + "x",
    "fence, words and lines": "```json of it\n" + " \n" * (LONG // 2) + "x",
    "fence, words and fences": "```json of it\n" + "`" * LONG + "x",
    "NaN": "[" + "NaN," * (LONG // 4),
    "far exponents": "[" + "1e99999999999999999999," * (LONG // 23) + "1]",
    "surrogates": '"' + "\ud800" * LONG + '"',
    "escaped surrogates": '["' + "\\ud800" * (LONG // 6) + '"]',
    "nulls": "\x00" * LONG,
    "name twice": "{" + "".join(f'"{n}":1,' for n in range(LONG // 9)) + '"0":1}',
    "action_input": '"action_input": "' * (LONG // 17),
    "words": "{" + "a" * LONG,
    "commas": "[1" + "," * LONG,
    "spread": ("[" + " " * 1000) * (LONG // 1001),
}


@pytest.mark.once
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("parsing", PARSINGS)
def test_no_text_of_200_kb_takes_long(name, parsing):
    for read in (check, parse):
        with at_most(3):
            read(HOSTILE[name], parsing)


@pytest.mark.once
@pytest.mark.parametrize("read", [check, parse])
@pytest.mark.parametrize("parsing", PARSINGS)
def test_the_time_for_a_character_does_not_grow(read, parsing):
    record = '{"id": 12, "name": "Ann \\"B\\" Lee", "tags": ["a", "b"], "sum": 12.5, "ok": true}'
    texts = ["[" + ",".join([record] * n) + "]" for n in (12, 12_000)]

    def read_often(text: str) -> None:
        for _ in range(200):
            read(text, parsing)

    for damage in (0, 40):  # whole, and cut
        small, large = (text[: len(text) - damage] for text in texts)
        each = seconds(read_often, small) / 200
        assert seconds(read, large, parsing) < 20_000 * each


@pytest.mark.once
def test_50_mb_are_read():
    text = '["' + "a" * 50_000_000 + '"]'
    assert check(text) is None
    assert check(text[:-1]).name == "truncated"
    assert check("```json\n" + text + "\n```") is None


@pytest.mark.once
@pytest.mark.parametrize("kind", ["array", "object", "both"])
@pytest.mark.parametrize("parsing", PARSINGS)
def test_400_levels_are_read_and_100_000_are_too_deep(kind, parsing):
    value = nested(400, 1.5, kind)
    text = json.dumps(value)
    assert parse(text, parsing) == parse(value, parsing) == value
    assert check(text, parsing) is check(value, parsing) is None
    value = nested(100_000, 1.5, kind)
    assert parse(value, parsing).name == check(value, parsing).name == "too_deep"
    opening, closing = {"array": ("[", "]"), "object": ('{"a":', "}"), "both": ('[{"a":', "}]")}[
        kind
    ]
    for text in (opening * 100_000 + "1" + closing * 100_000, opening * 100_000):
        assert parse(text, parsing).name == check(text, parsing).name == "too_deep"


@pytest.mark.parametrize("parsing", PARSINGS)
@pytest.mark.parametrize("kind", ["array", "object", "both"])
@pytest.mark.parametrize("above", [0, 500])
def test_900_levels_are_read_and_not_one_more_from_wherever_it_is_called(parsing, kind, above):
    def deep(levels: int, value: Any, text: str) -> list[Any]:
        if levels:
            return deep(levels - 1, value, text)
        return [parse(text, parsing), check(text, parsing), parse(value, parsing)]

    value, deeper = nested(900, 1, kind), nested(901, 1, kind)
    assert deep(above, value, json.dumps(value)) == [value, None, value]
    found = deep(above, deeper, json.dumps(deeper))
    assert [defect.name for defect in found] == ["too_deep"] * 3


@pytest.mark.parametrize("levels", [890, 980, 1000, 1490, 1510, 4990, 5010, 9990, 20_000])
def test_the_limit_of_the_stack_is_no_crash(levels):
    for text in ("[" * levels + "]" * levels, '{"a":' * levels + "1e400" + "}" * levels):
        for parsing in PARSINGS:
            for found in (parse(text, parsing), check(text, parsing)):
                assert not isinstance(found, Defect) or found.name == "too_deep"


def test_brackets_in_texts_are_not_levels():
    assert check(json.dumps(["[" * 100_000, '"[{' * 20_000, "\\" * 7])) is None


def test_a_value_that_holds_itself_is_too_deep():
    array: list[Any] = []
    array.append(array)
    members: dict[str, Any] = {}
    members["a"] = [members]
    assert parse(array).name == parse(members, "lenient").name == "too_deep"


@pytest.mark.parametrize(
    "text", ["[" * 450 + "]" * 450, "[" * 450 + "1e400" + "]" * 450, "[" * 450]
)
@pytest.mark.parametrize("parsing", PARSINGS)
def test_the_caller_s_stack_changes_nothing(text, parsing):
    def deep(levels: int) -> Any:
        return deep(levels - 1) if levels else (parse(text, parsing), check(text, parsing))

    assert deep(sys.getrecursionlimit() - 150) == (parse(text, parsing), check(text, parsing))


class Hostile:
    """Answers nothing."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    __repr__ = __str__ = __hash__ = None  # type: ignore[assignment]


NO_JSON = [
    *(
        object(),
        Hostile(),
        Hostile,
        int,
        len,
        {1, 2},
        iter([]),
        1j,
        ...,
        range(3),
        memoryview(b"1"),
    ),
    *({None: 1}, {(1,): 2}, [Hostile()], {"a": Hostile()}, Decimal("sNaN"), b"\xff\xfe"),
]


@pytest.mark.parametrize("value", NO_JSON, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("parsing", PARSINGS)
def test_no_type_crashes_it(value, parsing):
    found = parse(value, parsing)
    assert isinstance(found, Defect)
    assert check(value, parsing) == found


@law
@given(st.recursive(st.from_type(type).flatmap(st.from_type) | documents, st.lists, max_leaves=3))
def test_nothing_that_python_builds_crashes_it(value):
    for parsing in PARSINGS:
        parse(value, parsing)
        check(value, parsing)


def test_threads_do_not_mix():
    texts = [
        '{"a": [1, 2',
        "[" * 480 + "]" * 480,
        '{"a": 1e400}',
        "```json\n[1]\n```",
        "prose",
    ] * 20
    expected = [parse(text, "lenient") for text in texts]
    found: list[list[Any]] = []
    readers = [
        threading.Thread(target=lambda: found.append([parse(text, "lenient") for text in texts]))
        for _ in range(6)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == [expected] * 6
