"""Which value of a framework's mappings is which field of a sample."""

import pytest
from framework_cases import judge

from llmeval_integrations import (
    InputError,
    JsonEquality,
    JsonValidity,
    MissingFieldError,
)
from llmeval_integrations.frameworks._base import Keys

TWO = {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("key", "outputs", "output"),
    [
        (None, "text", "text"),
        (None, [1, 2], [1, 2]),
        (None, {"answer": {"a": 1}}, {"a": 1}),
        ("", {"answer": "text"}, {"answer": "text"}),
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
        (Keys(input="c"), JsonValidity(), TWO, "1", None, InputError, "input='c'"),
        (Keys(), JsonValidity(), None, {}, None, MissingFieldError, "needs an output"),
        (Keys(), JsonEquality(), None, "1", None, MissingFieldError, 'needs a reference, .* text "null"'),
    ],
)  # fmt: skip
def test_nothing_is_guessed(keys, evaluator, inputs, outputs, references, error, message):
    with pytest.raises(error, match=message):
        keys.sample(evaluator, inputs, outputs, references)
