from dataclasses import dataclass

import pytest

from llmeval_integrations import Evaluator, JsonFields, JsonMatch, JsonValidity, Result, evaluate
from llmeval_integrations.core.errors import InputError

HOSTILE = (
    "</td></code></details><script>document.title = 'acted'</script></script><img src=x onerror=\"document.title='acted'\">"
    '<!-- --><a href="javascript:alert(1)">| `forged` | <b>100 %</b> |\n\n# all passed\r\n@someone [x](https://example.org) #1'
    "]]> \u2028\u202egnp.exe\u2066 & \ud800 \x1b[2J\x1b]8;;http://x.invalid\x1b\\ a\x08b\x00\x7f\x9b2J\x85\x0b [red]markup[/red]"
)
"""A text that acts wherever it is not escaped."""


@dataclass(frozen=True)
class Moody(Evaluator):
    """Is the output in the mood? It passes, fails, is unscored or raises, as the output says."""

    def check(self, sample):
        if sample.output in ("raise", "hostile error"):
            raise InputError("the output asked for it" if sample.output == "raise" else HOSTILE)
        if sample.output == "unscored":
            return Result.unscored("nobody can tell")
        if sample.output == "hostile":
            return Result(0.0, False, HOSTILE, HOSTILE, {"differences": [{"pointer": HOSTILE, "kind": HOSTILE, "output": HOSTILE}]})  # fmt: skip
        return Result(len(str(sample.output)), sample.output != "bad", None, "as it says")


MOODS = [{"id": mood, "output": mood} for mood in ("good", "bad", "raise", "unscored")]
ADA = {"reference": '{"name": "Ada", "age": 36}'}
PEOPLE = [
    {"id": "right", "output": '{"name": "Ada", "age": 36}', **ADA},
    {"id": "old", "output": '{"name": "Ada", "age": 63}', **ADA},
    {"id": "older", "output": '{"name": "Ada", "age": 64}', **ADA},
    {"id": "cut", "output": '{"name": "Ad', **ADA},
]


@pytest.fixture
def moods(tmp_path):
    return evaluate(MOODS, {"moody": Moody()}, out=tmp_path / "moods")


@pytest.fixture
def people(tmp_path):
    return evaluate(PEOPLE, [JsonValidity(), JsonMatch(), JsonFields()], out=tmp_path / "people")


@pytest.fixture
def hostile(tmp_path):
    """Runs of hostile ids, names, fields, values, labels and errors; in the first all is right."""
    json = HOSTILE.replace("\ud800", "")  # JSON has no half of a pair
    rows = [
        {"id": f"{HOSTILE} {n}", "output": {json: json}, "reference": {json: "x"}} for n in range(9)
    ]
    right = [{**row, "output": row["reference"]} for row in rows]
    texts = [
        {"id": n, "output": output, "reference": HOSTILE, "input": HOSTILE, "group": HOSTILE}
        for n, output in enumerate(("hostile", "hostile error", HOSTILE))
    ]
    fields, moody = ({HOSTILE: first, "json": JsonValidity()} for first in (JsonFields(), Moody()))
    runs = ((right, fields, "@old"), (rows, fields, "www.new"), (texts, moody, "x"))
    return [evaluate(each, evaluators, out=tmp_path / name) for each, evaluators, name in runs]
