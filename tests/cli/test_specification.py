"""Evaluators written as text."""

import pytest

from llmeval_integrations import (
    EvalError,
    InputError,
    InvalidOptionError,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    LengthPenalty,
    RegexMatch,
    WeightedSum,
)
from llmeval_integrations.cli.specification import (
    Specification,
    build,
    parse_specification,
    read_files,
)

OPTIONS = [
    ("", {}),
    ("a=two words,b=x", {"a": "two words", "b": "x"}),
    ("a=,b=1", {"a": "", "b": 1}),
    ("a=1,2,b=3", {"a": "1,2", "b": 3}),
    ("a=[^,]+,b=1", {"a": "[^,]+", "b": 1}),
    ('a="@literal",b=@@x', {"a": "@literal", "b": "@x"}),
    ("a=007,b=True", {"a": "007", "b": "True"}),
]


@pytest.mark.parametrize(("text", "options"), OPTIONS)
def test_options_are_json_else_text(text, options):
    assert parse_specification(f"e:{text}") == Specification("e", options)
    assert parse_specification(f" my name = e :{text}").name == "my name"


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'{"type": "object"}', {"type": "object"}),
        (b"\xef\xbb\xbf[1]\r\n", [1]),
        (b"^a+$\n", "^a+$"),
        ("two\nlines é\r\n".encode(), "two\nlines é"),
    ],
)
def test_an_option_can_be_in_a_file(tmp_path, content, value):
    (tmp_path / "the file").write_bytes(content)
    found = parse_specification("e:a=@the file,b=1", tmp_path)
    assert found.options == {"a": value, "b": 1}


WRONG = [
    ("", "is not \\[NAME=\\]EVALUATOR"),
    ("e:strict", "'strict' is not OPTION=VALUE"),
    ("e:a=1,a=2", "the option a is given twice"),
    ("e:a=@missing.json", "cannot read .*missing.json: No such file"),
    ("json_mtch", "did you mean 'json_match'"),
    ("json_match:strict=true", "json_match has no option 'strict'"),
    ("json_match:strict_order=False", "options are JSON, so write false"),
    ("json_fields:defaults={ignore_case: true}", "so write names and texts in double quotes"),
    ("python_type", "python_type needs the option expected_type"),
    ("json_schema:schema=schemas/a.json", "'schemas/a.json' is a text; .* write @schemas/a.json$"),
    ("regex_match:pattern=(a.b", "not a regular expression: [^@]*$"),
    (
        'weighted_sum:parts=[[{"json_validity": 1}, 1]]',
        "json_validity: expected options by name, got 1",
    ),
    ('weighted_sum:parts=[[{"json_validity": {}, "x": {}}, 1]]', "got json_validity, x"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_specification_is_explained(tmp_path, text, message):
    with pytest.raises(EvalError, match=message):
        build([parse_specification(text, tmp_path)])


BUILT = [
    ("json_match:strict_order=false", JsonMatch(strict_order=False)),
    ("json_schema:draft=7", JsonSchema(draft="7")),
    ("regex_match:pattern=^a{1,3}$,where=search", RegexMatch("^a{1,3}$", where="search")),
    ("regex_match:pattern=42", RegexMatch("42")),
    *(
        (f"weighted_sum:parts={parts}", WeightedSum({JsonValidity(): 1, LengthPenalty(): 0.5}))
        for parts in (
            '{"json_validity": 1, "length_penalty": 0.5}',
            '[["json_validity", 1], [{"length_penalty": {"max_length": 1000}}, 0.5]]',
        )
    ),
]


@pytest.mark.parametrize(("text", "evaluator"), BUILT)
def test_a_specification_builds_its_evaluator(text, evaluator):
    assert list(build([parse_specification(text)]).values()) == [evaluator]


def test_two_evaluators_of_one_kind_get_two_names():
    texts = ["json_match", "json_match:strict_order=false", "json_match_2=json_validity"]
    built = build([*map(parse_specification, texts)])
    assert list(built) == ["json_match", "json_match_3", "json_match_2"]
    with pytest.raises(InputError, match="two evaluators have one name: x, x"):
        build([*map(parse_specification, ["x=json_match", "x=json_validity"])])


OFFLINE = {"platform": "ollama", "name": "m"}
SHORT = {"pass_fail": {"model": OFFLINE, "question": "@q.txt", "scores": {"pass_low": 0.7}}}
KIND = {"tone": {"model": OFFLINE}}


@pytest.fixture
def judges():
    pytest.importorskip("openai")
    return pytest.importorskip("llmeval_integrations.judges")


def test_nested_judges_are_built_from_plain_values(judges, tmp_path):
    (tmp_path / "q.txt").write_text("Short?\n")
    short = judges.PassFail("ollama:m", "Short?", scores=judges.ScoreTable(pass_low=0.7))
    kind = judges.Tone("ollama:m")
    asked = [
        ("vote", {"of": SHORT, "n": 3}, None),
        ("panel", {"judges": [SHORT, KIND]}, None),
    ]
    built = build([Specification(e, read_files(o, tmp_path), n) for e, o, n in asked])
    assert repr(built["vote"]) == repr(judges.Vote(short, 3))
    assert repr(built["panel"]) == repr(judges.Panel([short, kind]))


@pytest.mark.parametrize(
    ("evaluator", "options", "message"),
    [
        ("vote", {"of": "json_validity"}, "is not a JudgedEvaluator"),
        ("panel", {"judges": ["json_validity"]}, "is not a judge"),
        (
            "pass_fail",
            {"model": OFFLINE, "scores": {"pass_lo": 1}},
            "unexpected .* 'pass_lo'",
        ),
    ],
)
def test_an_error_says_why_a_judge_cannot_be_built(judges, evaluator, options, message):
    with pytest.raises(InvalidOptionError, match=message):
        build([Specification(evaluator, options)])
