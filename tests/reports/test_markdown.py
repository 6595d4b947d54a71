"""Markdown for a pull request: the figures, and no text of a model that acts."""

import io
import re

import pytest

from llmeval_integrations import JsonFields, JsonValidity, evaluate
from llmeval_integrations.reports import markdown


def written(*runs):
    out = io.BytesIO()
    markdown.write(runs, out)
    return out.getvalue().decode()


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_figures_stand_in_a_table_and_the_rest_is_folded(moods, people, interrupted):
    text = written(moods, people)
    lines = text.split("\n")
    assert lines[0] == "### moods: 4 samples"
    assert (
        lines[2] == "50.0 % of 2 samples pass moody. 1 unscored row and 1 error count in no rate."
    )
    assert cells(lines[6]) == ["<code>moody</code>", "50.0 %", "9.5 to 90.5 %", "3.500", "2", "1", "1"]  # fmt: skip
    assert "<details><summary>What went wrong</summary>" in text
    assert "| <code>error&#58; InputError</code> | 1 |" in text
    assert re.findall("(?m)^### .*", text) == [
        "### moods: 4 samples",
        "### people: 3 samples",
        "### A: moods; B: people",
    ]
    assert "Not compared" in text
    assert text.count("<details>") == text.count("</details>")
    assert "- cut: the run is incomplete: it was interrupted" in written(interrupted)


def test_it_says_what_surely_differs_from_the_first_run(tmp_path):
    rows = [{"id": n, "output": '{"a": 1}', "reference": '{"a": 1}'} for n in range(20)]
    worse = [{**row, "output": '{"a": 2}'} for row in rows[:12]] + rows[12:]
    runs = [
        evaluate(each, [JsonFields()], out=tmp_path / name)
        for each, name in ((rows, "old"), (worse, "new"))
    ]
    lines = written(*runs).split("### A: ")[1].split("\n")
    assert lines[0] == "old, 20 samples; B: new, 20 samples; 20 joined"
    assert cells(lines[6]) == ["<code>json_fields pass rate</code>", "worse", "100.0 %", "40.0 %", "-60.0 points", "-78.1 to -33.3", "20", "12", "0", "0.0010"]  # fmt: skip


def test_hostile_texts_stay_in_their_cells(hostile, tmp_path):
    evil = "a|b\n</code></details><script>@someone [x](https://example.org) `\u202e #1"
    rows = [{"id": evil, "output": {evil: evil}, "reference": {evil: "x"}} for _ in range(9)]
    right = [{**row, "output": row["reference"]} for row in rows]
    runs = [
        evaluate(each, {evil: JsonFields(), "json": JsonValidity()}, out=tmp_path / name)
        for each, name in ((right, "@old"), (rows, "www.new"))
    ]
    for text in (written(hostile), written(*runs)):
        for table in re.findall(r"(?m)(?:^\|.*\n)+", text):
            assert len({line.count("|") for line in table.splitlines()}) == 1, table
        for line in text.split("\n"):
            assert not re.search(r"[@`\[\]\u202e\u2028\x1b]|www\.|<(?!(/?(code|details|summary)|br)>)", line), line  # fmt: skip
        assert "\n# all" not in text
        assert "javascript:" not in text


@pytest.mark.parametrize(
    "text", ["@someone", "#12", "https://example.org", "a_b_c *x*", "&lt;b&gt;"]
)
def test_nothing_becomes_a_mention_a_link_or_an_entity(text):
    quoted = markdown.quote(text)
    assert not re.search(r"[@*:/]|#(?!\d+;)|&(?!#\d+;)", quoted.removeprefix("<code>").removesuffix("</code>"))  # fmt: skip
