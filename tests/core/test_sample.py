"""What an evaluator looks at."""

import pytest

from llmeval_integrations import InputError, MissingFieldError, Sample
from llmeval_integrations.core.sample import as_sample

FIELDS = ("output", "reference", "input", "contexts", "variables", "id")


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ("reference", "a reference"),
        ("input", "an input"),
        ("contexts", "contexts"),
    ],
)
def test_a_field_that_is_needed_and_missing_is_named(field, named):
    for fields in ({}, {field: None}):
        with pytest.raises(
            MissingFieldError, match=f"json_match needs {named},.*{field}="
        ) as raised:
            Sample("a", **fields).require(field, "json_match")
        assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize(
    "thing", [{"output": "a"}, {"output": None, "id": 5}, dict.fromkeys(FIELDS, "x")], ids=str
)
def test_a_mapping_of_fields_is_a_sample(thing):
    assert as_sample(thing) == Sample(**thing)


@pytest.mark.parametrize(
    ("thing", "named"),
    [
        ("a text", "'a text'"),
        ({}, "needs an output"),
        ({"output": 1, "prediction": 2}, "prediction"),
        ([10**5000], "got"),
        ("long " * 10**6, "long"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, (str, dict)) else "",
)
def test_anything_else_is_an_error_that_shows_it(thing, named):
    with pytest.raises(InputError, match=named) as raised:
        as_sample(thing)
    assert len(str(raised.value)) < 600
