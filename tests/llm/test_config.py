"""Which model is asked, and how."""

import traceback

import pytest

from llmeval_integrations.core.errors import InvalidOptionError

pydantic = pytest.importorskip("pydantic")

from llmeval_integrations.llm.config import ClientConfig  # noqa: E402 - needs pydantic

KEY = "sk-0123456789"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name: .*got ''"),
        ({"temperature": -0.1}, r"temperature: .*got -0\.1"),
        ({"timeout": float("inf")}, "timeout: .*86400"),
        ({"output": "yaml"}, "output: .*got 'yaml'"),
        ({"temprature": 0}, "temprature: .*there are name, base_url"),
        ({"temperature": 9, "retries": -1}, "temperature: .*; retries: "),
        ({"base_url": "http://me:pw@host/v1"}, "base_url: an address with a login or a query"),
        ({"base_url": "http://host/v1?a=b"}, "base_url: an address with a login or a query"),
    ],
)
def test_a_field_that_makes_none_is_named(fields, message):
    with pytest.raises(InvalidOptionError, match=message):
        ClientConfig.of(**{"name": "m", **fields})
    with pytest.raises(InvalidOptionError, match=r"^model: name: Field required$"):
        ClientConfig.of(api_key=KEY)


@pytest.mark.parametrize(
    ("text", "key"),
    [(KEY, KEY), ("${MY_KEY}", KEY), ("-", None), ("", None)],
)
def test_a_key_is_given_or_referred_to_and_never_shown(text, key, monkeypatch):
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")  # as a secret's file ends
    config = ClientConfig(name="m", api_key=text)
    assert config.key() == key
    for shown in (repr(config), str(config), config.model_dump_json(), str(dict(config))):
        assert KEY not in shown


@pytest.mark.parametrize("broken", ["sk-\n0123", "sk-é0123", "${NO_SUCH_0123}"])
def test_a_key_that_cannot_be_sent_is_a_bad_call(broken):
    with pytest.raises(InvalidOptionError) as caught:
        ClientConfig(name="m", api_key=broken).key()
    assert ("0123" in str(caught.value)) == broken.startswith("$")


@pytest.mark.parametrize(
    "fields", [{"api_key": [KEY]}, {"apikey": KEY}, {"options": [{"api_key": KEY}]}]
)
def test_a_key_in_the_wrong_place_is_not_shown_either(fields):
    with pytest.raises(InvalidOptionError) as caught:
        ClientConfig.of(name="", **fields)
    assert KEY not in "".join(traceback.format_exception(caught.value))
