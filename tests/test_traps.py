"""What peers fell into, one case each, for every evaluator that it concerns."""

import contextlib
import http.server
import json
import threading

import pytest
from pace import at_most

from llmeval_integrations import (
    ExactMatch,
    InvalidOptionError,
    InvalidSchemaError,
    JsonEditDistance,
    JsonEquality,
    JsonMatch,
    JsonObject,
    JsonSchema,
    JsonValidity,
    LengthPenalty,
    MissingDependencyError,
    NgramRepetitionPenalty,
    PythonType,
    ReasoningFormat,
    ReasoningToolCallFormat,
    RegexMatch,
    RegexTimeoutError,
    Sample,
    StringDistance,
)

EXACT = ["strict", "markdown"]
COMPARING = [
    kind(parsing=parsing)
    for kind in (JsonEquality, JsonMatch, JsonEditDistance)
    for parsing in EXACT
] + [
    JsonEquality(list_order="any"),
    JsonEquality(list_order="top_level_any"),
    JsonMatch(strict_order=False),
    JsonMatch(strict_order=False, ignore_extra_keys=True),
]
READING = [
    *(kind(parsing) for kind in (JsonValidity, JsonObject) for parsing in EXACT),
    JsonSchema({}),
]
OTHERS = [
    ExactMatch(), StringDistance(), PythonType("dict"), LengthPenalty(), NgramRepetitionPenalty(),
    ReasoningFormat(), ReasoningToolCallFormat(), RegexMatch("a", where="search"),
]  # fmt: skip
LENIENT = [
    kind(parsing="lenient")
    for kind in (JsonEquality, JsonMatch, JsonEditDistance, JsonValidity, JsonObject)
] + [JsonSchema({}, parsing="lenient")]
ALL = [*COMPARING, *READING, *OTHERS, *LENIENT]


def within(seconds, call):
    with at_most(seconds):
        return call()


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.once
@pytest.mark.parametrize("depth", [150, 600, 5_000, 100_000])
@pytest.mark.parametrize("kind", ["arrays", "objects", "open arrays", "value"])
def test_deep_nesting_does_not_raise(depth, kind):
    output = {
        "arrays": lambda: "[" * depth + "]" * depth,
        "objects": lambda: '{"a":' * depth + "1" + "}" * depth,
        "open arrays": lambda: "[" * depth,
        "value": lambda: nested(depth),
    }[kind]()
    for evaluator in ALL:
        result = within(3, lambda: evaluator.evaluate(Sample(output, "[1]")))  # noqa: B023
        assert result.score is not None, evaluator
        assert not (result.passed and evaluator in COMPARING), evaluator


def test_a_dictionary_may_be_the_output():
    for evaluator in ALL:
        result = evaluator.evaluate(Sample({"a": {"b": [1, None]}}, {"a": {"b": [1, None]}}))
        assert result.score is not None, evaluator
        assert result.passed or evaluator in OTHERS, evaluator


PROSE = {
    "prose": "It is what it is, and so on; " * 7_000,
    "prose with quotes": 'He said "no" and {she} [too]: "yes", ' * 5_500,
    "open brackets": '{"a": [' * 30_000,
    "open quotes": '"' * 200_000,
    "backslashes": "\\" * 200_000,
    "back-ticks": "`" * 200_000,
    "fences": "```json\n" * 25_000,
    "brackets": "}" * 100_000 + "{" * 100_000,
    "commas": "[" + "," * 200_000,
    "numbers": "[" + "1," * 100_000,
    "truncated records": '[{"id": 1, "name": "x"}, ' * 8_000,
    "spaces": "{" + " " * 200_000 + "x",
    "action inputs": '"action_input": "' * 12_000,
}


@pytest.mark.once
@pytest.mark.parametrize("kind", PROSE)
def test_200_kilobytes_of_prose_take_no_time(kind):
    sample = Sample(PROSE[kind], '{"a": 1}')
    for evaluator in ALL:
        result = within(2, lambda: evaluator.evaluate(sample))  # noqa: B023
        assert result.score is not None, evaluator


