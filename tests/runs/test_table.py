"""A run as a table that no output can forge."""

from dataclasses import dataclass

import pytest

from llmeval_integrations import Evaluator, JsonMatch, JsonValidity, LengthPenalty, Result
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.stored import read_run

SAMPLES = [
    {"output": "{}", "reference": "{}"},
    {"output": "{", "reference": "{}"},
    {"output": "[", "reference": "{}"},
    {"output": "{}"},
]


def test_the_table_has_every_figure():
    table = evaluate(SAMPLES, [JsonValidity(), JsonMatch()]).table()
    header, validity, match = (
        line.split() for line in table.splitlines() if line.strip().startswith(("evaluator ", "json_"))
        and ("n" in line.split() or "to" in line.split())
    )  # fmt: skip
    assert header == [
        "evaluator",
        "n",
        "scored",
        "unscored",
        "errors",
        "mean",
        "pass_rate",
        "pass_rate_ci95",
    ]
    assert validity == ["json_validity", "4", "4", "0", "0", "0.5", "0.5", "0.150", "to", "0.850"]
    assert match == [
        "json_match",
        "4",
        "3",
        "0",
        "1",
        "0.3333",
        "0.3333",
        "0.061",
        "to",
        "0.792",
    ]


def test_below_stand_defects_and_errors_with_their_counts_and_reasons():
    lines = [
        " ".join(line.split()) for line in evaluate(SAMPLES, [JsonMatch()]).table().splitlines()
    ]
    assert any(line.startswith("json_match truncated 2 Expecting") for line in lines)
    assert any(
        line.startswith("json_match error: MissingFieldError 1 row 4: nothing in") for line in lines
    )


def test_a_run_without_findings_or_rows_has_a_table_too():
    assert "found" not in evaluate([{"output": "{}"}], [JsonValidity()]).table()
    empty = evaluate([], [JsonValidity()]).table()
    assert empty.split()[-8:] == ["json_validity", "0", "0", "0", "0", "-", "-", "-"]


def test_a_run_prints_as_its_table():
    run = evaluate(SAMPLES, [JsonValidity()])
    assert str(run) == run.table()
    assert repr(run) == "<Run of json_validity over 4 samples>"


@dataclass(frozen=True)
class Repeats(Evaluator):
    """Does the output come back?"""

    def check(self, sample):
        if isinstance(sample.output, dict):
            raise TypeError(sample.output["raise"])
        return Result(0, False, sample.output, sample.output)


HOSTILE = [
    "\x1b[2J\x1b[1;1H\x1b[31mALL PASSED",
    "\x1b]8;;http://example.invalid\x1b\\link\x1b]8;;\x1b\\",
    "json_match 1000 1000 0 0 1\n  forged      9\r  row",
    "a\x08\x08b\x00\x7f\x9b2J",
    "abc\u202egnissap\u2066",
    "\ud800 lone",
    "[bold red]markup[/bold red] [link=x]y[/link] :warning:",
    "\u2028\u2029\x85 line\x0bbreaks\x0c",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", ["label", "error", "name"])
def test_text_from_a_model_is_shown_and_does_not_act(text, place):
    sample = {"output": {"raise": text} if place == "error" else text}
    name = text if place == "name" else "repeats"
    plain = evaluate([{"output": "plain"}], {"repeats": Repeats()}).table()
    table = evaluate([sample], {name: Repeats()}).table()
    assert all(char.isprintable() for char in table.replace("\n", ""))
    table.encode()
    shown = "".join(table.split())
    assert "forged9" not in shown or "\\n" in shown
    if "[bold" in text:
        assert "[boldred]markup[/boldred]" in shown
        assert ":warning:" in shown
    assert [line.strip()[:1] for line in table.splitlines()].count("─") == plain.count("\n ─")


def test_long_reasons_are_cut():
    table = evaluate([{"output": "x" * 100_000}], [Repeats(), LengthPenalty()]).table()
    assert "x..." in "".join(table.split())
    assert len(table) < 10_000


def test_a_run_that_lacks_samples_says_so(tmp_path):
    run = evaluate(SAMPLES, [JsonValidity()], out=tmp_path / "run")
    assert "incomplete" not in run.table() + read_run(run.out).table()
    (run.out / "summary.json").unlink()
    killed = read_run(run.out)
    said = "4 samples; the run is incomplete: there is no summary.json, so it was killed or is"
    assert said in killed.table()
    assert said in killed._repr_html_()
