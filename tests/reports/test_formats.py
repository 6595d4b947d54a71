"""Runs as Markdown, JUnit, notebooks, CSV, Arrow and Parquet, and served; no text in them acts."""

import csv
import http.client
import io
import json
import re
import threading
from xml.etree import ElementTree

import pytest

from llmeval_integrations import JsonValidity, compare, evaluate
from llmeval_integrations.reports import formats
from llmeval_integrations.reports.server import Server
from llmeval_integrations.reports.tables import WRITERS, fields_table, rows_table


def written(name, *runs):
    out = io.BytesIO()
    formats()[name].write(runs, out)
    return out.getvalue().decode()


def test_markdown_has_a_table_of_figures_and_folds_the_rest(moods, people, interrupted):
    text = written("markdown", moods, people)
    lines = text.split("\n")
    said = "50.0 % of 2 samples pass moody. 1 unscored row and 1 error are left out of rates."
    assert (lines[0], lines[2]) == ("### moods: 4 samples", said)
    assert lines[6] == "| <code>moody</code> | 50.0 % | 9.5 to 90.5 % | 3.500 | 2 | 1 | 1 |"
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
        for line in text.replace("pass@k", "").split("\n"):
            assert not re.search(r"[@`\[\]\u202e\u2028\x1b]|www\.|<(?!(/?(code|details|summary)|br)>)", line), line  # fmt: skip
        assert not re.search("\n# all|javascript:", text)


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
    counts = [incomplete.get(name) for name in ("name", "tests", "errors")]
    assert counts == ["cut", "1", "1"]
    assert incomplete.find("testcase/error").get("message") == "it was interrupted"
    assert [suite.get("name") for suite in suites][:2] == ["cut.moody", "people.json_validity"]
    tags = {element.tag for element in ElementTree.fromstring(written("junit", *hostile)).iter()}
    assert tags == {"testsuites", "testsuite", "testcase", "failure", "error"}


def test_a_notebook_shows_the_figures_and_lets_no_text_act(people, hostile):
    bare = re.sub("<style>.*?</style>|<wbr>", "", people._repr_html_(), flags=re.DOTALL)
    text = " ".join(re.sub("<[^>]*>", " ", bare).split())
    assert 'class="figure' in bare  # figures stand on the right
    for said in ("json_validity 66.7 % 20.8 to 93.9 % 0.667 3", "/age 1 2 50.0 %", "63 for 36"):
        assert said in text
    for shown in (compare(*hostile[:2]), *hostile):
        html = shown._repr_html_()
        assert not {"script", "img"} & set(re.findall("<([a-z]+)", html))
        assert "&lt;script&gt;" in html


def as_csv(table):
    out = io.BytesIO()
    WRITERS["csv"](table, out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))


def test_every_row_and_every_field_is_a_record(moods, people, hostile, tmp_path):
    records = as_csv(rows_table([moods]))
    assert [(each["id"], each["score"], each["passed"]) for each in records] == [
        *(("good", "4.0", "true"), ("bad", "3.0", "false"), ("raise", "", ""), ("unscored", "", ""))
    ]
    assert records[2]["error"] == "InputError: the output asked for it"
    assert as_csv(fields_table([moods])) == []
    records = as_csv(fields_table([people]))
    found = [(record["field"], record["leaves"], record["match"]) for record in records]
    assert found == [("/age", "3", "1"), ("/name", "3", "2")]
    assert json.loads(records[0]["wrong_values"]) == [{"output": "63", "reference": "36", "count": 1}]  # fmt: skip
    figures = people.summary["evaluators"]["json_fields"]["fields"]["/age"]
    assert float(records[0]["f1"]) == figures["f1"]
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


HOSTS = [
    *(("127.0.0.1", 200), ("LocalHost", 200), ("127.0.0.1:80", 200), ("localhost:8080", 200)),
    *(("evil.example:80", 403), ("localhost.evil.example", 403), ("evil.example:localhost:80", 403)),
    (None, 403),
]  # fmt: skip


def test_the_server_answers_to_this_machine_and_compares_finished_runs(moods, people):
    with Server([str(moods.out), str(people.out)]) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        for host, status in HOSTS:
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
            connection.putrequest("GET", "/", skip_host=True)
            if host is not None:
                connection.putheader("Host", host)
            connection.endheaders()
            assert (host, connection.getresponse().status) == (host, status)
            connection.close()
        server.shutdown()
        assert b"Not compared: " in server.page()
        (moods.out / "summary.json").unlink()
        assert b"Not compared: " not in server.page()
