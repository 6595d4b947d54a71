"""A run can be written down in a YAML file."""

import json
import math

import pytest

from llmeval_integrations import InputError
from llmeval_integrations.cli.configuration import Configuration, read_configuration
from llmeval_integrations.cli.main import main
from llmeval_integrations.cli.specification import Specification


def read(tmp_path, text):
    path = tmp_path / "eval.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_configuration(path)


def test_every_key_is_read_and_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps({"type": "object"}))
    found = read(
        tmp_path,
        """
        data: data/outputs.jsonl
        format: jsonl
        evaluators:
          - json_validity
          - length_penalty: {min_length: 50, max_length: 4000}
          - name: shape
            evaluator: json_schema
            options: {schema: "@schema.json", draft: 7}
          - "json_match:strict_order=false"
        columns: {output: response, shape.reference: schema}
        out: runs/first
        overwrite: true
        fail_under: {json_validity: 90%, shape: 1, shape.mean: 0.5, shape/total: 99.9%}
        """,
    )
    assert found == Configuration(
        data=str(tmp_path / "data/outputs.jsonl"),
        format="jsonl",
        evaluators=[
            Specification("json_validity", {}, None, tmp_path),
            Specification("length_penalty", {"min_length": 50, "max_length": 4000}, None, tmp_path),
            Specification(
                "json_schema", {"schema": {"type": "object"}, "draft": 7}, "shape", tmp_path
            ),
            Specification("json_match", {"strict_order": False}, None, tmp_path),
        ],
        columns={"output": "response", "shape.reference": "schema"},
        out=str(tmp_path / "runs/first"),
        overwrite=True,
        fail_under={"json_validity": 0.9, "shape": 1, "shape.mean": 0.5, "shape/total": 0.999},
    )


def test_evaluators_may_be_a_mapping_and_options_may_be_left_out(tmp_path):
    found = read(tmp_path, "evaluators: {json_match: , length_penalty: {max_length: 5}}")
    assert found.evaluators == [
        Specification("json_match", {}, None, tmp_path),
        Specification("length_penalty", {"max_length": 5}, None, tmp_path),
    ]


def test_standard_input_and_absolute_paths_stay_as_they_are(tmp_path):
    assert read(tmp_path, "data: '-'").data == "-"
    assert read(tmp_path, f"data: {tmp_path / 'x.csv'}").data == str(tmp_path / "x.csv")


def test_what_a_command_line_says_counts(tmp_path):
    file = read(tmp_path, "{out: here, fail_under: {a: 0.5}, overwrite: false}")
    found = file.update(Configuration(out="there", overwrite=True))
    assert (found.out, found.overwrite, found.fail_under) == ("there", True, {"a": 0.5})


