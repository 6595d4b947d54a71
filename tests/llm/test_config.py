"""Which model is asked, and how."""

import pickle
import traceback

import pytest

from llmeval_integrations.core.errors import InputError, InvalidOptionError

pydantic = pytest.importorskip("pydantic")

from llmeval_integrations.llm.config import ClientConfig  # noqa: E402 - needs pydantic

KEY = "sk-0123456789"


def test_the_defaults_are_those_of_a_local_model():
    config = ClientConfig(name="mistral-nemo")
    assert config.model_dump(exclude={"api_key"}) == {
        "name": "mistral-nemo",
        "base_url": None,
        "platform": "ollama",
        "max_tokens": None,
        "temperature": 0.0,
        "timeout": 300,
        "retries": 5,
        "price": None,
        "output": "auto",
        "options": {},
    }
    assert config.key() is None


def test_a_configuration_travels():
    config = ClientConfig.of(name="m", temperature=2.0, options={"seed": 7}, output="text")
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 - our own


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name: .*got ''"),
        ({"temperature": -0.1}, r"temperature: .*got -0\.1"),
        ({"temperature": 2.1}, "temperature: "),
        ({"temperature": float("nan")}, "temperature: "),
        ({"retries": -1}, "retries: "),
        ({"retries": 5.5}, "retries: "),
        ({"timeout": 0}, "timeout: "),
        ({"timeout": float("inf")}, "timeout: .*86400"),
        ({"max_tokens": 0}, "max_tokens: "),
        ({"output": "yaml"}, "output: .*got 'yaml'"),
        ({"options": 7}, "options: "),
        ({"temprature": 0}, "temprature: .*there are name, base_url"),
        ({"temperature": 9, "retries": -1}, "temperature: .*; retries: "),
    ],
)
def test_a_field_that_makes_none_is_named(fields, message):
    with pytest.raises(InvalidOptionError, match=message):
        ClientConfig.of(**{"name": "m", **fields})


def test_a_configuration_without_a_name_is_none():
    with pytest.raises(InvalidOptionError, match=r"^model: name: Field required$"):
        ClientConfig.of(api_key=KEY)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (KEY, KEY),
        ("${MY_KEY}", KEY),
        ("Bearer-${MY_KEY}", f"Bearer-{KEY}"),
        ("${LINE}", KEY),
        ("-", None),
        ("", None),
        ("$MY_KEY", "$MY_KEY"),
    ],
)
def test_a_key_is_given_or_referred_to(text, key, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("LINE", f"{KEY}\n")
    assert ClientConfig(name="m", api_key=text).key() == key


def test_a_variable_that_is_not_there_is_named():
    with pytest.raises(InvalidOptionError, match="no variable 'NO_SUCH_KEY'"):
        ClientConfig(name="m", api_key="${NO_SUCH_KEY}").key()


@pytest.mark.parametrize("broken", ["sk-\n0123", "sk-é0123", "sk-\x000123"])
def test_a_key_that_no_header_takes_is_a_bad_call_and_not_shown(broken):
    with pytest.raises(InvalidOptionError) as caught:
        ClientConfig(name="m", api_key=broken).key()
    assert "0123" not in str(caught.value)


def test_a_key_is_never_shown(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    for text in (KEY, "${MY_KEY}"):
        config = ClientConfig(name="m", api_key=text)
        config.key()
        for shown in (repr(config), str(config), config.model_dump_json(), str(dict(config))):
            assert KEY not in shown


@pytest.mark.parametrize(
    "fields",
    [
        {"api_key": [KEY]},
        {"api_key": {"x": KEY}},
        {"apikey": KEY},
        {"api_key": KEY.encode()},
        {"options": KEY},
        {"options": [{"api_key": KEY}]},
        {"base_url": {"k": KEY}},
    ],
)
@pytest.mark.parametrize("make", [ClientConfig, ClientConfig.of], ids=["class", "of"])
def test_a_key_in_the_wrong_place_is_not_shown_either(make, fields):
    with pytest.raises((ValueError, TypeError)) as caught:
        make(name="", **fields)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_configuration_from_yaml(tmp_path, monkeypatch):
    path = tmp_path / "judge.yaml"
    path.write_text(
        "name: gpt-4o\nplatform: openai\napi_key: ${MY_KEY}\ntemperature: 0.01\nretries: 100\n"
    )
    monkeypatch.setenv("MY_KEY", KEY)
    config = ClientConfig.from_yaml(path)
    assert (config.name, config.platform, config.key()) == ("gpt-4o", "openai", KEY)
    assert (config.temperature, config.retries) == (0.01, 100)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- name: m", "expected the fields of a ClientConfig"),
        ("", "expected the fields of a ClientConfig"),
        ("1: m", "expected the fields of a ClientConfig"),
        ("name: [", "cannot be read as YAML"),
        ("name: !!python/object:os.system x", "cannot be read as YAML"),
        (b"\xff\xfe\x00", "cannot be read as YAML"),
        ("name: m\nretries: many", "retries: "),
        (None, r"judge\.yaml cannot be read"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(content, message, tmp_path):
    path = tmp_path / "judge.yaml"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message) as caught:
        ClientConfig.from_yaml(path)
    assert "judge.yaml" in str(caught.value)
