"""Markdown for a pull request: the figures, and no text of a model that acts."""

import io
import re

import pytest

from llmeval_integrations.reports import markdown


def written(*runs):
    out = io.BytesIO()
    markdown.write(runs, out)
    return out.getvalue().decode()


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_figures_stand_in_a_table(moods):
    lines = written(moods).split("\n")
    assert lines[0] == "### <code>moods</code>: 4 samples"
    assert cells(lines[4]) == [
        "<code>moody</code>",
        "50.0 %",
        "9.5 to 90.5 %",
        "3.5",
        "2",
        "1",
        "1",
    ]


def test_a_run_that_was_interrupted_is_told(interrupted, moods):
    first = written(interrupted).split("\n")[0]
    assert first == "### <code>cut</code>: 2 samples; the run is incomplete: it was interrupted"
    assert "incomplete" not in written(moods)


def test_what_went_wrong_is_folded_below(moods):
    text = written(moods)
    assert "<details><summary>What went wrong</summary>" in text
    assert "| <code>moody</code> | <code>error&#58; InputError</code> | 1 | <code>row 3&#58; the output asked for it</code> |" in text  # fmt: skip


def test_runs_stand_below_each_other(moods, people):
    assert re.findall("### <code>(.*?)</code>", written(moods, people)) == ["moods", "people"]


def test_a_hostile_text_stays_in_its_cell(hostile):
    text = written(hostile)
    for line in text.split("\n"):
        assert len(re.findall(r"(?<!\\)\|", line)) in {0, 8, 5}, line
    assert "\n# all" not in text
    assert set(re.findall("<(/?[a-z]+)", text)) == {"code", "/code", "details", "/details", "summary", "/summary"}  # fmt: skip
    assert "javascript:" not in text
    assert not re.search(r"[`\[\]\u202e\u2028\x1b]", text)


@pytest.mark.parametrize(
    "text", ["@someone", "#12", "https://example.org", "a_b_c *x*", "&lt;b&gt;"]
)
def test_nothing_becomes_a_mention_a_link_or_an_entity(text):
    quoted = markdown.quoted(text)
    assert not re.search(r"[@*:/]|#(?!\d+;)|&(?!#\d+;)", quoted.removeprefix("<code>").removesuffix("</code>"))  # fmt: skip