def tiktoken_evaluator(**options):
    pytest.importorskip("tiktoken")
    try:
        return NgramRepetitionPenalty(tokenizer="tiktoken", **options)
    except MissingDependencyError:
        pytest.skip("no vocabulary on this machine")  # tiktoken would download it


def test_the_name_of_a_special_token_does_not_raise():
    result = tiktoken_evaluator(n=1)("The end. <|endoftext|>")
    assert result.metadata["token_count"] > 3
    for evaluator in ALL:
        assert evaluator.evaluate(Sample("<|endoftext|>", "[1]")).score is not None


def test_no_schema_is_fetched_over_http_or_from_a_file(tmp_path):
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        file = tmp_path / "schema.json"
        file.write_text("true")
        for address in (f"http://127.0.0.1:{server.server_port}/schema.json", file.as_uri()):
            with pytest.raises(InvalidSchemaError, match="nothing is fetched"):
                JsonSchema()("1", {"$ref": address})
            with pytest.raises(InvalidSchemaError):
                JsonSchema()("1", {"$schema": address})
            with pytest.raises(InvalidOptionError):
                JsonSchema({"properties": {"a": {"$ref": address}}})
        server.shutdown()
    assert asked == []


def test_a_pattern_with_nested_repetition_does_not_hang():
    text = "a" * 30 + "!"
    assert within(2, lambda: JsonSchema({"pattern": "^(a+)+$"})(json.dumps(text))).passed is False
    with pytest.raises(RegexTimeoutError):
        within(2, lambda: JsonSchema({"pattern": "^((?=a)a+)+$"})(json.dumps(text * 2)))
    with contextlib.suppress(RegexTimeoutError):
        assert within(2, lambda: RegexMatch("^(a+)+$")(text)).score == 0
    with pytest.raises(RegexTimeoutError):
        within(2, lambda: RegexMatch("^(a|aa)+$", timeout=0.5)("a" * 60 + "!"))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$ref": "#"}}, "items": {"$ref": "#"}},
    ],
)
def test_a_schema_that_refers_to_itself_comes_to_an_end(schema):
    for output in ("1", "{}", '{"a": {"a": {"a": 1}}}', "[" * 100 + "]" * 100):
        assert within(2, lambda text=output: JsonSchema(schema)(text)).score in (True, False)


def test_a_regular_expression_that_fills_any_memory_when_compiled_is_refused():
    pattern = "(?:" * 9 + "a" + "{9})" * 9
    with pytest.raises(ValueError, match="written out"):
        RegexMatch(pattern)
    with pytest.raises(ValueError, match="written out"):
        RegexMatch()("a", pattern)


def test_a_schema_that_says_everything_twice_at_each_level_takes_no_time():
    twice = {"properties": {"c": {"$ref": "#/$defs/n"}}}
    schema = {"$defs": {"n": {"type": "object", **twice, "allOf": [twice]}}, "$ref": "#/$defs/n"}
    result = within(1, lambda: JsonSchema(schema)('{"c":' * 40 + "1" + "}" * 40))
    assert result.passed is False
    assert result.metadata["limit_reached"] == [""]
    assert len(result.metadata["errors"]) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"propertyNames": {"pattern": "^[a-z]+$"}},
        {"required": [f"missing {n}" for n in range(1_000)]},
        {"allOf": [{"allOf": [{"required": [f"missing {n}"]}]} for n in range(1_000)]},
        {"dependentRequired": {f"k{n}": ["missing"] for n in range(1_000)}},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_a_thousand_errors_about_one_large_object_do_not_copy_it_a_thousand_times(schema):
    output = json.dumps({f"k{n}": "v" * 90 for n in range(5_000)})
    result = within(1, lambda: JsonSchema(schema)(output))
    assert result.passed is False
    assert result.metadata["limit_reached"] == [""]
    assert len(result.metadata["errors"]) == 1


def test_arrays_in_any_order_inside_of_each_other_are_written_once():
    output, reference = (
        "[" * 80 + ",".join(map(str, items)) + "]" * 80
        for items in (range(20_000), range(1, 20_001))
    )
    assert within(3, lambda: JsonMatch(strict_order=False)(output, reference)).score == 0.0
