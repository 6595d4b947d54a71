"""Markdown for a pull request: the figures, and no text of a model that acts."""

import io
import re

import pytest

from llmeval_integrations import JsonFields, JsonValidity, evaluate
from llmeval_integrations.reports import markdown
from llmeval_integrations.reports.parts import comparing


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


@pytest.mark.parametrize(("count", "said"), [(5, None), (6, "and 1 kind more"), (11, "and 6 kinds more")])  # fmt: skip
def test_kinds_that_are_not_listed_are_counted(kinds, count, said):
    text = written(kinds(count))
    assert text.count("<code>kinds</code> | <code>kind") == 5
    assert [line for line in text.split("\n") if line.startswith("and ")] == [said] * bool(said)


def test_runs_stand_below_each_other(moods, people):
    assert re.findall("### <code>(.*?)</code>", written(moods, people)) == ["moods", "people"]


ROWS = [{"id": f"row {n}", "output": '{"a": 1}', "reference": '{"a": 1}'} for n in range(20)]
WORSE = [{**row, "output": '{"a": 2}'} for row in ROWS[:12]] + ROWS[12:]


def ran(rows, path, evaluators=None):
    return evaluate(rows, evaluators or [JsonFields()], out=path)


def compared(*runs):
    """Give the lines of the comparison that hold anything."""
    return [line for line in written(*runs).split("### Comparison")[1].split("\n") if line]


def test_it_says_what_surely_differs_from_the_first_run(tmp_path):
    old, new = ran(ROWS, tmp_path / "old"), ran(WORSE, tmp_path / "new")
    lines = compared(old, new, old)
    assert lines[0] == "#### A: <code>old</code>; B: <code>new</code>"
    assert [cells(line) for line in lines[3:5]] == [
        ["<code>json_fields</code>", "pass rate", "1", "0.4", "-0.600", "-0.781 to -0.333", "0.0010", "worse"],
        ["<code>json_fields</code>", "<code>&#47;a</code>", "1", "0.4", "-0.600", "-0.781 to -0.333", "0.0010", "worse"],
    ]  # fmt: skip
    changed = [n for n, line in enumerate(lines) if "worse | passed | failed" in line]
    assert cells(lines[changed[0]])[1] == "<code>row 0</code>"
    assert cells(lines[changed[0]])[5] == "<code>&#47;a 2, expected 1</code>"
    assert len(changed) == 5
    assert lines[changed[-1] + 1 : changed[-1] + 4] == [
        "and 7 more; llmeval compare --json lists up to 100 of each evaluator",
        "</details>",
        "#### A: <code>old</code>; B: <code>old_2</code>",
    ]
    assert re.fullmatch(
        r"No difference is more than what chance may do\. A difference of 0\.\d+ in "
        r"<code>json_fields</code> pass rate would have been shown with a chance of 80 %\.",
        lines[-2],
    )
    assert lines[-1].startswith("Over the samples that both runs have; p is adjusted for all")
    assert lines[-1].endswith("intervals are not.")
    assert cells(lines[1])[6] == "adjusted p"
    assert cells(compared(new, old)[3])[2:] == ["0.4", "1", "+0.600", "+0.333 to +0.781", "0.0010", "better"]  # fmt: skip


def test_one_run_is_compared_with_nothing(moods):
    assert "Comparison" not in written(moods)


def test_runs_that_cannot_be_compared_say_so(moods, people, tmp_path, monkeypatch):
    assert "Not compared: <code>the runs have no evaluator in common" in compared(moods, people)[1]
    monkeypatch.setattr(comparing, "_MOST_ROWS", 17)
    assert "more than 17 rows" in compared(people, people)[1]


def test_what_makes_a_comparison_doubtful_is_told(tmp_path):
    old, new = ran(ROWS, tmp_path / "old"), ran(WORSE[1:], tmp_path / "new")
    assert "- <code>1 sample is in A alone, so not compared</code>" in compared(old, new)


def test_of_many_fields_the_first_are_shown(tmp_path):
    right = "{" + ", ".join(f'"f{n}": 1' for n in range(15)) + "}"
    rows = [{"id": n, "output": right, "reference": right} for n in range(30)]
    old = ran(rows, tmp_path / "old")
    lines = compared(old, ran([{**row, "output": "{}"} for row in rows], tmp_path / "new"))
    assert sum(line.startswith("| <code>json_fields</code> | <code>&#47;f") for line in lines) == 10
    assert "and 5 fields more" in lines


