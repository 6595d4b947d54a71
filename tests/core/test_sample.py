"""What an evaluator looks at."""

import copy
import pickle

import pytest

from llmeval_integrations import MISSING, InputError, MissingFieldError, Sample
from llmeval_integrations.core.sample import Missing, as_sample

FIELDS = ("output", "reference", "input", "contexts", "variables", "id")


def test_missing_is_one_thing_and_false():
    assert not MISSING
    assert repr(MISSING) == "MISSING"
    for twin in (copy.deepcopy(MISSING), pickle.loads(pickle.dumps(MISSING)), Missing.MISSING):  # noqa: S301
        assert twin is MISSING


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


def test_a_sample_cannot_be_changed_but_copied_compared_and_pickled():
    sample = Sample({"a": [1]}, reference=MISSING, id="x")
    with pytest.raises(AttributeError):
        sample.output = 1
    for twin in (copy.deepcopy(sample), copy.copy(sample), pickle.loads(pickle.dumps(sample))):  # noqa: S301
        assert twin == sample
        assert twin.reference is MISSING
    assert repr(sample).startswith("Sample(output={'a': [1]}, reference=MISSING")
