"""Calls of `llmeval`: the exit code, what stands on the screen, and the files."""

import inspect
import json
import re
import sys
from pathlib import Path

import pytest

from llmeval_integrations import __version__, list_evaluators
from llmeval_integrations.cli.evaluators import describe, read_docstring, read_options
from llmeval_integrations.core.catalog import evaluator_class

MATCH = "run data.jsonl -e json_match --column output=response --column reference=gold"
FIELDS = "run data.jsonl --column output=response --column reference=gold --json -e"
GATE = "run items.jsonl -q -e fields=json_fields -e other=json_fields -e penalty=length_penalty:max_length=1,min_length=0,penalty_rate=0.1 --fail-under"  # fmt: skip
COMPARE = "compare --fail-on-regression"
WITHOUT_SUMMARY = "is incomplete: it was killed or is under way"
SAID = [
    # What stands on the screen, and what does not.
    (f"{MATCH} --quiet --json --out new", 0, '"samples": 4', ""),
    (f"{MATCH} --out 'a new one'", 0, "llmeval view 'a new one' shows its samples", ""),
    (f"{FIELDS} 'json_fields:fields={{\"/x\": {{\"compare\": \"own:near\"}}}}'", 0, '"pass_rate": 0.75', ""),
    ("run data.jsonl -e json_validity --column output=response", 0, "next: --out DIR keeps the run", ""),
    (f"{FIELDS} 'json_fields:fields={{\"/x\": {{\"compare\": \"own:stop\"}}}}' --out new", 130, '"samples": 0', "the finished rows are in new; to continue, repeat the call with --resume\nllmeval run: interrupted\n"),
    (f"{FIELDS} 'json_fields:fields={{\"/x\": {{\"compare\": \"own:stop\"}}}}'", 130, "", "no row was kept; with --out DIR a run can be continued\n"),
    ("run rows.csv -e json_validity", 0, "", "llmeval run: schema is column 'schema', group is column 'group'; --column schema= turns this off\n"),
    ("run rows.csv -e json_validity --column schema= --column group=", 0, "", ""),
    ("show run --json", 0, '"samples": 2', ""),
    ("show killed", 0, f"killed: the run {WITHOUT_SUMMARY}\n", ""),
    ("report killed killed --out -", 0, "<!doctype html>", f"llmeval report: warning: killed_2 {WITHOUT_SUMMARY}"),
    ("export killed --to csv --out -", 0, "run,id,group,", f"llmeval export: warning: killed {WITHOUT_SUMMARY}"),
    ("test-evaluator json_match", 0, "json_match as json_match: no finding in", ""),
    ("test-evaluator json_match:strict_order=false,ignore_extra_keys=true", 1, "items in another order", ""),
    ("list", 0, "json_validity               Does the output parse as JSON?\n", ""),
    ("list json_match", 0, "json_match  needs reference\nWhere does the output differ from the reference?\n\nstrict_order: bool = true\n    Whether the order of array items counts.", ""),
    ("list json_match", 0, "parsing: 'strict' | 'markdown' | 'lenient' = \"markdown\"", ""),
    ("test-evaluator own:equal --claims json_equality", 1, "true and 1", ""),
    ("test-evaluator own:Right --claims json_equality", 0, "no finding", ""),
    # Configurations; paths are relative to their folder, and the command line takes precedence.
    ("run conf/eval.yml", 1, "written: conf/run/results.jsonl and", "json_match: the pass rate 0.5 is under 1"),
    ("run conf/eval.yml --out new --fail-under json_match=50% --column input=response", 0, "written: new/results.jsonl and", ""),
    (f"{MATCH} -e json_match:strict_order=false -e json_match_2=json_validity", 0, "json_match_3 ", ""),
    # Comparisons: a regression, and what B lacks, so that none can be excluded.
    ("compare before after", 0, "B is worse: json_fields pass rate 100.0 % → 40.0 %", ""),
    (f"{COMPARE} after before", 0, "B is better", ""),
    (f"{COMPARE} before after", 1, "B is worse", "json_fields: pass rate went from 1 to 0.4\nllmeval compare: json_fields: /total matching leaves went from 1 to 0.4\n"),
    (f"{COMPARE} hundred less_6", 1, "", "json_validity: 6 of A's 100 samples have no counterpart"),
    (f"{COMPARE} hundred less_10 --max-left-out 9%", 1, "", "json_validity: 10 of A's 100 samples have no counter"),
    (f"{COMPARE} hundred no_score", 1, "", "json_validity: no sample has a score in both runs, so a regression"),
    (f"{COMPARE} hundred run", 1, "", "pass rate went from 1 to 0.5, and 2 samples can show no difference, so a regression"),
    (f"{COMPARE} hundred one_evaluator", 1, "", "length_penalty: A has this evaluator, B does not, so a regression"),
    (f"{COMPARE} hundred less_5", 0, "100 joined", ""),
    (f"{COMPARE} hundred less_10 --max-left-out 0.1", 0, "94 joined", ""),
    (f"{COMPARE} hundred one_evaluator --evaluator json_validity", 0, "100 joined", ""),
    ("run empty.jsonl -e json_validity", 2, "0 samples", "no row has a result, so nothing was evaluated"),
    ("runs conf", 0, "0 runs; llmeval run DATA -e EVALUATOR --out DIR keeps one.", ""),
]  # fmt: skip
QUIET = [
    ("run empty.jsonl -e json_validity -q", 2, "no row has a result, so nothing was evaluated"),
    ("run broken.jsonl -e json_validity -e json_object -q", 0, "warning: json_validity, json_object: 2 of 3 rows are errors and are left out of rates, for example (InputError): "),
    ("run answers.jsonl -e json_validity -q", 2, "1 of 1 rows are errors"),
    ("run percent.jsonl -e json_fields:confidence=/sure -q", 0, "warning: json_fields: 2 confidences left out, as only numbers from 0 to 1 are read\n"),
    ("run pyproject.toml -q", 0, ""),
    # Gates.
    (f"{GATE} fields=75%", 0, ""),
    ("run five.jsonl -e v1=json_object -e v1.2=json_validity -q --column v1.2.output=output --fail-under v1.2=1 --fail-under v1.2.mean=1", 0, ""),
    (f"{GATE} fields=75.1%", 1, "fields: the pass rate 0.75 is under 0.751"),
    (f"{GATE} fields.micro=0.9", 1, "fields.micro: the micro F1 0.875 is under 0.9"),
    (f"{GATE} fields.macro=0.9", 1, "fields.macro: the macro F1 0.875 is under 0.9"),
    (f"{GATE} fields/items/*/sku=0.8", 1, "fields/items/*/sku: the F1 0.75 is under 0.8"),
    (f"{GATE} fields/totl=0.1", 1, "no sample has this field; did you mean '/total'? there are /"),
    (f"{GATE} other.mean=99%", 1, "other.mean: the mean 0.875 is under 0.99"),
    (f"{GATE} penalty.mean=-0.5", 1, "penalty.mean: the mean -"),
    ("run blank.jsonl -q -e json_validity -e length_penalty --fail-under length_penalty=0.1", 1, "length_penalty: no row passed or failed, so the pass rate 0.1 is not reached"),
    ("run five.jsonl -e json_match -q --fail-under json_match=1", 0, "5 of 100 rows are errors"),
    ("run six.jsonl -e json_match -q --fail-under json_match=1", 1, "6 of 100 rows have no result, more than 5%"),
]  # fmt: skip
WRONG = [
    ("-x", "unrecognized argument: -x; see llmeval --help"),
    ("rum", "there is no command 'rum'; did you mean 'run'?"),
    ("run data.jsonl", "no evaluator is given"),
    ("run data.jsonl -e 'x\x1b[2J\ny=json_mtch'", "no evaluator is called 'json_mtch'"),
    ("run none.yaml", "none.yaml: cannot be read: No such file or directory"),
    (f"{MATCH} -e x=json_match -e x=json_validity", "two evaluators have one name: x, x"),
    (f"{MATCH} --column outputs=x", "no field is called 'outputs'; did you mean 'output'?"),
    (f"{MATCH} --fail-under json_mtch=1", "no evaluator of this run is called 'json_mtch'"),
    (f"{MATCH} --fail-under json_match=90", "'json_match': 90 is not a rate from 0 to 1; did you mean 90%?"),
    (f"{MATCH} --fail-under json_match=101%", "'json_match': 1.01 is not a rate from 0 to 1\n"),
    (f"{MATCH} --fail-under json_match/total=1", "'json_match/total': json_match has no figures of fields"),
    (f"{MATCH} --fail-under json_match.f1=1", "'f1' is not a figure; write NAME=RATE (of rows that pass), NAME.mean=SCORE"),
    ("run data.jsonl -e string_distance --fail-under string_distance.mean=1", "lower scores of string_distance are better; give it a threshold"),
    (f"{MATCH} --limt 5", "unrecognized argument: --limt; did you mean --limit?; see llmeval run --help"),
    (f"{MATCH} --open", "add --out DIR"),
    (f"{MATCH} --out new --resume --overwrite", "leave one out"),
    ("compare run run --max-left-out 5", "'5' is not a share from 0 to 1 or in per cent, such as 5%"),
    ("compare run run --changes -3", "changes=-3 is not a whole number of at least 0"),
    ("export run --out x.xlsx", "'.xlsx' is not a format; there are arrow (.arrow), "),
    ("export run --table fields --out fields.csv", "no evaluator of the run compares fields"),
    ("export run --to csv --out missing/x.csv", "No such file or directory: 'missing/x.csv'"),
    ("report damaged --out page.html", "samples.jsonl: line 1 is damaged"),
    ("export run", "pip install 'llmeval-integrations[parquet]'"),
    ("view run --port=65536", "port 65536: "),
    ("prefer before after -e json_validity", "Preference"),
    ("threshold run", "no row has confidences; evaluate with json_fields and confidence="),
    ("init pyproject.toml", "pyproject.toml exists already; llmeval init FILE writes another file"),
    ("runs nope", "there is no folder nope"),
    ("test-evaluator exact_match", "name what the evaluator claims"),
    ("test-evaluator no_such_module:thing --claims json_match", "no_such_module"),
    ("test-evaluator json:JSONDecodeError --claims json_match", "missing 3 required"),
    ("test-evaluator json:__name__ --claims json_match", "is not an evaluator"),
]  # fmt: skip