def test_of_many_samples_that_changed_some_are_listed(tmp_path):
    evaluators = {f"valid {n}": JsonValidity() for n in range(7)}
    old = ran(ROWS, tmp_path / "old", evaluators)
    new = ran(
        [{**row, "output": "{"} for row in ROWS[:12]] + ROWS[12:], tmp_path / "new", evaluators
    )
    lines = compared(old, new)
    assert sum("worse | passed | failed" in line for line in lines) == 30
    assert any(line.startswith("and 54 more; ") for line in lines)


def test_the_worst_fields_have_their_table(tmp_path):
    right = {f"f{n}": 1 for n in range(25)}
    rows = [{"id": "all right", "output": right, "reference": right}]
    rows += [{"id": "a|b", "output": {**right, "f7": "<b>|`"}, "reference": right}]
    lines = written(evaluate(rows, [JsonFields()], out=tmp_path / "r")).splitlines()
    [heads] = [n for n, line in enumerate(lines) if line.startswith("| field |")]
    worst = cells(lines[heads + 2])
    assert worst[:5] == ["<code>&#47;f7</code>", "2", "0.5", "0.5", "0.5"]
    assert worst[5] == '<code>"&#60;b&#62;&#124;&#96;"</code> for <code>1</code> (1)'
    assert worst[6] == "<code>a&#124;b</code>"
    assert sum(line.startswith("| <code>&#47;f") for line in lines) == 20
    assert "and 5 fields more in summary.json" in lines


def fields_of(text):
    """Give the rows of the table of fields."""
    table = text.split("<summary>Fields of")[1].split("</details>")[0]
    return [cells(line) for line in table.split("\n") if line.startswith("| <code>")]


def test_the_words_of_a_table_of_fields_are_explained_below_it(people):
    text = written(people)
    assert (
        text.count("A leaf is a single value, or an empty array or object. Of the values, prec")
        == 1
    )
    assert "A leaf" not in text.split("<summary>Fields of")[0]


def test_a_field_in_which_nothing_is_wrong_has_no_example(people):
    assert fields_of(written(people)) == [
        ["<code>&#47;age</code>", "3", "0.5", "0.3333", "0.4", "<code>63</code> for <code>36</code> (1)", "<code>old</code>"],
        ["<code>&#47;name</code>", "3", "1", "0.6667", "0.8", "", ""],
    ]  # fmt: skip


def test_long_values_are_cut_so_that_one_sees_where_they_differ():
    name = "Harbour Shipping and Trading Company of "
    rows = [{"output": {"v": f"{name}Boston"}, "reference": {"v": f"{name}Hull"}}]
    [row] = fields_of(written(evaluate(rows, [JsonFields()])))
    assert "Boston" in row[5]
    assert "Hull" in row[5]


def test_hostile_fields_stay_in_their_cells():
    evil = "a|b\n</code></details><script>@someone [x](https://example.org) `\u202e #1"
    rows = [{"id": evil, "output": {evil: evil}, "reference": {evil: "x"}}]
    text = written(evaluate(rows, {evil: JsonFields()}))
    [row] = fields_of(text)
    assert len(row) == 7
    for line in text.split("\n"):
        assert line.count("|") in {0, 5, 8}, line
        assert not re.search(r"[@`\[\]\u202e]|<(?!(/?(code|details|summary)|br)>)", line), line


def test_hostile_names_stay_in_their_cells_of_a_comparison(tmp_path):
    evil = "a|b\n<script>@someone [x](https://example.org) `"
    rows = [{**row, "output": f'{{"{evil[4:]}": 1}}', "reference": f'{{"{evil[4:]}": 1}}'} for row in ROWS]  # fmt: skip
    worse = [{**row, "output": "{}"} for row in rows]
    runs = [
        ran(each, tmp_path / name, {evil: JsonFields(), name + evil: JsonValidity()})
        for each, name in ((rows, "@old"), (worse, "@new"))
    ]
    lines = compared(*runs)
    assert sum(line.startswith("|") for line in lines) >= 4
    for line in lines:
        assert line.count("|") in {0, 7, 9}, line
        assert not re.search(r"[@`\[\]]|<(?!/?(code|details|summary)>)", line), line


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
