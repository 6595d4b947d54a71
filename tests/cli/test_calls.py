"""Calls of `llmeval`: the exit code, and what stands on the screen."""

import json
import shutil
import sys

import pytest

from llmeval_integrations import JsonValidity, evaluate

OUTPUTS = [
    {"id": "a", "response": '{"x": 1}', "gold": {"x": 1}},
    {"id": "b", "response": '{"x": 2}', "gold": {"x": 1}},
    {"id": "c", "response": '{"x": ', "gold": {"x": 1}},
    {"id": "d", "response": "[]", "gold": []},
]
ITEMS = [
    {"output": {"total": 1, "items": [{"sku": sku}]}, "reference": {"total": 1, "items": [{"sku": "A"}]}}
    for sku in "AAAB"
]  # fmt: skip
PAIR, LONE = {"output": "{}", "reference": "{}"}, {"output": "{}"}
OWN = """
import json

def near(a, b):
    return abs(a - b) <= 1

def equal(output, reference):
    return json.loads(output) == json.loads(reference)

class Right:
    def evaluate_strings(self, *, prediction, reference=None):
        from llmeval_integrations import JsonEquality
        return {"score": JsonEquality()(prediction, reference).score}

class Needy:
    def __init__(self, more):
        pass
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of data and of runs."""
    folder = tmp_path_factory.mktemp("folder")
    for name, rows in {
        "outputs": OUTPUTS,
        "items": ITEMS,
        "empty": [],
        "answers": [{"answer": "{}"}],
        "five": [PAIR] * 95 + [LONE] * 5,
        "six": [PAIR] * 94 + [LONE] * 6,
    }.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "broken.jsonl").write_text('{"output": "{}"}\nnot a row\n{"answer": 1}\n')
    (folder / "rows.csv").write_text("output,group,schema\n1,a,{}\n2,b,{}\n")
    (folder / "own.py").write_text(OWN)
    for name in ("run", "killed"):
        evaluate([{"output": "{}"}, {"output": "{"}], [JsonValidity()], out=folder / name)
    (folder / "killed" / "summary.json").unlink()
    return folder


