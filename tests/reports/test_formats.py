"""Runs as Markdown, JUnit, notebooks, CSV, Arrow and Parquet, and served; no text in them acts."""

import csv
import http.client
import io
import re
import threading
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from llmeval_integrations import JsonValidity, compare, evaluate
from llmeval_integrations.reports import formats
from llmeval_integrations.reports.server import Server
from llmeval_integrations.reports.tables import WRITERS, fields_table, rows_table

GOLDEN = Path(__file__).parent / "golden"


WRITES = {
    "report.md": formats()["markdown"].write,
    "junit.xml": formats()["junit"].write,
    "rows.csv": lambda runs, out: WRITERS["csv"](rows_table(runs), out),
    "fields.csv": lambda runs, out: WRITERS["csv"](fields_table(runs), out),
}


def written(file, *runs):
    out = io.BytesIO()
    WRITES[file](runs, out)
    return out.getvalue().decode()


def test_reports_and_tables_are_written_as_in_the_files_beside(moods, people):
    cut = replace(moods, summary={**moods.summary, "incomplete": "it was interrupted"})
    runs = {"report.md": [cut, people], "junit.xml": [cut, people], "rows.csv": [moods]}
    for file, each in (runs | {"fields.csv": [people]}).items():
        assert written(file, *each) == (GOLDEN / file).read_text("utf-8"), file
    assert '<testsuite name="moody"' in written("junit.xml", moods)  # the only run


ACTIVE = re.compile(r"[@`\[\]\u202e\u2028\x1b]|www\.|<(?!(/?(code|details|summary)|br)>)|\n# all|javascript:")  # fmt: skip


def test_hostile_texts_stay_in_their_cells_and_elements(hostile):
    for text in (written("report.md", *hostile[:2]), written("report.md", hostile[2])):
        for table in re.findall(r"(?m)(?:^\|.*\n)+", text):
            assert len({line.count("|") for line in table.splitlines()}) == 1, table
        assert not ACTIVE.search(text.replace("pass@k", ""))
    # As a number, each letter would take eight characters of a comment, which may have 65,536.
    assert formats()["markdown"].quote("字段 über") == "<code>字段 über</code>"
    tags = {each.tag for each in ElementTree.fromstring(written("junit.xml", *hostile)).iter()}
    assert tags == {"testsuites", "testsuite", "testcase", "failure", "error"}


def test_a_notebook_shows_the_figures_and_lets_no_text_act(people, hostile):
    html = people._repr_html_()
    assert ">json_<wbr>match<" in html
    assert ">/age<" in html  # the first slash of a path stays with its name
    bare = re.sub("<style>.*?</style>|<wbr>", "", html, flags=re.DOTALL)
    text = " ".join(re.sub("<[^>]*>", " ", bare).split())
    assert 'class="figure' in bare  # figures stand on the right
    for said in ("json_validity 75.0 % 30.1 to 95.4 % 0.750 4", "/age 2 3 66.7 %", "63 for 36"):
        assert said in text
    for shown in (compare(*hostile[:2]), *hostile):
        html = shown._repr_html_()
        assert not {"script", "img"} & set(re.findall("<([a-z]+)", html))
        assert "&lt;script&gt;" in html


def test_a_table_for_programs_has_types(moods, people, hostile, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")

    def reread(table):
        with (tmp_path / "table").open("wb") as file:
            WRITERS["parquet"](table, file)
        return parquet.read_table(tmp_path / "table")

    rows = reread(rows_table([moods, people]))
    assert rows["passed"].to_pylist()[:4] == [True, False, None, None]
    assert str(rows.schema.field("score").type) == "double"
    assert reread(fields_table([people]))["precision"].to_pylist() == [1 / 3, 1.0]
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
    records = csv.DictReader(io.StringIO(written("rows.csv", run), newline=""))
    assert [record["id"] for record in records] == [cell, cell]


HOSTS = {
    **dict.fromkeys(("127.0.0.1", "LocalHost", "127.0.0.1:80", "localhost:8080"), 200),
    **dict.fromkeys(("evil.example:80", "localhost.evil.example", "evil.example:localhost:80", None), 403),
}  # fmt: skip


def test_the_server_answers_to_this_machine_and_compares_finished_runs(moods, people):
    with Server([str(moods.out), str(people.out)]) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        for host, status in HOSTS.items():
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
        (moods.out / "results.jsonl").write_bytes(b"")  # the run has just begun
        assert b": 0 samples" in server.page()
