"""An evaluator can be written in a line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations import (
    InputError,
    InvalidOptionError,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    LengthPenalty,
    RegexMatch,
    UnknownNameError,
    WeightedSum,
)
from llmeval_integrations.cli.configuration import read_configuration
from llmeval_integrations.cli.specification import (
    Specification,
    build,
    parse_specification,
)

OPTIONS = [
    ("e", {}),
    ("e:", {}),
    ("e:a=1", {"a": 1}),
    ("e:a=50,b=4000", {"a": 50, "b": 4000}),
    ("e: a = 1 , b = 2 ", {"a": 1, "b": 2}),
    ("e:a=1.5,b=-2e3,c=true,d=null", {"a": 1.5, "b": -2000.0, "c": True, "d": None}),
    ("e:a=text", {"a": "text"}),
    ("e:a=two words,b=x", {"a": "two words", "b": "x"}),
    ('e:a="quoted, text",b=1', {"a": "quoted, text", "b": 1}),
    ('e:a="x,b=2"', {"a": "x,b=2"}),
    ('e:a=[1, 2, {"b": 3}],c=4', {"a": [1, 2, {"b": 3}], "c": 4}),
    ('e:a={"x": [1, 2], "y": "}"},b=1', {"a": {"x": [1, 2], "y": "}"}, "b": 1}),
    ("e:a=", {"a": ""}),
    ("e:a=,b=1", {"a": "", "b": 1}),
    ("e:a=2020-12", {"a": "2020-12"}),
    ("e:a=1,2,b=3", {"a": "1,2", "b": 3}),
    ("e:a=[^,]+,b=1", {"a": "[^,]+", "b": 1}),
    ("e:a=x{1,3}", {"a": "x{1,3}"}),
    ("e:a=^\\[,b=(", {"a": "^\\[", "b": "("}),
    ("e:a=b=c", {"a": "b=c"}),
    ("e:a=http://x:1", {"a": "http://x:1"}),
    ("e:a=dict|list", {"a": "dict|list"}),
    ('e:a="@literal",b=@@x', {"a": "@literal", "b": "@x"}),
    ("e:a=True", {"a": "True"}),
    ("e:a=007", {"a": "007"}),
]


@pytest.mark.parametrize(("text", "options"), OPTIONS)
def test_options_are_json_else_text(tmp_path, text, options):
    found = parse_specification(text, tmp_path)
    assert (found.evaluator, found.options, found.name) == ("e", options, None)


NAMES = [
    ("json_match", "json_match", None),
    ("short=length_penalty", "length_penalty", "short"),
    ("short=length_penalty:max_length=50", "length_penalty", "short"),
    (" my name = json_match ", "json_match", "my name"),
    ("a.b=json_match", "json_match", "a.b"),
]


@pytest.mark.parametrize(("text", "evaluator", "name"), NAMES)
def test_a_name_may_stand_before_it(tmp_path, text, evaluator, name):
    found = parse_specification(text, tmp_path)
    assert (found.evaluator, found.name) == (evaluator, name)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=5
)))  # fmt: skip
def test_any_json_value_is_an_option(options):
    text = ",".join(f"{name}={json.dumps(value)}" for name, value in options.items())
    assert parse_specification(f"e:{text}", None).options == options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not \\[NAME=\\]EVALUATOR"),
        (":a=1", "is not \\[NAME=\\]EVALUATOR"),
        ("=json_match", "is not \\[NAME=\\]EVALUATOR"),
        ("x=", "is not \\[NAME=\\]EVALUATOR"),
        ("e:strict", "'strict' is not OPTION=VALUE"),
        ("e:=1", "'=1' is not OPTION=VALUE"),
        ("e:a=1,a=2", "the option a is given twice"),
        ("e:a=@missing.json", "cannot read .*missing.json: No such file"),
        ("e:a=@.", "cannot read .*: Is a directory"),
    ],
)
def test_what_is_written_otherwise_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        parse_specification(text, tmp_path)


FILES = [
    (b'{"type": "object"}', {"type": "object"}),
    (b"\xef\xbb\xbf[1]\r\n", [1]),
    (b"^a+$\n", "^a+$"),
    (b"two\nlines\r\n", "two\nlines"),
    ("é".encode(), "é"),
    (b"", ""),
]


@pytest.mark.parametrize(("content", "value"), FILES)
def test_an_option_may_stand_in_a_file(tmp_path, content, value):
    (tmp_path / "the file").write_bytes(content)
    found = parse_specification("e:a=@the file,b=1", tmp_path)
    assert found.options == {"a": value, "b": 1}


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not UTF-8"):
        parse_specification("e:a=@x", tmp_path)


def build_all(tmp_path, *texts):
    return build([parse_specification(text, tmp_path) for text in texts])


BUILT = [
    ("length_penalty:min_length=50,max_length=4000", LengthPenalty(50, 4000)),
    ("json_match:strict_order=false", JsonMatch(strict_order=False)),
    ("json_schema:draft=7", JsonSchema(draft="7")),
    (
        "json_schema_validation:draft=2019-09,check_formats=true",
        JsonSchema(draft="2019-09", check_formats=True),
    ),
    ("regex_match:pattern=^a{1,3}$,where=search", RegexMatch("^a{1,3}$", where="search")),
    ("regex_match:pattern=42", RegexMatch("42")),
    ("regex_match:pattern=null", RegexMatch()),
    ('json_schema:schema={"type": "object"}', JsonSchema({"type": "object"})),
]


@pytest.mark.parametrize(("text", "evaluator"), BUILT)
def test_the_line_builds_the_evaluator(tmp_path, text, evaluator):
    assert list(build_all(tmp_path, text).values()) == [evaluator]


def test_two_of_a_kind_are_told_apart(tmp_path):
    texts = [
        "json_match",
        "json_match:strict_order=false",
        "json_match_2=json_validity",
        "json_match",
    ]
    assert list(build_all(tmp_path, *texts)) == [
        "json_match",
        "json_match_3",
        "json_match_2",
        "json_match_4",
    ]


def test_an_alias_goes_by_the_evaluators_own_name(tmp_path):
    assert list(build_all(tmp_path, "json_schema_validation")) == ["json_schema"]


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (["json_mtch"], UnknownNameError, "did you mean 'json_match'"),
        (["json_match:strict=true"], InvalidOptionError, "json_match has no option 'strict'"),
        (
            ["json_match:strict_order=maybe"],
            InvalidOptionError,
            "strict_order='maybe' is not True or False",
        ),
        (["json_match:strict_order=False"], InvalidOptionError, "options are JSON, so write false"),
        (
            ["json_fields:defaults={ignore_case: true}"],
            InvalidOptionError,
            "options are JSON, so write names and texts in double quotes",
        ),
        (
            ["length_penalty:min_length=5,bogus"],
            InvalidOptionError,
            "min_length='5,bogus' is not a whole number",
        ),
        (["python_type"], InvalidOptionError, "python_type needs the option expected_type"),
        (
            ["json_schema:schema=schemas/a.json"],
            InvalidOptionError,
            "'schemas/a.json' is a text; for .* the file write @schemas/a.json$",
        ),
        (["tool_calls:tools=tools.json"], InvalidOptionError, "in the file write @tools.json$"),
        (["regex_match:pattern=(a.b"], InvalidOptionError, "not a regular expression: [^@]*$"),
        (["x=json_match", "x=json_validity"], InputError, "two evaluators are called 'x'"),
    ],
)
def test_what_cannot_be_built_says_why(tmp_path, texts, error, message):
    with pytest.raises(error, match=message):
        build_all(tmp_path, *texts)


def test_what_the_client_has_is_said_to_be_there(tmp_path):
    pytest.importorskip("pydantic")
    message = (
        'has no option \'base_url\'; .*the model has it: client={"name": ..., "base_url": ...}$'
    )
    with pytest.raises(InvalidOptionError, match=message):
        build_all(tmp_path, "relevance:client=openai:gpt-4,base_url=http://x")


@pytest.mark.parametrize(
    "text",
    [
        'weighted_sum:parts={"json_validity": 1, "length_penalty": 0.5}',
        'weighted_sum:parts=[["json_validity", 1], ["length_penalty", 0.5]]',
        'weighted_sum:parts=[[{"json_validity": {}}, 1], [{"length_penalty": {"max_length": 1000}}, 0.5]]',
    ],
)  # fmt: skip
def test_the_parts_of_a_sum_are_built_by_name(text):
    [total] = build([parse_specification(text, Path())]).values()
    assert total == WeightedSum({JsonValidity(): 1, LengthPenalty(): 0.5})


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ('{"json_valdity": 1}', UnknownNameError, "did you mean 'json_validity'"),
        ('[["json_validity"]]', InvalidOptionError, "pairs of an evaluator and its weight"),
        ('[[{"json_validity": 1}, 1]]', InvalidOptionError, "json_validity: 1 are not options"),
        ('[[{"json_validity": {}, "x": {}}, 1]]', InvalidOptionError, "got json_validity, x"),
        ('[[{"json_validity": {"mode": 1}}, 1]]', InvalidOptionError, "no option 'mode'"),
        ("json_validity", InvalidOptionError, "a mapping from evaluators"),
        ("3", InvalidOptionError, "a mapping from evaluators"),
    ],
)
def test_parts_that_make_no_sum_are_named(parts, error, message):
    with pytest.raises(error, match=message):
        build([parse_specification(f"weighted_sum:parts={parts}", Path())])


WITHIN = [
    ("@a pattern", "^a+$"),
    ("@@handle", "@handle"),
    ("a@b", "a@b"),
]


@pytest.mark.parametrize(("written", "pattern"), WITHIN)
def test_an_option_of_an_evaluator_within_another_may_stand_in_a_file(tmp_path, written, pattern):
    (tmp_path / "a pattern").write_text("^a+$\n")
    parts = [[{"weighted_sum": {"parts": [[{"regex_match": {"pattern": written}}, 1]]}}, 1]]
    (tmp_path / "eval.yaml").write_text(f"evaluators: {{weighted_sum: {{parts: {parts}}}}}")
    (tmp_path / "parts.json").write_text(json.dumps(parts))
    total = WeightedSum({WeightedSum({RegexMatch(pattern): 1}): 1})
    for text in (f"weighted_sum:parts={json.dumps(parts)}", "weighted_sum:parts=@parts.json"):
        assert build_all(tmp_path, text) == {"weighted_sum": total}
    assert build(read_configuration(tmp_path / "eval.yaml").evaluators) == {"weighted_sum": total}


def test_a_file_of_an_evaluator_within_another_that_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match=r"'@p.txt': cannot read .*p.txt: No such file"):
        build_all(tmp_path, 'weighted_sum:parts=[[{"regex_match": {"pattern": "@p.txt"}}, 1]]')


OFFLINE = {"platform": "ollama", "name": "m"}
SHORT = {"pass_fail": {"client": OFFLINE, "question": "Short?", "scores": {"pass_low": 0.7}}}
KIND = {"tone": {"client": OFFLINE}}


@pytest.fixture
def judges():
    pytest.importorskip("openai")
    return pytest.importorskip("llmeval_integrations.judges")


def test_judges_within_judges_and_tables_are_built_of_what_yaml_has(judges):
    short = judges.PassFail("ollama:m", "Short?", scores=judges.ScoreTable(pass_low=0.7))
    kind = judges.Tone("ollama:m")
    asked = [
        Specification("vote", {"of": SHORT, "n": 3}),
        Specification("panel", {"judges": [SHORT, KIND]}),
        Specification("panel", {"judges": {**SHORT, **KIND}}, "same"),
    ]
    built = build(asked)
    assert repr(built["vote"]) == repr(judges.Vote(short, 3))
    assert repr(built["panel"]) == repr(judges.Panel([short, kind])) == repr(built["same"])


def test_a_judge_within_a_judge_may_have_its_question_in_a_file(judges, tmp_path):
    (tmp_path / "q.txt").write_text("Short?\n")
    asked = {"pass_fail": {"client": OFFLINE, "question": "@q.txt"}}
    several = {"judges": {"pass_fail": asked["pass_fail"], "tone": {"client": OFFLINE}}}
    built = build(
        [
            Specification("vote", {"of": asked, "n": 3}, None, tmp_path),
            Specification("panel", several, None, tmp_path),
        ]
    )
    short = judges.PassFail("ollama:m", "Short?")
    assert repr(built["vote"]) == repr(judges.Vote(short, 3))
    assert repr(built["panel"]) == repr(judges.Panel([short, judges.Tone("ollama:m")]))


@pytest.mark.parametrize(
    ("evaluator", "options", "message"),
    [
        ("vote", {"of": "json_validity"}, "is not a JudgedEvaluator"),
        ("vote", {"of": 5}, "of=5 is not a JudgedEvaluator"),
        ("vote", {"of": {**SHORT, **KIND}}, "expected one evaluator, got pass_fail, tone"),
        ("vote", {"of": {"tone": None}}, "tone needs the option client, .* 'openai:gpt-5-mini'"),
        ("panel", {"judges": ["json_validity"]}, "is not a judge"),
        ("pass_fail", {**SHORT["pass_fail"], "scores": {"pass_lo": 1}}, "no 'pass_lo'; .*pass_low"),
        ("pass_fail", {**SHORT["pass_fail"], "scores": {"pass_low": 7}}, "pass_low=7 is not"),
    ],
)
def test_judges_that_cannot_be_built_say_why(judges, evaluator, options, message):
    with pytest.raises(InvalidOptionError, match=message):
        build([Specification(evaluator, options)])
