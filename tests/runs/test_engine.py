"""An engine: whoever evaluates the lines of a file, the files are those of this process."""

import json
import os
from importlib.util import find_spec

import pytest
from remote_model import Remote, Repeats
from slow_evaluators import Slow

from llmeval_integrations import InputError, InvalidOptionError, JsonFields, JsonValidity, evaluate
from llmeval_integrations.cli.main import main
from llmeval_integrations.runs.judging import judging
from llmeval_integrations.runs.parts import evaluate_part, parts_of

FILES = ("results.jsonl", "samples.jsonl", "summary.json")


class Near:
    """Evaluates parts of two lines or three, in this process but as another would."""

    def __init__(self, job, options, judges):
        self.job, self.options, self.judges = job, options, judges

    def ready(self, source):
        return source.share != 1

    def answers(self, offset, number):
        left = self.judges and self.judges.left(self.options)
        with judging(self.job.evaluators, left or self.options) as judges:
            for part, text in parts_of(self.job.path, offset, number, 100):
                answer = evaluate_part(self.job, text, part.number, judges)
                yield answer, part.offset + part.length

    def close(self):
        self.job = None


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    odd = {30: "raise", 31: "unscored", 33: "{", 34: 7}
    lines = [json.dumps({"id": f"é{number}", "output": odd.get(number, "x" * (number % 5)), "reference": f'{{"a": {number % 7}}}'}) for number in range(60)]  # fmt: skip
    lines[20:20] = ["", "no JSON at all"]  # an empty line is skipped but counted
    path.write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def same_files(one, other):
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in FILES)


def test_the_files_are_those_of_this_process(data, tmp_path):
    evaluators = [Slow(0), JsonValidity(), JsonFields()]
    evaluate(data, evaluators, out=tmp_path / "here")
    evaluate(data, evaluators, out=tmp_path / "there", engine=Near)
    assert same_files(tmp_path / "here", tmp_path / "there")


def test_judges_are_counted_as_in_this_process(data, tmp_path):
    def run(**options):
        return evaluate(data, {"judge": Repeats(Remote(seconds=0)), "valid": JsonValidity()}, **options)  # fmt: skip

    run(out=tmp_path / "here")
    run(out=tmp_path / "there", engine=Near)
    assert same_files(tmp_path / "here", tmp_path / "there")
    judging = run(max_tokens=15 * 20, concurrency=2, engine=Near).summary["judging"]
    assert judging["budget_reached"] == "max_tokens=300"
    assert 20 <= judging["calls"] < 25
    assert judging["calls"] + judging["not_asked"] == 60


def test_a_run_that_broke_off_is_gone_on_with(data, tmp_path):
    def interrupt(samples, _):
        if samples > 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(data, [Slow(0)], out=tmp_path / "there", engine=Near, on_progress=interrupt)
    evaluate(data, [Slow(0)], out=tmp_path / "there", engine=Near, resume=True)
    evaluate(data, [Slow(0)], out=tmp_path / "here")
    assert same_files(tmp_path / "here", tmp_path / "there")


@pytest.mark.parametrize("text", ["", '{"output": "{}"}', '{"output": "{}"}\n' * 9])
def test_short_files_are_evaluated_whole(tmp_path, text):
    path = tmp_path / "short.jsonl"
    path.write_text(text)
    run = evaluate(path, [JsonValidity()], engine=Near)
    assert run.rows == evaluate(path, [JsonValidity()]).rows
    assert len(run.rows) == text.count("output")


@pytest.mark.parametrize("options", [{"limit": 3}, {"sample": 3}, {"format": "json"}])
def test_other_data_than_whole_files_of_json_lines_are_refused(data, options):
    if "format" in options:
        data.write_text("[]")
    with pytest.raises(InputError, match=r"all lines of a file of JSON Lines.*evaluate_dataset"):
        evaluate(data, [JsonValidity()], engine=Near, **options)


def test_rows_in_memory_and_pipes_are_refused(data):
    with pytest.raises(InputError, match="and the samples is none"):
        evaluate([{"output": "{}"}], [JsonValidity()], engine=Near)
    reader, writer = os.pipe()
    os.write(writer, b'{"output": "{}"}\n')
    os.close(writer)
    with pytest.raises(InputError, match=f"and /dev/fd/{reader} is none"):
        evaluate(f"/dev/fd/{reader}", [JsonValidity()], engine=Near, format="jsonl")
    os.close(reader)


def test_a_name_is_no_engine(data):
    with pytest.raises(InvalidOptionError, match=r"engine='ray' is not an engine; give.*RayEngine"):
        evaluate(data, [JsonValidity()], engine="ray")


def test_processes_are_not_an_engine_s(data):
    with pytest.raises(InvalidOptionError, match="workers=2 are processes of this machine"):
        evaluate(data, [JsonValidity()], engine=Near, workers=2)


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_configuration_names_the_engine(data, engine, capsys):
    path = data.parent / "eval.yaml"
    path.write_text(f"data: data.jsonl\nevaluators: [json_validity]\nengine: {engine}\n")
    code = main(["run", str(path), "--quiet"])
    said = "Invalid enum value 'spark' - at `$.engine`" in capsys.readouterr().err
    assert (code, said) == {"local": (0, False), "spark": (2, True)}[engine]


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_an_engine_that_is_not_installed_says_how_it_is(data, capsys):
    assert main(["run", str(data), "-e", "json_validity", "--engine", "ray"]) == 2
    assert "pip install 'llmeval-integrations[ray]'" in capsys.readouterr().err
