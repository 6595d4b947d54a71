"""What tells one model from another, where part of it has no JSON."""

import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import pytest

from llmeval_integrations.llm.sdks.fingerprint import address_of, fingerprint

pydantic = pytest.importorskip("pydantic")


class Model(pydantic.BaseModel):
    part: object = None
    left_out: object = pydantic.Field(default=None, exclude=True)


class Other(pydantic.BaseModel):
    part: object = None
    left_out: object = None


class Pipeline:
    def __init__(self, name, calls=0):
        self.task, self.calls, self.model = "text-generation", calls, SimpleNamespace(name=name)
        self.api_key = f"sk-{calls}"

    def asked(self):
        return self.task


@dataclass
class Settings:
    top_p: float


def multiplied(factor):
    return lambda number: number * factor


class Slotted:
    __slots__ = ("part", "unset")

    def __init__(self, part):
        self.part = part


PLAIN = [
    (0, 1),
    (0.5, 0.9),
    (False, True),
    (None, 1),
    ({"model": "a"}, {"model": "b"}),
    (["model", "a"], ["model", "b"]),
    ({"a"}, {"b"}),
    ({"model": {"name": "a"}}, {"model": {"name": "b"}}),
    (SimpleNamespace(temperature=0), SimpleNamespace(temperature=1)),
]
DIFFERENT = [
    ("a", "b"),
    (1, True),
    (Model(part=1), Other(part=1)),
    (Model(part=Model(part=1)), Model(part=Model(part=2))),
    (lambda text: text.upper(), lambda text: text.lower()),
    (lambda text: text + "a", lambda text: text + "b"),
    (multiplied(2), multiplied(3)),
    (partial(round, ndigits=1), partial(round, ndigits=2)),
    (Pipeline("gpt2"), Pipeline("phi")),
    (Pipeline("gpt2").asked, Pipeline("phi").asked),
    (Settings(0.5), Settings(0.9)),
    *((SimpleNamespace(part=one), SimpleNamespace(part=other)) for one, other in PLAIN),
    (SimpleNamespace(discount=1), SimpleNamespace(discount=2)),
    *((Slotted(one), Slotted(other)) for one, other in PLAIN),
    ([Settings(0.5)], [Settings(0.9)]),
    ({"a": {1, 2}}, {"a": {1, 3}}),
    (len, abs),
    (str, int),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_a_model_is_told_by_all_that_it_holds(one, other):
    assert fingerprint(Model(part=one)) == fingerprint(Model(part=one))
    assert fingerprint(Model(part=one)) != fingerprint(Model(part=other))


def test_what_does_not_shape_a_reply_tells_no_models_apart():
    assert fingerprint(Model(left_out=1)) == fingerprint(Model(left_out=2))
    assert fingerprint(Model(part=Pipeline("a", 1))) == fingerprint(Model(part=Pipeline("a", 2)))
    one, other = (SimpleNamespace(call_count=count) for count in (1, 2))
    assert fingerprint(Model(part=one)) == fingerprint(Model(part=other))
    for name in ("api_key", "default_headers"):
        one, other = ({"Authorization": key} for key in ("sk-1234567", "sk-7654321"))
        assert fingerprint(Model(part={name: one})) == fingerprint(Model(part={name: other}))
    one, other = (pydantic.SecretStr(key) for key in ("sk-1234567", "sk-7654321"))
    assert fingerprint(Model(part=one)) == fingerprint(Model(part=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://host/v1", "http://host/v1/"),
        ("http://host/v1?a=1", "http://host/v1/?a=1"),
        ("http://host/v1", "http://host/v1#a"),
    ],
)
def test_addresses_of_the_same_place_tell_no_models_apart(one, other):
    for name in ("base_url", "azure_endpoint"):
        told = [fingerprint(Model(part={name: address})) for address in (one, other)]
        assert told[0] == told[1]
    sdks = [SimpleNamespace(base_url=address) for address in (one, other)]
    assert fingerprint(Model(left_out=sdks[0])) == fingerprint(Model(left_out=sdks[1]))


def test_it_is_the_same_in_another_process(tmp_path):
    (tmp_path / "made.py").write_text("""
from llmeval_integrations.llm.sdks.fingerprint import fingerprint

class Pipeline:
    def __init__(self):
        self.name, self.lock, self.parts = "gpt2", object(), [{"one", "two"}, {1: object()}]

words = {"one", "two", "three"}
told = [lambda text: text in {"one", "two", "three"}, lambda: words, words, Pipeline(), object()]
print(fingerprint(told))
""")
    runs = [
        subprocess.run([sys.executable, tmp_path / "made.py"], capture_output=True, check=True)
        for _ in range(3)
    ]
    assert len({run.stdout for run in runs}) == 1


def test_what_holds_itself_is_followed_so_far():
    thing = SimpleNamespace(name="a")
    thing.own = thing
    items = []
    items.append(items)

    def calling_itself():
        return calling_itself()

    for part in (thing, items, calling_itself):
        assert fingerprint(Model(part=part)) == fingerprint(Model(part=part))


def test_an_address_is_that_of_the_sdk_where_the_model_has_none():
    sdk = SimpleNamespace(base_url="http://localhost:1/v1/")
    resource = SimpleNamespace(_client=sdk)
    for part in (sdk, resource):
        assert address_of(Model(part=part)) == "http://localhost:1/v1/"
        assert fingerprint(Model(left_out=part)) != fingerprint(Model())
    assert address_of(Model()) is None
