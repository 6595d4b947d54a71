"""How often each label came, of evaluators that only label, wherever a run is shown."""

import io
import re
from dataclasses import dataclass

import pytest

from llmeval_integrations import Evaluator, JsonValidity, Result, evaluate
from llmeval_integrations.cli.main import main
from llmeval_integrations.reports import load_format


@dataclass(frozen=True)
class FirstLetter(Evaluator):
    """Which letter does it begin with?"""

    def check(self, sample):
        if sample.output == "?":
            return Result.unscored("nobody knows", label="unclear")
        return Result(None, None, sample.output[0], answered=True)


@dataclass(frozen=True)
class NeverSure(Evaluator):
    """What does nobody know?"""

    def check(self, sample):
        return Result.unscored("nobody knows", label="unclear")


@pytest.fixture
def run(tmp_path):
    rows = [{"output": text} for text in ["ab", "ac", "<b>", "?"]]
    return evaluate(rows, [FirstLetter(), NeverSure(), JsonValidity()], out=tmp_path / "run")


def lines(text):
    return [line.split() for line in re.sub(r"<[^>]*>|[|]", " ", text).split("\n")]


def test_a_table_counts_them(run):
    found = [line for line in lines(run.table()) if line[:1] == ["first_letter"]]
    assert ["first_letter", "a", "2", "50.0", "%"] in found
    assert "never_sure" not in run.table().split("label")[1].split("found")[0]


@pytest.mark.parametrize("name", ["html", "markdown"])
def test_a_report_counts_them(run, name):
    out = io.BytesIO()
    load_format(name).write([run], out)
    shown = " ".join(re.sub(r"<[^>]*>|[|]", " ", out.getvalue().decode()).split())
    assert "evaluator label rows share" in shown
    assert "a 2 50.0 %" in shown


def test_a_notebook_counts_them(run):
    shown = " ".join(re.sub(r"<[^>]*>", " ", run._repr_html_().replace("<wbr>", "")).split())
    assert "first_letter a 2 50.0 %" in shown
    assert "&lt; 1 25.0 %" in shown


def test_a_run_with_verdicts_has_none(tmp_path):
    assert "share" not in evaluate([{"output": "{"}], [JsonValidity()]).table()


def test_labels_alone_are_no_regression(tmp_path, capsys):
    for name, last in (("a", "b"), ("b", "?")):
        rows = [{"output": text} for text in ["ab"] * 40 + [last]]
        evaluate(rows, [FirstLetter(), JsonValidity()], out=tmp_path / name)
    folders = [str(tmp_path / name) for name in "ab"]
    assert main(["compare", *folders, "--fail-on-regression"]) == 0
    said = "first_letter: 1 of 41 samples are left out, as they have no score: 0 in A, 1 in B"
    assert said in capsys.readouterr().err
