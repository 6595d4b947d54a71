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
from llmeval_integrations.cli.specification import Specification, build, parse_specification

FILES = {
    "json": (b'{"type": "object"}', {"type": "object"}),
    "the bom": (b"\xef\xbb\xbf[1]\r\n", [1]),
    "text": (b"^a+$\n", "^a+$"),
    "lines": ("two\nlines é\r\n".encode(), "two\nlines é"),
}
OPTIONS = [
    ("", {}),
    ("a=two words,b=x", {"a": "two words", "b": "x"}),
    ("a=,b=1", {"a": "", "b": 1}),
    ("a=1,2,b=3", {"a": "1,2", "b": 3}),
    ("a=[^,]+,b=1", {"a": "[^,]+", "b": 1}),
    ('a="@literal",b=@@x', {"a": "@literal", "b": "@x"}),
    ("a=007,b=True", {"a": "007", "b": "True"}),
    *((f"a=@{name},b=1", {"a": value, "b": 1}) for name, (_, value) in FILES.items()),
    ('a={"b": ["@json"]}', {"a": {"b": [{"type": "object"}]}}),
]


@pytest.mark.parametrize(("text", "options"), OPTIONS)
def test_options_are_json_or_files_else_text(tmp_path, text, options):
    for name, (content, _) in FILES.items():
        (tmp_path / name).write_bytes(content)
    assert parse_specification(f"e:{text}", tmp_path) == Specification("e", options)
    assert parse_specification(f" my name = e :{text}", tmp_path).name == "my name"


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
            '[["json_validity", 1], ["length_penalty:max_length=1000", 0.5]]',
        )
    ),
    ("", "is not \\[NAME=\\]EVALUATOR"),
    ("e:strict", "'strict' is not OPTION=VALUE"),
    ("e:a=1,a=2", "the option a is given twice"),
    ("e:a=@missing.json", "cannot read missing.json: No such file"),
    ("json_mtch", "did you mean 'json_match'"),
    ("json_match:strict=true", "json_match has no option 'strict'"),
    ("json_match:strict_order=False", "options are JSON, so write false"),
    ("json_fields:defaults={ignore_case: true}", "so write names and texts in double quotes"),
    ("python_type", "python_type needs the option expected_type"),
    ("json_schema:schema=schemas/a.json", "'schemas/a.json' is a text; .* write @schemas/a.json$"),
    ("regex_match:pattern=(a.b", "not a regular expression: [^@]*$"),
    ('weighted_sum:parts=[[{"json_validity": 1}, 1]]', "json_validity: expected options by name, got 1"),
    ('weighted_sum:parts=[[{"json_validity": {}, "x": {}}, 1]]', "got json_validity, x"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "outcome"), BUILT)
def test_a_specification_builds_its_evaluator_or_says_what_is_wrong(text, outcome):
    if isinstance(outcome, str):
        with pytest.raises(EvalError, match=outcome):
            build([parse_specification(text)])
    else:
        assert list(build([parse_specification(text)]).values()) == [outcome]


def test_two_evaluators_of_one_kind_get_two_names():
    texts = ["json_match", "json_match:strict_order=false", "json_match_2=json_validity"]
    built = build([*map(parse_specification, texts)])
    assert list(built) == ["json_match", "json_match_3", "json_match_2"]
    with pytest.raises(InputError, match="two evaluators have one name: x, x"):
        build([*map(parse_specification, ["x=json_match", "x=json_validity"])])


MODEL = '"model": {"platform": "ollama", "name": "m"}'
SHORT = f'{{"pass_fail": {{{MODEL}, "question": "@q.txt", "scores": {{"pass_low": 0.7}}}}}}'


def test_nested_judges_are_built_from_plain_values(tmp_path):
    pytest.importorskip("openai")
    judges = pytest.importorskip("llmeval_integrations.judges")
    (tmp_path / "q.txt").write_text("Short?\n")
    short = judges.PassFail("ollama:m", "Short?", scores=judges.ScoreTable(pass_low=0.7))
    tone = judges.Tone("ollama:m")
    for text, expected in (
        (f"vote:of={SHORT},n=3", judges.Vote(short, 3)),
        (f'panel:judges=[{SHORT}, {{"tone": {{{MODEL}}}}}]', judges.Panel([short, tone])),
    ):
        [built] = build([parse_specification(text, tmp_path)]).values()
        assert repr(built) == repr(expected)
    for text, message in (
        ("vote:of=json_validity", "is not a JudgedEvaluator"),
        ('panel:judges=["json_validity"]', "is not a judge"),
        ('pass_fail:model=ollama:m,scores={"pass_lo": 1}', "unexpected .* 'pass_lo'"),
    ):
        with pytest.raises(InvalidOptionError, match=message):
            build([parse_specification(text)])
