"""Runs as Markdown, JUnit, notebooks, CSV, Arrow and Parquet; no text in them acts."""

import csv
import io
import json
import re
from xml.etree import ElementTree

import pytest

from llmeval_integrations import JsonFields, JsonValidity, compare, evaluate
from llmeval_integrations.reports import formats
from llmeval_integrations.reports.tables import WRITERS, fields_table, rows_table

RIGHT = [{"id": n, "output": '{"a": 1}', "reference": '{"a": 1}'} for n in range(20)]
WORSE = [{**row, "output": '{"a": 2}'} for row in RIGHT[:12]] + RIGHT[12:]


def written(name, *runs):
    out = io.BytesIO()
    formats()[name].write(runs, out)
    return out.getvalue().decode()


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_markdown_has_a_table_of_figures_and_folds_the_rest(moods, people, interrupted):
    text = written("markdown", moods, people)
    lines = text.split("\n")
    assert lines[0] == "### moods: 4 samples"
    said = "50.0 % of 2 samples pass moody. 1 unscored row and 1 error are left out of rates."
    assert lines[2] == said
    assert cells(lines[6]) == ["<code>moody</code>", "50.0 %", "9.5 to 90.5 %", "3.500", "2", "1", "1"]  # fmt: skip
    assert "<details><summary>What went wrong</summary>" in text
    assert "| <code>error&#58; InputError</code> | 1 |" in text
    heads = ["### moods: 4 samples", "### people: 3 samples", "### A: moods; B: people"]
    assert re.findall("(?m)^### .*", text) == heads
    assert "Not compared" in text
    assert text.count("<details>") == text.count("</details>")
    assert "- cut: the run is incomplete: it was interrupted" in written("markdown", interrupted)


def test_hostile_texts_stay_in_their_cells_in_markdown(hostile):
    for text in (written("markdown", *hostile[:2]), written("markdown", hostile[2])):
        for table in re.findall(r"(?m)(?:^\|.*\n)+", text):
            assert len({line.count("|") for line in table.splitlines()}) == 1, table
        for line in text.split("\n"):
            assert not re.search(r"[@`\[\]\u202e\u2028\x1b]|www\.|<(?!(/?(code|details|summary)|br)>)", line), line  # fmt: skip
        assert "\n# all" not in text
        assert "javascript:" not in text


def test_junit_distinguishes_failures_errors_and_skips(moods, people, interrupted, hostile):
    suite = ElementTree.fromstring(written("junit", moods)).find("testsuite")
    counts = [suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")]
    assert counts == ["moody", "4", "1", "1", "1"]
    kinds = {case.get("name"): [(part.tag, part.get("type"), part.get("message")) for part in case] for case in suite}  # fmt: skip
    assert kinds == {
        "good": [],
        "bad": [("failure", "failure", "score 3: as it says")],
        "raise": [("error", "InputError", "the output asked for it")],
        "unscored": [("skipped", None, "nobody can tell")],
    }
    incomplete, *suites = ElementTree.fromstring(written("junit", interrupted, people))
    assert (incomplete.get("name"), incomplete.get("tests"), incomplete.get("errors")) == (
        "cut",
        "1",
        "1",
    )
    assert incomplete.find("testcase/error").get("message") == "it was interrupted"
    assert [suite.get("name") for suite in suites][:2] == ["cut.moody", "people.json_validity"]
    tags = {element.tag for element in ElementTree.fromstring(written("junit", *hostile)).iter()}
    assert tags == {"testsuites", "testsuite", "testcase", "failure", "error"}


def words(html):
    bare = re.sub("<style>.*?</style>", "", html, flags=re.DOTALL).replace("<wbr>", "")
    return " ".join(re.sub("<[^>]*>", " ", bare).split())


def test_a_notebook_shows_figures_causes_fields_differences_and_doubts():
    rows = [{"output": f'{{"total": {n}}}', "reference": '{"total": 1}'} for n in (1, 2, 2)]
    html = evaluate(rows, [JsonValidity(), JsonFields()])._repr_html_()
    assert 'class="figure' in html  # figures stand on the right
    for said in (
        "json_validity 100.0 % 43.9 to 100.0 % 1.000 3",
        "mismatch 2 json_fields",
        "/total 2 3 66.7 %",
        "2 for 1 (2 times)",
    ):
        assert said in words(html)
    runs = [evaluate(each, [JsonFields()]) for each in ([*RIGHT, {**RIGHT[0], "id": "more"}], WORSE)]  # fmt: skip
    text = words(compare(*runs)._repr_html_())
    assert text.startswith("A: A, 21 samples; B: B, 20 samples; 20 joined B is worse: ")
    assert "json_fields pass rate worse 100.0 % 40.0 % -60.0 points" in text
    assert "1 sample in A alone, so not compared" in text


def test_text_of_a_model_does_not_act_in_a_notebook(hostile):
    for shown in (compare(*hostile[:2]), *hostile):
        html = shown._repr_html_()
        assert not {"script", "img"} & set(re.findall("<([a-z]+)", html))
        assert "&lt;script&gt;" in html


def as_csv(table):
    out = io.BytesIO()
    WRITERS["csv"](table, out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))


def test_every_row_and_every_field_is_a_record(moods, people):
    records = as_csv(rows_table([moods]))
    assert [record["id"] for record in records] == ["good", "bad", "raise", "unscored"]
    assert [record["score"] for record in records] == ["4.0", "3.0", "", ""]
    assert [record["passed"] for record in records] == ["true", "false", "", ""]
    assert records[2]["error"] == "InputError: the output asked for it"
    assert as_csv(fields_table([moods])) == []
    records = as_csv(fields_table([people]))
    found = [(record["field"], record["leaves"], record["match"]) for record in records]
    assert found == [("/age", "3", "1"), ("/name", "3", "2")]
    assert json.loads(records[0]["wrong_values"]) == [{"output": "63", "reference": "36", "count": 1}]  # fmt: skip
    figures = people.summary["evaluators"]["json_fields"]["fields"]["/age"]
    assert float(records[0]["f1"]) == figures["f1"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *((text, f"'{text}") for text in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "＠A")),
        *(("a\nb", "a\nb"), ("a\rb", "a\nb"), ('a,"\r\n"', 'a,"\n"')),
    ],
)
def test_a_text_is_no_formula_in_a_spreadsheet_and_stays_in_its_cell(text, cell):
    run = evaluate([{"id": text, "output": "{}"}] * 2, [JsonValidity()])
    assert [record["id"] for record in as_csv(rows_table([run]))] == [cell, cell]


def test_parquet_holds_types_nulls_and_half_of_a_surrogate_pair(moods, people, hostile, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")

    def reread(table):
        with (tmp_path / "table").open("wb") as file:
            WRITERS["parquet"](table, file)
        return parquet.read_table(tmp_path / "table")

    rows = reread(rows_table([moods, people]))
    assert rows["passed"].to_pylist()[:4] == [True, False, None, None]
    assert str(rows.schema.field("score").type) == "double"
    assert set(rows["run"].to_pylist()) == {"moods", "people"}
    assert reread(fields_table([people]))["precision"].to_pylist() == [1 / 2, 1.0]
    assert reread(rows_table([evaluate([], [JsonValidity()])])).num_rows == 0
    assert "\\ud800" in reread(rows_table(hostile))["id"].to_pylist()[0]