BAD = [
    ("evaluator: [json_match]", "unknown key 'evaluator'; did you mean 'evaluators'"),
    ("1: x", "unknown key 1"),
    ("- json_match", "expected keys and values, got ['json_match']"),
    ("", "expected keys and values, got None"),
    ("data: [", "is not YAML: line 1, column 8"),
    ("data: !!python/object:os.system x", "is not YAML"),
    (b"data: \xff", "is not YAML"),
    ("data: 5", "Expected `str | null`, got `int`"),
    ("overwrite: 'yes'", "Expected `bool | null`, got `str`"),
    ("format: 5", "eval.yaml: Expected `str | null`, got `int`"),
    ("limit: twenty", "eval.yaml: Expected `int | null`, got `str`"),
    ("limit: 0.5", "eval.yaml: Expected `int | null`, got `float`"),
    ("max_cost: many", "eval.yaml: Expected `float | null`, got `str`"),
    (
        "max_errors: [1]",
        "eval.yaml: Expected `int | str | null`, got `array`",
    ),
    ("frozen: 1", "eval.yaml: Expected `bool | null`, got `int`"),
    ("cache: true", "Invalid enum value True - at `$.cache`"),
    (
        "fail_under: 0.5",
        "Expected `object | null`, got `float` - at `$.fail_under`",
    ),
    (
        "columns: [output]",
        "Expected `object | null`, got `array`",
    ),
    ("no_cache: true", "unknown key 'no_cache'; write cache: false"),
    ("no-cache: true", "unknown key 'no-cache'; write cache: false"),
    ("dry_run: true", "unknown key 'dry_run'; that is for the command line alone"),
    ("quiet: true", "unknown key 'quiet'; that is for the command line alone"),
    ("json: true", "unknown key 'json'; that is for the command line alone"),
    ("fail-under: {}", "unknown key 'fail-under'; did you mean 'fail_under'"),
    (
        "columns: {output: 5}",
        "Expected `str | null`, got `int` - at `$.columns[...]`",
    ),
    ("fail_under: {json_match: high}", "'json_match': 'high' is not a rate"),
    ("fail_under: {json_match: 9a%}", "'json_match': '9a%' is not a rate"),
    (
        "fail_under: {json_match: true}",
        "Expected `float`, got `bool` - at `$.fail_under[...]`",
    ),
    ("evaluators: json_match", "evaluators: expected a list, got 'json_match'"),
    ("evaluators: [5]", "5 is not a name, or a name with its options"),
    ("evaluators: [{a: {}, b: {}}]", "is not a name, or a name with its options"),
    ("evaluators: [{json_match: 5}]", "json_match: 5 are not options by name"),
    (
        "evaluators: [{evaluator: json_match, option: {}}]",
        "unknown key 'option'; did you mean 'options'",
    ),
    ("evaluators: [{evaluator: 5}]", "evaluators: {'evaluator': 5}: a name is a text"),
    (
        "evaluators: [{evaluator: json_match, name: 5}]",
        "'name': 5}: a name is a text",
    ),
    ("evaluators: [{json_schema: {schema: '@missing.json'}}]", "missing.json: No such file"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_what_is_wrong_is_named_with_the_file(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert "eval.yaml" in str(caught.value)


TWICE = [
    ("data: a\nlimit: 1\ndata: b", "line 3: the key 'data' stands in line 1 already"),
    ("data: a\n'data': b", "line 2: the key 'data' stands in line 1 already"),
    (
        "fail_under:\n  a: 0.5\n  a: 0.6",
        "line 3: the key 'a' stands in line 2 already",
    ),
    (
        "evaluators:\n  length_penalty: {max_length: 1}\n  length_penalty: {max_length: 2}",
        "line 3: the key 'length_penalty' stands in line 2 already",
    ),
    (
        "evaluators:\n- json_match: {}\n  json_match: {}",
        "line 3: the key 'json_match' stands in line 2 already",
    ),
    (
        "evaluators:\n- json_schema:\n    schema: {type: array, type: object}",
        "line 3: the key 'type' stands in line 3 already",
    ),
]


@pytest.mark.parametrize(("text", "message"), TWICE)
def test_a_key_that_stands_twice_is_refused(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'eval.yaml'}: {message}"


def test_the_same_evaluator_may_stand_twice_in_a_list(tmp_path):
    found = read(
        tmp_path,
        """
        evaluators:
        - length_penalty: {max_length: 1}
        - {name: longer, evaluator: length_penalty, options: {max_length: 2}}
        """,
    )
    assert found.evaluators == [
        Specification("length_penalty", {"max_length": 1}, None, tmp_path),
        Specification("length_penalty", {"max_length": 2}, "longer", tmp_path),
    ]


def test_a_key_may_stand_above_one_that_is_merged(tmp_path):
    found = read(
        tmp_path,
        """
        evaluators:
        - length_penalty: &common {max_length: 1, min_length: 0}
        - length_penalty: {<<: *common, max_length: 2}
        """,
    )
    assert [each.options for each in found.evaluators] == [
        {"max_length": 1, "min_length": 0},
        {"max_length": 2, "min_length": 0},
    ]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *[("~", None), ("null", None), ("true", True), ("False", False)],
        *[("5", 5), ("-5", -5), ("0", 0), ("1_000", 1000), ("0x10", 16)],
        *[("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0), ("-1.e-3", -0.001), ("-.inf", -math.inf)],
        *[("NO", "NO"), ("yes", "yes"), ("on", "on"), ("y", "y"), ("1:30", "1:30")],
        *[("2024-01-01", "2024-01-01"), ("007", "007"), (".", "."), ("'5'", "5"), ("1_x", "1_x")],
    ],
)
def test_words_are_texts_as_in_yaml_1_2(tmp_path, written, value):
    found = read(tmp_path, f"evaluators:\n- python_type: {{expected_type: [{written} ,]}}\n")
    [given] = found.evaluators[0].options["expected_type"]
    assert (given, type(given)) == (value, type(value))


def test_a_country_is_no_boolean(tmp_path, capsys):
    (tmp_path / "data.jsonl").write_text('{"output": "{\\"c\\": \\"NO\\"}"}\n')
    schema = "{properties: {c: {enum: [NO, SE]}}}"
    run = tmp_path / "eval.yaml"
    run.write_text(f"data: data.jsonl\nevaluators:\n- json_schema: {{schema: {schema}}}\n")
    assert main(["run", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["evaluators"]["json_schema"]["pass_rate"] == 1


def test_a_path_may_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    found = read(tmp_path, "data: ~/data.jsonl\nout: ~/runs\nevaluators: [json_validity]\n")
    assert (found.data, found.out) == ("/home/somebody/data.jsonl", "/home/somebody/runs")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"eval\.yaml: cannot be read: No such file"):
        read_configuration(tmp_path / "eval.yaml")


def test_a_table_of_pyproject_is_a_configuration(tmp_path, monkeypatch, capsys):
    (tmp_path / "data.jsonl").write_text('{"output": "{}"}\n')
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool.llmeval]\ndata = "data.jsonl"\nevaluators = ["json_validity"]\n')
    assert read_configuration(path).data == str(tmp_path / "data.jsonl")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "pyproject.toml", "--quiet"]) == 0
    for text, message in [("[tool.x]", "no table [tool.llmeval]"), ("[", "is not TOML: ")]:
        path.write_text(text)
        assert main(["run", "pyproject.toml"]) == 2
        assert message in capsys.readouterr().err


def test_a_configuration_names_files_in_its_folder_alone(tmp_path):
    (tmp_path / "secret").write_text("{}")
    folder = tmp_path / "configuration"
    folder.mkdir()
    (folder / "inside").symlink_to(tmp_path / "secret")
    for name in ("../secret", tmp_path / "secret", "inside"):
        with pytest.raises(InputError, match=r"leads out of .*, the folder of the configuration"):
            read(folder, f"evaluators: [{{json_schema: {{schema: '@{name}'}}}}]")


BOMB = "\n".join(["a: &a0 [x, x, x, x, x, x, x, x, x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))])  # fmt: skip


@pytest.mark.parametrize("text", [BOMB, "data: &a [*a]"])
def test_aliases_do_not_make_a_large_value_of_a_short_file(tmp_path, text):
    with pytest.raises(InputError, match="holds more than a configuration may"):
        read(tmp_path, text)
