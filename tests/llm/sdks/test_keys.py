"""Where keys are found that must not be shown."""

import pytest
from pace import at_most

from llmeval_integrations.llm.sdks.keys import (
    keys_in_environment,
    keys_in_fields,
    keys_in_options,
    without_keys,
)

pydantic = pytest.importorskip("pydantic")


class Sdk:
    api_key = "sk-of-the-sdk"


class Model(pydantic.BaseModel):
    api_key: str = "sk-in-the-clear"
    secret: pydantic.SecretStr = pydantic.SecretStr("sk-hidden")
    function: object = None
    name: str = "model"
    _client: Sdk = pydantic.PrivateAttr(default_factory=Sdk)


def test_a_model_holds_keys_in_fields_secrets_and_its_sdk():
    assert set(keys_in_fields(Model())) == {"sk-in-the-clear", "sk-hidden", "sk-of-the-sdk"}


def test_what_is_too_short_is_no_key():
    model = Model(api_key="-", secret=pydantic.SecretStr("x"))
    assert keys_in_fields(model) == ["sk-of-the-sdk"]


def test_the_environment_names_its_keys(monkeypatch):
    monkeypatch.setenv("SOME_VENDOR_API_KEY", "sk-of-a-vendor")
    monkeypatch.setenv("SOME_TOKEN", "token-of-a-vendor")
    monkeypatch.setenv("SOME_WORD", "no-key-at-all")
    found = keys_in_environment()
    assert {"sk-of-a-vendor", "token-of-a-vendor"} <= set(found)
    assert "no-key-at-all" not in found


def test_a_model_within_a_model_holds_keys_too():
    class Outer(pydantic.BaseModel):
        inner: pydantic.BaseModel

    assert set(keys_in_fields(Outer(inner=Model()))) == set(keys_in_fields(Model()))


NAMES_OF_KEYS = (
    "api_key apiKey APIKey X-Api-Key apikey Authorization proxy-authorization Helicone-Auth "
    "access_token X-Amz-Security-Token client_secret password aws_secret_access_key Cookie "
    "Ocp-Apim-Subscription-Key vertex_credentials sig"
)
NAMES_OF_KEYS_OR_NOT = (
    "think_end_token image_token lora_key end_token routing_key model_key prompt_cache_key token key "
    "hf_token auth_header secret_mode"
)
OTHER_NAMES = "model seed stop user max_tokens stop_token_ids keyword author monkey donkey tokens"


def test_a_text_is_hidden_under_a_name_that_tells_of_a_key():
    for name in NAMES_OF_KEYS.split():
        given = {"deep": [{name: "sk-1234567"}]}
        assert without_keys(given) == {"deep": [{name: "(hidden)"}]}, name
        assert "sk-1234567" in keys_in_options(given), name
    for name in OTHER_NAMES.split():
        assert without_keys({name: "sk-1234567"}) == {name: "sk-1234567"}, name
        assert keys_in_options({name: "sk-1234567"}) == [], name


def test_a_text_is_a_digest_under_a_name_that_may_tell_of_a_key():
    for name in NAMES_OF_KEYS_OR_NOT.split():
        one, same, other = (without_keys({name: text})[name] for text in ("aaaaaa", "aaaaaa", "b"))
        assert one == same != other, name
        assert "aaaaaa" not in one, name
        assert keys_in_options({name: "gpt-4o-mini-2024-07-18"}) == [], name
        assert "k" * 37 in keys_in_options({name: "k" * 37}), name


def test_a_short_name_tells_of_a_key_in_a_header_and_in_a_query():
    for name in ("key", "Token"):
        assert without_keys({"headers": {name: "0123456"}}) == {"headers": {name: "(hidden)"}}
        assert keys_in_options(f"http://host/?{name}=0123456", "base_url")[0] == "0123456"


def test_a_header_that_tells_of_no_key_is_a_digest():
    for name in ("extra_headers", "headers", "defaultHeaders", "extra_query"):
        one, same, other = (
            without_keys({name: {"X-Team": team, "X-Api-Key": key, "": None}})[name]
            for team, key in (("a", "sk-1"), ("a", "sk-2"), ("b", "sk-1"))
        )
        assert one == same != other
        assert (one["X-Api-Key"], one["X-Team"][:9]) == ("(hidden)", "(hidden, ")


def test_what_is_not_a_text_is_no_key():
    schema = {"properties": {"api_key": {"type": "string"}, "token": {"type": "integer"}}}
    assert without_keys({"schema": schema, "max_tokens": 5}) == {"schema": schema, "max_tokens": 5}


@pytest.mark.parametrize(
    ("address", "bare"),
    [
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("http://me:password@host/v1", "http://host/v1"),
        ("http://password@host", "http://host"),
        ("me:password@host/v1", "host/v1"),
        ("http://host/v1/@me", "http://host/v1/@me"),
        ("http://host/v1/", "http://host/v1"),
        ("http://host/v1#password", "http://host/v1"),
        ("http://host/?key=password", "http://host?key=(hidden)"),
        ("http://host?key=password#/?", "http://host?key=(hidden)"),
    ],
)
def test_an_address_is_told_without_its_login(address, bare):
    assert without_keys({"base_url": address}) == {"base_url": bare}


def test_a_text_that_begins_with_an_address_is_none():
    for text in ("http://host/# what stands there?", "say https://host/"):
        assert without_keys({"stop": text}) == {"stop": text}


def test_a_query_is_told_by_digests():
    one, same, other, bare = (
        without_keys({"base_url": f"http://host/?{query}"})["base_url"]
        for query in ("route=a&key=1", "route=a&key=2", "route=b&key=1", "password")
    )
    assert one == same != other
    assert "route=a" not in one
    assert "password" not in bare


def test_a_password_is_found_as_it_is_written_and_as_it_is_meant():
    found = keys_in_options("http://me:pass%40word@host/?api_key=0123456", "base_url")
    assert set(found) == {"pass%40word", "pass@word", "0123456"}


def test_an_address_of_any_length_is_read_in_linear_time():
    for text in ("http://" + ":" * 200_000, "a" * 200_000, "http://?" + "&" * 200_000):
        with at_most(10):
            without_keys({"base_url": text, text: text})
            keys_in_options(text, "base_url")
