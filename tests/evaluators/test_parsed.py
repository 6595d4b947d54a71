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
    for output in ("{}", "{", "", None, reference):
        with pytest.raises(InvalidReferenceError) as raised:
            kind()(output, reference)
        assert str(raised.value).startswith(f"{kind.name}: the reference ")
        assert f"({BROKEN[reference]})" in str(raised.value)


@comparing
def test_a_missing_reference_is_not_null_nor_is_an_output_of_nothing(kind):
    for output in ("null", None, "{"):
        for fields in ((), (None,)):
            with pytest.raises(MissingFieldError):
                kind()(output, *fields)
    assert kind()("null", "null").passed
    result = kind()(None, "null")
    assert (result.passed, result.label) == (False, "empty")


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
