"""Evaluators written as text, and configurations of a run in YAML and in `pyproject.toml`."""

import json

import pytest

from llmeval_integrations import (
    EvalError,
    InputError,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    LengthPenalty,
    RegexMatch,
    WeightedSum,
)
from llmeval_integrations.cli.configuration import Configuration, read_configuration
from llmeval_integrations.cli.specification import Specification, build, parse_specification
from llmeval_integrations.judges import Panel, PassFail, ScoreTable, Tone, Vote


def read(tmp_path, text):
    (tmp_path / "eval.yaml").write_text(text)
    return read_configuration(tmp_path / "eval.yaml")


def test_every_key_is_read_and_paths_are_relative_to_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    (tmp_path / "schema.json").write_text(json.dumps({"type": "object"}))
    found = read(
        tmp_path,
        """
        data: data/outputs.jsonl
        evaluators:
          - json_validity
          - length_penalty: &common {min_length: 50, max_length: 4000}
          - length_penalty: {<<: *common, max_length: 2}
          - shape=json_schema: {schema: "@schema.json", draft: 7}
        columns: {output: response, shape.reference: schema}
        out: ~/runs
        fail_under: {json_validity: 90%, shape: 1, shape.mean: 0.5, shape/total: 99.9%}
        """,
    )
    assert found == Configuration(
        data=str(tmp_path / "data/outputs.jsonl"),
        evaluators=[
            Specification("json_validity", {}),
            Specification("length_penalty", {"min_length": 50, "max_length": 4000}),
            Specification("length_penalty", {"min_length": 50, "max_length": 2}),
            Specification("json_schema", {"schema": {"type": "object"}, "draft": 7}, "shape"),
        ],
        columns={"output": "response", "shape.reference": "schema"},
        out="/home/somebody/runs",
        fail_under={"json_validity": 0.9, "shape": 1, "shape.mean": 0.5, "shape/total": 0.999},
    )
    assert read(tmp_path, "data: '-'\nevaluators: {json_match: }").data == "-"


WRONG = [
    ("evaluator: [json_match]", "there is no key 'evaluator'; did you mean 'evaluators'?"),
    ("- json_match", "expected keys and values, got ['json_match']"),
    ("data: [", "is not YAML: while parsing a flow node expected the node content, but found '<stream end>' at line 1, column 8"),
    ("data: !!python/object:os.system x", "is not YAML"),
    ("data: 5", "Expected `str | null`, got `int` - at `$.data`"),
    ("data: ~nobody_of_this_name/x.jsonl", "Could not determine home directory"),
    ("engine: spark", "Invalid enum value 'spark' - at `$.engine`"),
    ("fail_under: {json_match: 9a%}", "'json_match=9a%' is not NAME=RATE"),
    ("evaluators: [{a: {}, b: {}}]", "expected one evaluator with its options, got a, b"),
    ("evaluators: [{json_match: 5}]", "json_match: expected options by name, got 5"),
    ("data: a\nlimit: 1\ndata: b", "line 3: the key 'data' is already in line 1"),
    ("evaluators:\n- json_schema:\n    schema: {type: array, type: object}", "line 3: the key 'type' is already in line 3"),
    *((f"evaluators: [{{json_schema: {{schema: '@{name}'}}}}]", "/own, the folder of the configuration")
      for name in ("../secret", "/dev/null", "inside")),
    ("data: &a [*a]", "is larger than a configuration may be"),
    ("\n".join(["a: &a0 [x, x, x, x, x, x, x, x, x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))]),
     "is larger than a configuration may be"),
]  # fmt: skip


TOML = [("[tool.x]", "there is no table [tool.llmeval]"), ("[", "is not TOML: ")]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [*(("eval.yaml", *row) for row in WRONG), *(("pyproject.toml", *row) for row in TOML)],
)
def test_an_error_names_the_file_and_the_place(tmp_path, file, text, message):
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "inside").symlink_to(tmp_path / "secret")
    path = tmp_path / "own" / file
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_configuration(path)
    assert message in str(caught.value)
    assert file in str(caught.value)


SCALARS = {"~": None, "null": None, "true": True, "False": False, "-5": -5, "1_000": 1000, "0x10": 16, ".5": 0.5, "1e3": 1000.0, "'5'": "5"}  # fmt: skip
SCALARS |= {each: each for each in ("NO", "on", "y", "1:30", "2024-01-01", "007", ".")}


def test_scalars_follow_yaml_1_2(tmp_path):
    text = f"evaluators: [{{python_type: {{expected_type: [{', '.join(SCALARS)}]}}}}]"
    given = read(tmp_path, text).evaluators[0].options["expected_type"]
    assert [(each, type(each)) for each in given] == [
        (each, type(each)) for each in SCALARS.values()
    ]


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


MODEL = '"model": {"platform": "ollama", "name": "m"}'
SHORT = f'{{"pass_fail": {{{MODEL}, "question": "@question", "scores": {{"pass_low": 0.7}}}}}}'
JUDGE = PassFail("ollama:m", "Short?", scores=ScoreTable(pass_low=0.7))
SUM = WeightedSum({JsonValidity(): 1, LengthPenalty(): 0.5})
BUILT = [
    (f"vote:of={SHORT},n=3", Vote(JUDGE, 3)),
    (f'panel:judges=[{SHORT}, {{"tone": {{{MODEL}}}}}]', Panel([JUDGE, Tone("ollama:m")])),
    ("json_match:strict_order=false", JsonMatch(strict_order=False)),
    ("json_schema:draft=7", JsonSchema(draft="7")),
    ("regex_match:pattern=^a{1,3}$,where=search", RegexMatch("^a{1,3}$", where="search")),
    ("regex_match:pattern=42", RegexMatch("42")),
    ('weighted_sum:parts={"json_validity": 1, "length_penalty": 0.5}', SUM),
    ('weighted_sum:parts=[["json_validity", 1], [{"length_penalty": {"max_length": 1000}}, 0.5]]', SUM),
    ('weighted_sum:parts=[["json_validity", 1], ["length_penalty:max_length=1000", 0.5]]', SUM),
]  # fmt: skip
REFUSED = [
    ("vote:of=json_validity", "is not a JudgedEvaluator"),
    ('panel:judges=["json_validity"]', "is not a judge"),
    ('pass_fail:model=ollama:m,scores={"pass_lo": 1}', "unexpected .* 'pass_lo'"),
    ("", "is not \\[NAME=\\]EVALUATOR"),
    ("e:strict", "'strict' is not OPTION=VALUE"),
    ("e:a=1,a=2", "the option a is given twice"),
    ("e:a=@missing.json", "cannot read missing.json: No such file"),
    ("json_match:strict_order=False", "an option is JSON \\(true, null"),
    ("json_schema:schema=schemas/a.json", "the content of a file \\(@FILE\\)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "evaluator"), BUILT)
def test_a_specification_builds_its_evaluator(tmp_path, text, evaluator):
    (tmp_path / "question").write_text("Short?\n")
    [built] = build([parse_specification(text, tmp_path)]).values()
    assert repr(built) == repr(evaluator)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_wrong_specification_says_what_would_be_right(text, message):
    with pytest.raises(EvalError, match=message):
        build([parse_specification(text)])
