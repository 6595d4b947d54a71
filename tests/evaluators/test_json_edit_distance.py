"""Edit distance of canonical JSON texts: rapidfuzz's figures, options, bounded work."""

import pytest

from llmeval_integrations import JsonEditDistance

EVALUATOR = JsonEditDistance()


@pytest.mark.parametrize(
    ("output", "reference", "score"),
    [
        ('{"a": 1.0}', '{"a": 1}', 0.0),
        ('"é"', '"\\u00e9"', 0.0),
        ("true", "1", 1.0),
        ("12", "21", 1 / 2),  # one swap
        ("null", '"null"', 2 / 6),
        ("[]", "{}", 1.0),
        # as LangChain's documents print them
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 3}', 0.07692307692307693),
        ('\n{\n"b": 3,\n"a": 1\n}', '{"a": 1, "b": 3}', 0.0),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', 0.18181818181818182),
        ({"a": 1}, {"a": 2}, 0.14285714285714285),
    ],
)
def test_the_share_of_the_text_that_would_be_typed_anew(output, reference, score):
    result = EVALUATOR(output, reference)
    assert result.score == score
    assert result.passed is (score == 0)
    assert result.metadata == {"exact": True}


def test_a_function_sees_what_canonicalize_writes():
    seen = []

    def measure(one, other):
        seen.append((one, other))
        return 0.25

    result = JsonEditDistance(string_distance=measure, canonicalize=repr)('{"a": 1}', "[2]")
    assert seen == [("{'a': 1}", "[2]")]
    assert (result.score, result.passed) == (0.25, False)
    broken = EVALUATOR("{", "{}")
    assert (broken.score, broken.passed, broken.label) == (1.0, False, "truncated")