@pytest.fixture
def call(llmeval, monkeypatch):
    """Run a command line without pyarrow, and without files of compiled code."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield llmeval
    sys.modules.pop("own", None)


@pytest.mark.parametrize(("line", "code", "out", "said"), SAID)
def test_what_a_call_prints(call, line, code, out, said):
    found, printed, complained = call(line)
    assert (found, out in printed, said in complained) == (code, True, True)
    assert said or not complained
    assert code != 2 or "next: " not in printed


@pytest.mark.parametrize(("line", "code", "said"), QUIET)
def test_a_quiet_call_prints_warnings_and_missed_gates_alone(call, line, code, said):
    found, printed, complained = call(line)
    assert (found, printed, said in complained) == (code, "", True)
    assert said or not complained


@pytest.mark.parametrize(("line", "said"), WRONG)
def test_a_wrong_call_is_one_line_on_stderr_and_leaves_no_file(call, here, line, said):
    before = sorted(here.rglob("*"))
    code, printed, complained = call(line)
    assert (code, printed, said in complained) == (2, "", True)
    assert complained.startswith("llmeval")
    assert (complained.count("\n"), "\x1b" in complained) == (1, False)
    assert sorted(here.rglob("*")) == before


FORMATS = [
    ("report run", "run/report.html", "<!doctype html>"),
    ("report run --format markdown", None, "### run: "),
    ("report run --out comment.md", "comment.md", "### run: "),
    ("report run --out junit.xml", "junit.xml", "<?xml"),
    ("export run --out x.CSV", "x.CSV", "run,id,group,"),
    ("export run --out x.arrow", "x.arrow", "ARROW1"),
    ("export run", "run/rows.parquet", "PAR1"),
]


@pytest.mark.parametrize(("line", "file", "begin"), FORMATS)
def test_an_option_or_the_suffix_sets_the_format(llmeval, line, file, begin):
    pytest.importorskip("pyarrow")
    code, out, _ = llmeval(line)
    written = Path(file).read_bytes() if file else out.encode()
    assert (code, written.startswith(begin.encode())) == (0, True)
    assert file is None or out == f"written: {file}\n"


def test_a_narrow_terminal_breaks_lines_and_cuts_no_figure(llmeval, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    out = llmeval("compare before after --no-fields")[1]
    assert all(each in out for each in ("100.0 %", "-60.0 points", "\x1b["))


def test_a_page_is_opened_in_the_browser(llmeval, here, monkeypatch):
    pages = []
    monkeypatch.setattr("webbrowser.open", lambda address: pages.append(address) or True)
    code, out, _ = llmeval("run five.jsonl -e json_validity --out new --json --open")
    assert (code, json.loads(out)["samples"]) == (0, 100)  # and nothing else
    assert llmeval("report new --open")[0] == 0
    assert pages == [(here / "new" / "report.html").as_uri()] * 2
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert f"no browser could be started; open {pages[0]}" in llmeval("report new --open")[2]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows needs a right to make links")
def test_a_page_in_a_run_follows_no_link(llmeval):
    Path("mine").write_text("kept")
    Path("run/report.html").symlink_to(Path("mine").resolve())
    assert llmeval("report run")[0] == 2
    assert Path("mine").read_text() == "kept"
    assert llmeval("report run --out run/report.html")[0] == 0  # named by the caller


def test_a_comparison_as_json_lists_the_changes(llmeval):
    found = json.loads(llmeval("compare before after --json --no-fields --changes 20")[1])
    figures = [(each["field"], each["difference"]) for each in found["differences"]]
    assert figures == [(None, -0.6), (None, 0)]
    assert len(found["evaluators"]["json_fields"]["changes"]) == 12


def test_the_command_line_resumes_or_replaces_a_run(llmeval):
    assert llmeval("run resume.yaml -q --overwrite")[0] == 0
    results = Path("kept/results.jsonl")
    changed = results.read_bytes().replace(b'"score":1', b'"score":0', 1)
    results.write_bytes(changed)
    assert llmeval("run overwrite.yaml -q --resume")[0] == 0
    assert results.read_bytes() == changed
    assert llmeval("run resume.yaml -q --overwrite")[0] == 0
    assert results.read_bytes() != changed


def test_the_runs_of_a_folder_are_listed_the_newest_first(llmeval, here):
    for name, day in (("run", 1), ("one_evaluator", 2), ("killed", 3)):
        file = here / name / "manifest.json"
        manifest = {**json.loads(file.read_text()), "started": f"2026-01-0{day}T12:30:59+00:00"}
        file.write_text(json.dumps(manifest))
        (here / name).rename(here / "conf" / name)
    lines = llmeval("runs .")[1].splitlines()
    assert lines[1] == "11 runs"
    assert [re.split(" {2,}", line)[1:] for line in lines if "2026-01" in line] == [
        ["2026-01-03 12:30", "–", "–", "not finished"],
        ["2026-01-02 12:30", "–", "100", "json_validity 100.0 %"],
        ["2026-01-01 12:30", "–", "2", "json_validity 50.0 %"],
    ]


def test_help_and_list_are_complete_and_fit_a_screen(llmeval):
    code, text, _ = llmeval("--help")
    lines = text.splitlines()
    assert (code, len(lines) <= 44, max(map(len, lines)) <= 80) == (0, True, True)
    listed = text.split("COMMAND\n")[1].split("\n\n")[0]
    commands = [line.split()[0] for line in listed.splitlines() if line[4:5].strip()]
    assert len(commands) == 13
    lines = llmeval("run --help")[1].splitlines()
    assert len(lines) <= 56
    heads = [line for line in lines if re.fullmatch(r"\w.*:", line)][1:]
    assert heads == ["options:", "what is evaluated:", "where the run is kept:", "when the run fails:", "judges:", "how it runs:"]  # fmt: skip
    assert llmeval("--version") == (0, f"llmeval {__version__}\n", "")
    assert llmeval("") == (0, text, "")
    assert [line.split()[0] for line in llmeval("list")[1].splitlines()] == list_evaluators()


def test_a_starter_file_runs_and_show_prints_the_run_again(llmeval):
    assert llmeval("init")[1].endswith("next: llmeval run eval.yaml\n")
    code, out, _ = llmeval("run eval.yaml")
    table, _, steps = out.partition("written: ")
    assert (code, "33.3 % of 3 samples pass json_fields" in table) == (0, True)
    assert steps.startswith("runs/first/results.jsonl and summary.json\nnext: llmeval view runs/first")  # fmt: skip
    assert llmeval("show runs/first") == (0, table, "")


@pytest.mark.parametrize("name", list_evaluators())
def test_every_evaluator_describes_itself_and_each_of_its_options(name):
    kind = evaluator_class(name)
    assert "?" in read_docstring(kind)[0]
    options = list(read_options(kind))
    assert [option.name for option in options] == list(inspect.signature(kind).parameters)
    for option in options:
        assert option.documentation
        assert f"{option.name}: {option.type}" in describe(kind)
