from dataclasses import dataclass

import pytest
from browser import CHROMIUM, browser

from llmeval_integrations import Evaluator, JsonFields, JsonMatch, JsonValidity, Result, evaluate
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.load import read_run

HOSTILE = (
    "<script>document.title = 'acted'</script></script><img src=x onerror=\"document.title='acted'\">"
    '<!-- --><a href="javascript:alert(1)">| `forged` | <b>100 %</b> |\n\n# all passed\n'
    "]]> \u2028\u202egnp.exe & \ud800 \x1b[2J"
)


@dataclass(frozen=True)
class Moody(Evaluator):
    """Is the output in the mood? It passes, fails, is unscored or raises, as the output says."""

    def check(self, sample):
        if sample.output == "raise":
            raise InputError("the output asked for it")
        if sample.output == "unscored":
            return Result.unscored("nobody can tell")
        if sample.output == "hostile":
            return Result(0.0, False, HOSTILE, HOSTILE, {"differences": [{"pointer": HOSTILE, "kind": HOSTILE, "output": HOSTILE}]})  # fmt: skip
        return Result(len(str(sample.output)), sample.output != "bad", None, "as it says")


MOODS = [{"id": mood, "output": mood} for mood in ("good", "bad", "raise", "unscored")]
PEOPLE = [
    {"id": "right", "output": '{"name": "Ada", "age": 36}', "reference": '{"name": "Ada", "age": 36}'},
    {"id": "old", "output": '{"name": "Ada", "age": 63}', "reference": '{"name": "Ada", "age": 36}'},
    {"id": "cut", "output": '{"name": "Ad', "reference": '{"name": "Ada", "age": 36}'},
]  # fmt: skip


@pytest.fixture
def moods(tmp_path):
    return evaluate(MOODS, {"moody": Moody()}, out=tmp_path / "moods")


@pytest.fixture
def people(tmp_path):
    evaluators = [JsonValidity(), JsonMatch(), JsonFields()]
    return evaluate(PEOPLE, evaluators, out=tmp_path / "people")


@pytest.fixture
def hostile(tmp_path):
    sample = {"id": HOSTILE, "output": "hostile", "reference": HOSTILE, "input": HOSTILE}
    other = {"id": "other", "output": HOSTILE, "reference": HOSTILE}
    return evaluate([sample, other], {HOSTILE: Moody(), "json": JsonValidity()}, out=tmp_path / "x")


@pytest.fixture
def interrupted(tmp_path):
    """A run that Ctrl-C ended after two of four samples."""

    def stop(samples, _share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(MOODS[:2], {"moody": Moody()}, out=tmp_path / "cut", on_progress=stop)
    return read_run(tmp_path / "cut")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(chromium):
    """A page without a past."""
    chromium.requests.clear()
    chromium.complaints.clear()
    return chromium
