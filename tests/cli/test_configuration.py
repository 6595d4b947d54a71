"""Evaluators written as text, and configurations of a run in YAML and in `pyproject.toml`."""

import json
import re

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
from llmeval_integrations.cli.configuration import Configuration, read_configuration
from llmeval_integrations.cli.specification import Specification, build, parse_specification


def read(tmp_path, text):
    path = tmp_path / "eval.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_configuration(path)


def test_every_key_is_read_and_paths_are_relative_to_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    (tmp_path / "schema.json").write_text(json.dumps({"type": "object"}))
    found = read(
        tmp_path,
        """
        data: data/outputs.jsonl
        format: jsonl
        evaluators:
          - json_validity
          - length_penalty: &common {min_length: 50, max_length: 4000}
          - length_penalty: {<<: *common, max_length: 2}
          - shape=json_schema: {schema: "@schema.json", draft: 7}
          - "json_match:strict_order=false"
        columns: {output: response, shape.reference: schema}
        out: ~/runs
        overwrite: true
        fail_under: {json_validity: 90%, shape: 1, shape.mean: 0.5, shape/total: 99.9%}
        """,
    )
    shape = {"schema": {"type": "object"}, "draft": 7}
    assert found == Configuration(
        data=str(tmp_path / "data/outputs.jsonl"),
        format="jsonl",
        evaluators=[
            Specification("json_validity", {}),
            Specification("length_penalty", {"min_length": 50, "max_length": 4000}),
            Specification("length_penalty", {"min_length": 50, "max_length": 2}),
            Specification("json_schema", shape, "shape"),
            Specification("json_match", {"strict_order": False}),
        ],
        columns={"output": "response", "shape.reference": "schema"},
        out="/home/somebody/runs",
        overwrite=True,
        fail_under={"json_validity": 0.9, "shape": 1, "shape.mean": 0.5, "shape/total": 0.999},
    )
    assert read(tmp_path, "data: '-'\nevaluators: {json_match: }").data == "-"


WRONG = [
    ("evaluator: [json_match]", "unknown key 'evaluator'; did you mean 'evaluators'"),
    ("- json_match", "expected keys and values, got ['json_match']"),
    ("data: [", "line 1, column 8"),
    ("data: !!python/object:os.system x", "is not YAML"),
    ("data: 5", "Expected `str | null`, got `int` - at `$.data`"),
    ("data: ~nobody_of_this_name/x.jsonl", "Could not determine home directory"),
    ("max_cost: $5", "Expected `float | null`, got `str` - at `$.max_cost`"),
    ("engine: spark", "Invalid enum value 'spark' - at `$.engine`"),
    ("fail_under: {json_match: 9a%}", "'json_match=9a%' is not NAME=RATE"),
    ("evaluators: [{a: {}, b: {}}]", "expected one evaluator with its options, got a, b"),
    ("evaluators: [{json_match: 5}]", "json_match: expected options by name, got 5"),
    ("data: a\nlimit: 1\ndata: b", "line 3: the key 'data' is already in line 1"),
    ("evaluators:\n- json_schema:\n    schema: {type: array, type: object}",
     "line 3: the key 'type' is already in line 3"),
    *(
        (f"evaluators: [{{json_schema: {{schema: '@{name}'}}}}]", "/own, the folder of the configuration")
        for name in ("../secret", "/dev/null", "inside")
    ),
    ("data: &a [*a]", "is larger than a configuration may be"),
    ("\n".join(["a: &a0 [x, x, x, x, x, x, x, x, x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))]),
     "is larger than a configuration may be"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_an_error_names_the_file_and_the_place(tmp_path, text, message):
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "inside").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError) as caught:
        read(tmp_path / "own", text)
    assert message in str(caught.value)
    assert "eval.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *[("~", None), ("null", None), ("true", True), ("False", False)],
        *[("-5", -5), ("1_000", 1000), ("0x10", 16), (".5", 0.5), ("1e3", 1000.0)],
        *[("NO", "NO"), ("on", "on"), ("y", "y"), ("1:30", "1:30"), ("2024-01-01", "2024-01-01")],
        *[("007", "007"), (".", "."), ("'5'", "5")],
    ],
)
def test_scalars_follow_yaml_1_2(tmp_path, written, value):
    found = read(tmp_path, f"evaluators:\n- python_type: {{expected_type: [{written} ,]}}\n")
    [given] = found.evaluators[0].options["expected_type"]
    assert (given, type(given)) == (value, type(value))


def test_a_table_of_pyproject_is_a_configuration(tmp_path, llmeval):
    (tmp_path / "data.jsonl").write_text('{"output": "{}"}\n')
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool.llmeval]\ndata = "data.jsonl"\nevaluators = ["json_validity"]\n')
    assert read_configuration(path).data == str(tmp_path / "data.jsonl")
    assert llmeval("run pyproject.toml --quiet")[0] == 0
    for text, message in [("[tool.x]", "no table [tool.llmeval]"), ("[", "is not TOML: ")]:
        path.write_text(text)
        with pytest.raises(InputError, match=re.escape(message)):
            read_configuration(path)


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
