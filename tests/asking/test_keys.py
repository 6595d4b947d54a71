"""Where keys are found that must not be shown."""

import pytest

from llmeval_integrations.asking.keys import keys_in_environment, keys_in_fields

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
