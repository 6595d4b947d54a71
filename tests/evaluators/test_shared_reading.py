"""Several evaluators of one sample read its texts once, and say the same as each by itself."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_strategies import documents

from llmeval_integrations import (
    JsonEquality,
    JsonFields,
    JsonMatch,
    JsonObject,
    JsonSchema,
    JsonSimilarity,
    JsonValidity,
    Sample,
    evaluate,
)
from llmeval_integrations.core.errors import EvalError
from llmeval_integrations.evaluators.json_evaluator import share

EVALUATORS = [
    *(JsonValidity(parsing=parsing) for parsing in ("markdown", "strict", "lenient")),
    *(kind() for kind in (JsonObject, JsonMatch, JsonEquality, JsonFields, JsonSimilarity)),
    JsonMatch(parsing="lenient"),
    JsonEquality(operator=lambda one, other: one == other),
    JsonSchema({"type": "object"}),
]
texts = documents.map(str) | st.text(max_size=20) | documents


class Counted:
    """A model's value that counts how often it is read."""

    def __init__(self, value):
        self.value, self.read = value, 0

    def model_dump(self, mode):
        self.read += 1
        return self.value


def said(evaluator, sample):
    try:
        return evaluator.evaluate(sample)
    except EvalError as error:
        return repr(error)


def test_a_run_reads_output_and_reference_once():
    output, reference = Counted({"a": 1}), Counted({"a": 2})
    evaluate([Sample(output, reference)], [JsonObject(parsing="markdown"), JsonMatch(), JsonSchema({"type": "object"}), JsonFields()])  # fmt: skip
    assert (output.read, reference.read) == (1, 1)


def test_an_output_that_cannot_be_compared_with_a_text_is_not_json():
    numpy = pytest.importorskip("numpy")
    run = evaluate([Sample(numpy.array([1, 2]), "[1, 2]")], [JsonFields(), JsonMatch()])
    assert [(row.score, row.label) for row in run.rows] == [(0.0, "not_json")] * 2


@given(texts, texts)
@example('{"a": 1', '{"a": 1}')
@example("[NaN]", "[NaN]")
@example("[1e9999999999999999999]", "[1E9999999999999999999]")
def test_what_is_read_together_is_judged_as_by_itself(output, reference):
    shared, plain = Sample(output, reference), Sample(output, reference)
    share([shared])
    for _ in range(2):  # nobody has changed what the others read
        for evaluator in EVALUATORS:
            assert said(evaluator, shared) == said(evaluator, Sample(output, reference))
    assert (shared, repr(shared)) == (plain, repr(plain))