MATCH = "run outputs.jsonl -e json_match --column output=response --column reference=gold"
FIELDS = "run outputs.jsonl --column output=response --column reference=gold --json -e"
GATE = "run items.jsonl -q -e fields=json_fields -e a/b=json_fields -e penalty=length_penalty:max_length=1,min_length=0,penalty_rate=0.1 --fail-under"  # fmt: skip
TEST = "test-evaluator json_match:strict_order=false,ignore_extra_keys=true"
WITHOUT_SUMMARY = "is incomplete: it was killed or is under way"
CALLS = [
    # What stands on the screen, and what does not.
    (f"{MATCH} --quiet", 0, "", ""),
    (f"{MATCH} --quiet --json --out new", 0, '"samples": 4', ""),
    (f"{FIELDS} 'json_fields:fields={{\"/x\": {{\"compare\": \"own:near\"}}}}'", 0, '"pass_rate": 0.75', ""),
    ("run outputs.jsonl -e json_validity --column output=response", 0, "next: --out DIR keeps the run", ""),
    ("run rows.csv -e json_validity", 0, "",
     "llmeval run: schema is column 'schema', group is column 'group'; --column schema= turns this off\n"),
    ("run rows.csv -e json_validity --column schema= --column group=", 0, "", ""),
    ("run empty.jsonl -e json_validity -q", 2, "", "warning: the data has no rows"),
    ("run empty.jsonl -e json_validity -q", 2, "", "no row has a result, so nothing was evaluated"),
    ("run broken.jsonl -e json_validity -q", 0, "", "2 of 3 rows are errors and are left out of rates, for example:"),
    ("run broken.jsonl -e json_validity -e json_object -q", 0, "", "warning: json_validity, json_object: 2 of 3 rows"),
    ("run answers.jsonl -e json_validity -q", 2, "", "1 of 1 rows are errors"),
    ("show run --json", 0, '"samples": 2', ""),
    ("report killed killed --out -", 0, "<!doctype html>", f"llmeval report: warning: killed_2 {WITHOUT_SUMMARY}"),
    ("export killed --to csv --out -", 0, "run,id,group,", f"llmeval export: warning: killed {WITHOUT_SUMMARY}"),
    (f"{TEST} --list-order any --extra-keys", 0, "json_match as json_match: no finding in", ""),
    (TEST, 1, "items in another order", ""),
    ("test-evaluator own:equal --claims json_equality", 1, "true and 1", ""),
    ("test-evaluator own:Right --claims json_equality", 0, "no finding", ""),
    # Gates.
    (f"{GATE} fields=75%", 0, "", ""),
    (f"{GATE} fields=75.1%", 1, "", "fields: the pass rate 0.75 is under 0.751"),
    (f"{GATE} fields.mean=0.9", 1, "", "fields.mean: the mean 0.875 is under 0.9"),
    (f"{GATE} fields.macro=0.9", 1, "", "fields.macro: the macro F1 0.875 is under 0.9"),
    (f"{GATE} fields/items/*/sku=0.8", 1, "", "fields/items/*/sku: the F1 0.75 is under 0.8"),
    (f"{GATE} fields/totl=0.1", 1, "", "no sample has this field; did you mean '/total'? there are /"),
    (f"{GATE} a/b.mean=99%", 1, "", "a/b.mean: the mean 0.875 is under 0.99"),
    (f"{GATE} penalty.mean=-0.5", 1, "", "penalty.mean: the mean -"),
    ("run five.jsonl -e json_match -q --fail-under json_match=1", 0, "", "5 of 100 rows are errors"),
    ("run six.jsonl -e json_match -q --fail-under json_match=1", 1, "", "6 of 100 rows have no result, more than 5%"),
    ("run six.jsonl -e json_match -q", 0, "", "6 of 100 rows are errors"),
    # Wrong calls.
    ("rum", 2, "", "there is no command 'rum'; did you mean 'run'?"),
    ("-x", 2, "", "unrecognized arguments: -x"),
    ("run", 2, "", "the following arguments are required: data"),
    ("run outputs.jsonl", 2, "", "no evaluator is given"),
    ("run outputs.jsonl -e 'x\x1b[2J\ny=json_mtch'", 2, "", "no evaluator is called 'json_mtch'"),
    ("run none.yaml", 2, "", "none.yaml: cannot be read: No such file or directory"),
    (f"{MATCH} --format xml", 2, "", "invalid choice: 'xml'"),
    (f"{MATCH} --column outputs=x", 2, "", "no field is called 'outputs'; did you mean 'output'?"),
    (f"{MATCH} --fail-under json_mtch=1", 2, "", "no evaluator of this run is called 'json_mtch'"),
    (f"{MATCH} --fail-under json_match=90", 2, "", "json_match=90 is not a rate from 0 to 1; did you mean 90%?"),
    (f"{MATCH} --fail-under json_match/total=1", 2, "", "'json_match/total': json_match has no figures of fields"),
    (f"{MATCH} --fail-under json_match.f1=1", 2, "", "'f1' is not a figure; write NAME=RATE (of rows that pass), NAME.mean=SCORE"),
    (f"{MATCH} --limt 5", 2, "", "unrecognized arguments: --limt 5; did you mean --limit; see llmeval run --help"),
    (f"{MATCH} --open", 2, "", "add --out DIR"),
    (f"{MATCH} --out new --resume --overwrite", 2, "", "leave one out"),
    ("compare run run --max-left-out 5", 2, "", "'5' is not a share from 0 to 1 or in per cent, such as 5%"),
    ("report run --format pdf", 2, "", "'pdf' is not a format; there are html (.html), "),
    ("export run --out x.xlsx", 2, "", "'.xlsx' is not a format; there are arrow (.arrow), "),
    ("export run --to csv --out missing/x.csv", 2, "", "No such file or directory: 'missing/x.csv'"),
    ("export run", 2, "", "pip install 'llmeval-integrations[parquet]'"),
    ("view run --port=65536", 2, "", "port 65536: "),
    ("runs nope", 2, "", "there is no folder nope"),
    ("test-evaluator exact_match", 2, "", "name what the evaluator claims"),
    ("test-evaluator json_matc", 2, "", "did you mean 'json_match'"),
    ("test-evaluator no_such_module:thing --claims json_match", 2, "", "no_such_module"),
    ("test-evaluator own:Needy --claims json_match", 2, "", "more"),
    ("test-evaluator json:__name__ --claims json_match", 2, "", "is not an evaluator"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "code", "out", "said"), CALLS)
def test_a_call(llmeval, folder, tmp_path, monkeypatch, line, code, out, said):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = sorted(tmp_path.rglob("*"))
    found, printed, complained = llmeval(line)
    sys.modules.pop("own", None)
    assert found == code
    assert out in printed
    assert said in complained
    assert said or not complained
    if code == 2 and not line.startswith(("run empty", "run answers")):
        assert (printed, complained.count("\n"), "\x1b" in complained) == ("", 1, False)
        assert complained.startswith("llmeval")
        assert sorted(tmp_path.rglob("*")) == before
    if " -q" in line or "--quiet " in line:
        assert "--json" in line or not printed
