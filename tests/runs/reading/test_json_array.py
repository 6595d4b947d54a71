"""A JSON array is read item by item, as if it had been read whole."""

import json
import tracemalloc

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from json_strategies import broken_texts, documents

from llmeval_integrations import InputError
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.runs.reading import json_array
from llmeval_integrations.runs.reading.opening import open_source

OBJECTS = st.lists(st.dictionaries(st.text(max_size=3), documents, max_size=3), max_size=6)


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.json"

    def rows(text, part=2**18):
        path.write_bytes(text if isinstance(text, bytes) else text.encode(errors="surrogatepass"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_array, "_PART", part)
            source = open_source(path)
            found = list(source.records)
        assert source.share in (None, 1.0)
        return found

    return rows


@given(OBJECTS, st.sampled_from([None, 1]), st.integers(1, 40), st.booleans())
@settings(max_examples=100, deadline=None)
def test_items_are_those_of_the_whole(read, objects, indent, part, ascii_only):
    text = json.dumps(objects, indent=indent, ensure_ascii=ascii_only)
    whole = decode_as_python(text)
    found = read(f"\n {text}\n", part)
    assert json.dumps(found, default=str) == json.dumps(list(enumerate(whole, 1)), default=str)


@given(broken_texts, st.integers(1, 40))
@settings(max_examples=150, deadline=None)
def test_what_is_no_array_is_refused_with_the_words_for_the_whole(read, text, part):
    assume(text.encode(errors="ignore").decode() == text)
    text = f"[{text}"
    try:
        expected = len(decode_as_python(text))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, " if error.lineno > 1 else ""
        expected = f"not JSON: {error.msg.removesuffix(' at')} at {place}column {error.colno}"
    try:
        found = len(read(text, part))
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
        (b'[{"a": 1}, {"b": "\xff"}]', "byte 19 is not UTF-8"),
        ('[{"a": 1}, ' + "[" * 100_000, "nested too deep"),
    ],
)
@pytest.mark.parametrize("part", [1, 2**18])
def test_the_place_is_that_in_the_file(read, text, message, part):
    with pytest.raises(InputError, match=f"{message}$"):
        read(text, part)


def test_an_item_that_cannot_be_read_is_a_row_of_its_own(read):
    found = dict(read(b'[{"a": "\xff"}, 5, {"a": 1e9999999999999999999}, {"a": NaN}, {"b": 1}]'))
    assert [str(found[number]) for number in (1, 2)] == ["byte 8 is not UTF-8", "expected a JSON object, got 5"]  # fmt: skip
    assert "a number beyond all bounds" in str(found[3])
    assert str(found[4]) == "{'a': nan}"
    assert found[5] == {"b": 1}


@pytest.mark.nightly
@pytest.mark.once
@pytest.mark.parametrize("separator", [",", ",\n"])
def test_memory_does_not_grow_with_the_array(tmp_path, separator):
    row = json.dumps({"output": "x" * 1000})
    path = tmp_path / "rows.json"
    path.write_text(f"[{separator.join([row] * 20_000)}]")
    tracemalloc.start()
    source = open_source(path)
    assert sum(1 for _ in source.records) == 20_000
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3_000_000


def test_an_item_that_is_long_is_not_read_again_and_again(tmp_path, monkeypatch):
    monkeypatch.setattr(json_array, "_PART", 100)
    tried = []
    skip = json_array._skip
    monkeypatch.setattr(json_array, "_skip", lambda text: tried.append(len(text)) or skip(text))
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"output": "x" * 1_000_000}, {"output": "y"}]))
    assert sum(1 for _ in open_source(path).records) == 2
    assert len(tried) < 30
