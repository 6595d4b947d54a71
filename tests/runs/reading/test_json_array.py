"""The items of a JSON array are rows; a name that stands twice in a row is an error."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from json_strategies import broken_texts, documents

from llmeval_integrations import InputError
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.runs.reading.opening import open_source

OBJECTS = st.lists(st.dictionaries(st.text(max_size=3), documents, max_size=3), max_size=6)


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.json"

    def rows(text):
        path.write_bytes(text if isinstance(text, bytes) else text.encode(errors="surrogatepass"))
        source = open_source(path)
        found = list(source.records)
        assert source.share in (None, 1.0)
        return found

    return rows


@given(OBJECTS, st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_items_are_those_of_the_whole(read, objects, indent, ascii_only):
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_only)
    whole = decode_as_python(text)
    found = read(f"\n {text}\n")
    assert json.dumps(found, default=str) == json.dumps(list(enumerate(whole, 1)), default=str)


@given(broken_texts)
@settings(max_examples=150, deadline=None)
def test_what_is_no_array_is_refused_with_the_words_for_the_whole(read, text):
    assume(text.encode(errors="ignore").decode() == text)
    text = f"[{text}"
    try:
        expected = len(decode_as_python(text))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, " if error.lineno > 1 else ""
        expected = f"not JSON: {error.msg.removesuffix(' at')} at {place}column {error.colno}"
    try:
        found = len(read(text))
    except InputError as error:
        found = str(error).partition("rows.json: ")[2]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1},\n ]', "at line 2, column 2"),
        ('[{"é": 1}, {"b": ü}]', "at column 18"),
        ('[{"a": 1}]\n\n,', "Extra data at line 3, column 1"),
        ('[{"a": 1}, {"b": "\0"}]', "Invalid control character at column 19"),
        ('[{"a": 1}, ' + "[" * 100_000, "nested too deep"),
    ],
)
def test_the_place_is_that_in_the_file(read, text, message):
    with pytest.raises(InputError, match=f"{message}$"):
        read(text)


def test_an_item_that_cannot_be_read_is_a_row_of_its_own(read):
    found = dict(read(b'[{"a": "\xff"}, 5, {"a": 1e9999999999999999999}, {"b": 1}]'))
    assert [str(found[number]) for number in (1, 2)] == ["byte 8 is not UTF-8", "expected a JSON object, got 5"]  # fmt: skip
    assert "a number beyond all bounds" in str(found[3])
    assert found[4] == {"b": 1}
    assert str(dict(read('[{"a": NaN}, 5]'))[1]) == "{'a': nan}"


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ('{"output": "{}", "output": "[]"}', "output"),
        ('{"é": 1, "é": 1}', "é"),
        ('{"id": 1, "output": {"id": 1}, "id": 2}', "id"),
        ('{"": 1, "": 2}', ""),
        ('{"output": {"id": 1, "id": 2}}', None),  # a value's own matter
        ('{"output": "output", "id": "output"}', None),
        ('{"output": "{\\"output\\": 1}"}', None),
        ('{"id": {"id": [{"id": 1}]}}', None),
    ],
)
@pytest.mark.parametrize("form", ["{}\n", "[{}]"])
def test_a_name_that_stands_twice_in_a_row_is_an_error(tmp_path, row, name, form):
    path = tmp_path / ("rows.json" if form == "[{}]" else "rows.jsonl")
    path.write_text(form.replace("{}", row))
    [(_, found)] = open_source(path).records
    if name is None:
        assert json.dumps(found) == json.dumps(json.loads(row))
    else:
        assert str(found) == f"the name {name!r} stands twice"
