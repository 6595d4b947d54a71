"""Which value of a framework's mappings is which field of a sample, and what it can keep."""

import pytest
from framework_cases import judge

from llmeval_integrations import (
    InputError,
    InvalidOptionError,
    JsonEquality,
    JsonValidity,
    MissingFieldError,
    Sample,
)
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.evaluators.text import to_storable_text
from llmeval_integrations.frameworks._samples import Keys, sample_of
from llmeval_integrations.json_values.python_values import as_python

TWO = {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("key", "outputs", "output"),
    [
        (None, "text", "text"),
        (None, [1, 2], [1, 2]),
        (None, 0, 0),
        (None, {"answer": "text"}, "text"),
        (None, {"answer": {"a": 1}}, {"a": 1}),
        ("", {"answer": "text"}, {"answer": "text"}),
        ("", "text", "text"),
        ("b", TWO, 2),
        ("a", {"a": None}, None),
        (None, {"a": None}, None),
    ],
)
def test_an_output_is_named_or_the_only_one_there_is(key, outputs, output):
    assert Keys(output=key).sample(JsonValidity(), None, outputs, None).output == output


@pytest.mark.parametrize(
    ("keys", "evaluator", "inputs", "outputs", "references", "error", "message"),
    [
        (Keys(), JsonValidity(), None, TWO, None, InputError, r"the output is one of \['a', 'b'\]; name"),
        (Keys(), JsonEquality(), None, "1", TWO, InputError, 'name it with reference="...", or'),
        (Keys(), judge(), "?", "1", TWO, InputError, "safety: the reference is one of"),
        (Keys("c"), JsonValidity(), None, TWO, None, InputError, r"output='c': there is no such key, only \['a', 'b'\]"),
        (Keys("c"), JsonValidity(), None, "text", None, InputError, "no such key, only 'text'"),
        (Keys(input="c"), JsonValidity(), TWO, "1", None, InputError, "input='c'"),
        (Keys(), JsonValidity(), None, None, None, MissingFieldError, "needs an output"),
        (Keys(), JsonValidity(), None, {}, None, MissingFieldError, "needs an output"),
    ],
)  # fmt: skip
def test_nothing_is_guessed(keys, evaluator, inputs, outputs, references, error, message):
    with pytest.raises(error, match=message):
        keys.sample(evaluator, inputs, outputs, references)


def test_a_reference_that_nobody_looks_at_may_be_one_of_several():
    assert Keys().sample(JsonValidity(), None, "1", TWO).reference is MISSING


def test_several_inputs_are_one_mapping_and_variables_by_their_names():
    sample = Keys().sample(JsonValidity(), TWO, "1", None, variables={"b": 3})
    assert (sample.input, sample.variables) == (TWO, {"a": 1, "b": 3})


def test_contexts_stand_among_the_outputs():
    outputs = {"answer": "1", "documents": ["one", "two"]}
    keys = Keys(output="answer", contexts="documents")
    assert keys.sample(JsonValidity(), None, outputs, None).contexts == ["one", "two"]


def test_a_key_is_a_text():
    with pytest.raises(InvalidOptionError, match="reference=3 is not a text, or None"):
        Keys(reference=3)


def test_none_is_an_absent_field_and_a_text_one_context():
    sample = sample_of(JsonValidity(), "{}", reference=None, contexts="one", id=0)
    assert sample == Sample("{}", contexts=["one"], id=0)


@pytest.mark.parametrize(
    ("value", "text"),
    [("é", "é"), ("\ud800", r"\ud800"), (["\ud800", None], r"['\ud800', None]"), (0.5, "0.5"), (True, "true")],
)  # fmt: skip
def test_any_value_is_a_text_that_utf8_holds(value, text):
    assert to_storable_text(value) == text
    to_storable_text(value).encode()


def test_of_a_field_that_is_missing_it_is_said_how_it_is_given():
    with pytest.raises(
        MissingFieldError, match="json_equality needs a reference, and there is none; as gold"
    ):
        sample_of(JsonEquality(), "1", given="as gold")
    with pytest.raises(MissingFieldError, match="needs an output, and there is none; as gold"):
        Keys().sample(JsonEquality(), None, None, "1", given="as gold")
    assert sample_of(JsonEquality(), "1").reference is MISSING


def array(*numbers):
    return pytest.importorskip("numpy").array(numbers)


@pytest.mark.parametrize(
    ("make", "plain"),
    [
        (lambda: array(1, 2), [1, 2]),
        (lambda: array([1.5], [2.0]), [[1.5], [2.0]]),
        (lambda: {"a": [array("x"), "y"]}, {"a": [["x"], "y"]}),
        (lambda: (array(1), 2), [[1], 2]),
        (lambda: array(True)[0], True),
        (lambda: {"a": array(1)[0], "\ud800": None}, {"a": 1, "\ud800": None}),
    ],
)
def test_arrays_and_numbers_of_numpy_are_those_of_python(make, plain):
    value = as_python(make())
    assert value == plain
    assert str(value) == str(plain)  # for equal numbers may be of other types
    assert sample_of(JsonEquality(), make(), contexts=make()).contexts == plain


class Broken:
    def tolist(self):
        raise RuntimeError("on another device")


DEEP = [Broken()]
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize("value", ["x", None, [1], {"a": (1,)}, {1, 2}, object(), [Broken()], DEEP])
def test_what_has_no_array_or_cannot_be_looked_through_stays_as_it_is(value):
    assert as_python(value) is value
