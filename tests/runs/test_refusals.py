"""Wrong use stops with a typed error before anything is evaluated, asked or written."""

from pathlib import Path

import pytest
from remote_model import Remote, Repeats
from row_forms import row_of, run_of

from llmeval_integrations import JsonMatch, JsonValidity, compare, evaluate, evaluate_batch
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.runs import prefer, read_run
from llmeval_integrations.runs.tables import score_columns

pyarrow = pytest.importorskip("pyarrow")

ROWS = [{"id": n, "output": "1", "output_b": "2", "reference": "1"} for n in range(50)]
PROMPTFOO = Path(__file__).parent / "logs" / "data" / "promptfoo.json"
ONE = run_of([row_of("1", 1)])
LOOSE = JsonMatch(strict_order=False)


class Pairs(JsonValidity):
    needs = ("output_b",)


TWICE = {"a": Pairs(), "a_label": Pairs()}


def again(rows, *evaluators, **options):
    return evaluate(rows, evaluators or ["json_match"], out="run", resume=True, **options)


def new(rows=ROWS, evaluators="json_match", **options):
    return evaluate(rows, evaluators, **{"out": "new", **options})


def judged(**options):
    return new(evaluators=Repeats(Remote(lambda _: pytest.fail("asked"))), **options)


REFUSALS = [
    # another run, and options that make no sense
    (lambda: again(ROWS, LOOSE), "strict_order is False, and was True"),
    (lambda: again(ROWS, "json_match", "json_validity"), "json_validity is .*, and was absent"),
    (lambda: again(ROWS, columns={"id": "output"}), "columns.id is 'output', and was absent"),
    (lambda: again([*ROWS[:-1], {"output": ""}]), "its sample 49 is another one in the data"),
    (lambda: again(ROWS, limit=9), "data.limit is 9, and was None"),
    (lambda: again("rows.jsonl"), "data.kind is 'file', and was 'list'"),
    (lambda: new(overwrite=True, out=None), "overwrite is for a run in a dir"),
    (lambda: new(resume=True, out=None), "resume is for a run in a dir"),
    (lambda: new(retry_errors=True), "set resume, too"),
    (lambda: new(out=".", cache="replies.sqlite"), "is the cache, and a run in . would overwrite"),
    (lambda: new(limit=0), "limit=0 is not a whole number of at least 1"),
    (lambda: new(sample=1.5), "sample=1.5 is not a whole number of at least 1"),
    (lambda: new(workers="2"), "workers='2' is not a whole number of at least 1"),
    (lambda: new(columns=["output"]), r"columns=\['output'\] is not a mapping from fields"),
    (lambda: new(engine="ray"), "engine='ray' is not a class of engines, such as RayEngine"),
    # judges
    (lambda: judged(concurrency=0), "concurrency=0 is not a whole number of at least 1"),
    (lambda: judged(max_cost="1"), "max_cost='1' is not a number of at least 0"),
    (lambda: judged(frozen=True), "frozen takes replies from a cache, and none is given"),
    (lambda: judged(cache=__file__), "file is not a database; choose another file, or no cache"),
    (lambda: judged(cache="none.sqlite", frozen=True), "there is no cache none.sqlite"),
    # evaluators and columns
    (lambda: new(evaluators=[]), "at least one evaluator"),
    (lambda: new(evaluators=JsonMatch), r"got .*JsonMatch'>; write JsonMatch\(\)"),
    (lambda: new(columns={"outputs": "x"}), "'outputs'; did you mean 'output'\\? there are outp"),
    (lambda: new(columns={"json_mtch.reference": "x"}), "no evaluator .*'json_mtch'; did you"),
    (lambda: new(columns={"json_match.id": "x"}), "the id is the same for all evaluators"),
    (lambda: new(columns={"output": None}), "the output needs a column"),
    # data
    (lambda: new("rows.txt"), "the format '.txt' is not one of"),
    (lambda: new("rows.jsonl", format="xml"), "format='xml' is not one of jsonl"),
    (lambda: new("object.json"), "object.json: expected an array of objects"),
    (lambda: new("object_of_nan.json"), "object_of_nan.json: expected an array of objects"),
    (lambda: new("comma.json"), "comma.json: expected an array of objects: "),
    (lambda: new("doubled.csv"), "two columns have one name"),
    (lambda: new(pyarrow.table([["1"], ["2"]], ["output"] * 2)), "two columns have one name"),
    (lambda: new("utf16.csv"), "is UTF-16"),
    (lambda: new("rows.parquet"), "is not Parquet"),
    (lambda: new("nowhere.jsonl"), "cannot read nowhere.jsonl: No such file"),
    (lambda: new("hf://squad"), "has no split"),
    (lambda: new(ROWS[0]), "got a dict; put it in a list"),
    (lambda: evaluate_batch(ROWS, "json_match"), "expected a Table or RecordBatch of pyarrow"),
    (lambda: next(score_columns([], list, TWICE)), "would have one name"),
    # runs that are read and compared
    (lambda: read_run("nowhere"), "there is no run nowhere"),
    (lambda: read_run("."), "there is no results.jsonl"),
    (lambda: compare(ONE, [ONE]), "expected a run or its directory, got"),
    (lambda: read_run("run").worst(evaluator="x"), "the run has no 'x'; it has json_match"),
    (lambda: read_run("nothing.json"), "is not a run: expected a run's directory"),
    (lambda: read_run("damaged.json"), "damaged or of another version: KeyError"),
    (lambda: read_run("cut.json"), "line 1 is damaged"),
    (lambda: read_run(f"{PROMPTFOO}#3"), r"no column is 3; there are 1 \(tiny: The capital of"),
    (lambda: read_run("run").worst(-1), "count=-1 is not a whole number of at least 1"),
    (lambda: compare(ONE, ONE, changes=-3), "changes=-3 is not a whole number of at least 0"),
    (lambda: compare(ONE, run_of([row_of("2", 1)])), r"A has \['1'\], B has \['2'\]"),
    (lambda: compare(ONE, run_of([row_of("1", 1, name="x")])), "in common: judge and x"),
    (lambda: compare(ONE, ONE, evaluators=["juge"]), r"did you mean 'judge'\?"),
    (lambda: prefer(ROWS, [{"id": "x", "output": "x"}], Pairs()), "no sample's id is in all runs"),
    (lambda: prefer(ROWS, [{"output": "x"}], Pairs()), "samples are mappings with an id"),
    (lambda: prefer(ONE, ROWS, Pairs()), "run 1 keeps no outputs"),
    (lambda: prefer(ROWS, ROWS, "json_match"), "compares no two outputs; use Preference"),
    (lambda: prefer(ROWS, ROWS, Pairs(), pairs=-1), "pairs=-1 is not a whole number of at least 1"),
]

FILES = {
    "rows.jsonl": b'{"output": "1"}\n',
    "rows.txt": b"",
    "object.json": b'{\n"a": 1}',
    "object_of_nan.json": b'{\n"a": [NaN]}',
    "comma.json": b'[{"a": 1},]',
    "doubled.csv": b"a,a\n1,2\n",
    "utf16.csv": b"\xff\xfea",
    "rows.parquet": b"PAR1",
    "nothing.json": b'{"name": "promptfoo"}',
    "damaged.json": b'{"eval": {}, "samples": [{}]}',
    "cut.json": b'{"eval": {}, "sam',
}


@pytest.mark.parametrize(("call", "message"), REFUSALS)
def test_what_makes_no_sense_is_refused(tmp_path, monkeypatch, call, message):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_bytes(content)
    run = evaluate(ROWS, "json_match", out="run")
    before = {each: each.read_bytes() for each in run.out.iterdir()}
    with pytest.raises((InputError, InvalidOptionError), match=message):
        call()
    assert {each: each.read_bytes() for each in run.out.iterdir()} == before
    assert not Path("new").exists()
