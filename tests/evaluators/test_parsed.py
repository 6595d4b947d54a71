"""Reading references: present, JSON, and never mistaken for the model's fault."""

import pytest

from llmeval_integrations import (
    InvalidReferenceError,
    JsonEditDistance,
    JsonEquality,
    JsonFields,
    JsonMatch,
    MissingFieldError,
)

COMPARING = [JsonEquality, JsonEditDistance, JsonFields, JsonMatch]
comparing = pytest.mark.parametrize("kind", COMPARING)

BROKEN = {
    "": "empty", "prose": "prose", "{": "truncated", "[1,]": "trailing_comma", '{"a": NaN}': "nan_or_infinity",
    "{} {}": "extra_data", "[" * 100_000: "too_deep", '"\\ud800"': "lone_surrogate", "}": "mismatched_bracket",
}  # fmt: skip


@comparing
@pytest.mark.parametrize("reference", BROKEN, ids=BROKEN.values())
def test_a_broken_reference_names_itself_and_its_defect_whatever_the_output(kind, reference):
    for output in ("{}", "{", "", None):
        with pytest.raises(InvalidReferenceError) as raised:
            kind()(output, reference)
        assert str(raised.value).startswith(f"{kind.name}: the reference ")
        assert f"({BROKEN[reference]})" in str(raised.value)


@comparing
def test_the_same_broken_text_on_both_sides_is_still_a_broken_reference(kind):
    for parsing in ("strict", "markdown"):
        for text in BROKEN:
            with pytest.raises(InvalidReferenceError):
                kind(parsing=parsing)(text, text)


@comparing
def test_a_missing_reference_is_not_null(kind):
    for output in ("null", None, "{", "{}"):
        for fields in ((), (None,)):
            with pytest.raises(MissingFieldError):
                kind()(output, *fields)
    assert kind()("null", "null").passed
    assert not kind()("{}", "null").passed


@comparing
def test_what_gave_nothing_is_no_null(kind):
    result = kind()(None, "null")
    assert (result.passed, result.label) == (False, "empty")
    assert result == kind()("", "null")


@comparing
def test_the_reference_is_read_in_the_mode_of_the_output(kind):
    fenced = "```json\n[1]\n```"
    assert kind()("[1]", fenced).passed
    assert kind(parsing="lenient")("[1]", "[1").passed
    for reference, defect in (
        (fenced, "code_fence"),
        ('{"a": 1, "a": 1}', "duplicate_key"),
        (" [1", "truncated"),
    ):
        with pytest.raises(InvalidReferenceError, match=defect):
            kind(parsing="strict")("[1]", reference)


@comparing
def test_the_same_text_twice_is_equal_only_where_it_is_json(kind):
    for parsing in ("strict", "markdown"):
        assert kind(parsing=parsing)('{"a": [1, null]}', '{"a": [1, null]}').passed
    assert kind(parsing="lenient")('{"a": 1', '{"a": 1').passed
