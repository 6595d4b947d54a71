"""Clients by name, or of an object that reaches a model."""

import subprocess
import sys
import traceback
from dataclasses import dataclass

import pytest

from llmeval_integrations.core.errors import (
    EvalError,
    InvalidOptionError,
    MissingDependencyError,
    UnknownNameError,
)
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.loading import load_client

pytest.importorskip("pydantic")

from llmeval_integrations.llm.config import ClientConfig

KEY = "sk-0123456789"


@dataclass
class Keyed:
    """Somebody's own settings."""

    api_key: str


class Echo(Client):
    """Answers without a model."""

    async def complete(self, request):
        raise NotImplementedError

    def identity(self):
        return {}


@pytest.mark.parametrize(
    "model",
    [
        "ollama:mistral-nemo:12b-instruct-2407-q8_0",
        {"name": "mistral-nemo:12b-instruct-2407-q8_0"},
        {"name": "mistral-nemo:12b-instruct-2407-q8_0", "platform": "ollama"},
        {"name": "ollama:mistral-nemo:12b-instruct-2407-q8_0"},
        ClientConfig(name="mistral-nemo:12b-instruct-2407-q8_0"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_by_name(model):
    pytest.importorskip("openai")
    client = load_client(model, retries=100, temperature=0.01)
    assert client.config.name == "mistral-nemo:12b-instruct-2407-q8_0"
    assert (client.config.platform, client.address()) == ("ollama", "http://localhost:11434/v1")
    assert (client.config.retries, client.config.temperature) == (100, 0.01)
    assert repr(client) == "OpenAIClient('mistral-nemo:12b-instruct-2407-q8_0')"
    assert load_client(client) is client


@pytest.mark.parametrize(
    ("package", "model", "kind"),
    [
        ("openai", "openai:gpt-4o", "OpenAIClient"),
        ("openai", {"name": "openai:gpt-4o", "api_key": "sk-of-a-test"}, "OpenAIClient"),
        ("openai", "vllm:m", "OpenAIClient"),
        ("openai", "llama.cpp:m", "OpenAIClient"),
        ("anthropic", "anthropic:claude-sonnet-5", "AnthropicClient"),
        ("google.genai", "google:gemini-3-flash", "GoogleClient"),
    ],
)
def test_each_platform_has_its_client(package, model, kind):
    pytest.importorskip(package)
    client = load_client(model)
    assert type(client).__name__ == kind
    platform = str(model["name"] if isinstance(model, dict) else model).partition(":")[0]
    assert (client.config.platform, ":" in client.config.name) == (platform, False)


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        ("gpt-4o", {}, InvalidOptionError, "'gpt-4o' is not 'platform:model'; platforms: .*ollama"),
        ("", {}, InvalidOptionError, "not 'platform:model'"),
        ("openai:", {}, InvalidOptionError, "not 'platform:model'"),
        (":gpt-4o", {}, UnknownNameError, "platform ''"),
        (
            "opnai:gpt-4o",
            {},
            UnknownNameError,
            "'opnai'; did you mean 'openai'\\? there are .*ollama",
        ),
        ({"name": "m", "platform": "x"}, {}, UnknownNameError, "'x'"),
        ('{name: "openai:m"}', {}, UnknownNameError, "an option is JSON, such as"),
        ({}, {}, InvalidOptionError, "name"),
        ("openai:m", {"colour": 1}, InvalidOptionError, "colour"),
        ("openai:m", {"retries": -1}, InvalidOptionError, "retries"),
        (None, {}, InvalidOptionError, "model=None is not .* or a Client of your own$"),
        (object(), {}, InvalidOptionError, "model=<object object"),
        (7, {"name": "m"}, InvalidOptionError, "model=7"),
        (Echo(), {"api_key": "sk-1"}, InvalidOptionError, "^api_key: <.*Echo.* is set up already"),
        ("openai:m", {"model": "n"}, InvalidOptionError, "model: .*there are name, base_url"),
    ],
)
def test_what_is_no_model_is_a_bad_call(model, options, error, message):
    with pytest.raises(error, match=message):
        load_client(model, **options)


@pytest.mark.parametrize(
    ("package", "kind", "name"),
    [
        ("openai", "OpenAI", "gpt-5-mini"),
        ("openai", "AsyncOpenAI", "gpt-5-mini"),
        ("anthropic", "Anthropic", "claude-sonnet-5"),
        ("google.genai", "Client", "gemini-3-flash"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"model": "m"}, {"timeout": 7}], ids=str)
def test_an_sdks_object_does_not_say_which_model(package, kind, name, options):
    sdk = getattr(pytest.importorskip(package), kind)(api_key=KEY)
    said = (
        f"the {kind} object does not say which model is asked; .*load_client.client, name='{name}'"
    )
    with pytest.raises(InvalidOptionError, match=said) as caught:
        load_client(sdk, **options)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert load_client(sdk, name=name).config.name == name


@pytest.mark.parametrize(
    "model",
    [
        {"platform": "openai", "api_key": KEY},
        {"name": "", "platform": "openai", "api_key": KEY},
        {"name": "m", "platform": "x", "api_key": KEY},
        {"name": "openai:m", "api_key": KEY, "timeout": 0},
        {"name": "openai:m", "options": [("api_key", KEY)]},
        {"name": "openai:m", "options": KEY},
        [{"name": "openai:m", "api_key": KEY}],
        Keyed(KEY),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_error_shows_a_key(model):
    with pytest.raises(EvalError) as caught:
        load_client(model)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_client_with_other_options_is_a_copy():
    pytest.importorskip("openai")
    client = load_client("openai:gpt-4o", api_key="sk-1", max_tokens=5, timeout=7)
    other = load_client(client, max_tokens=9, temperature=1)
    changed = {"max_tokens": 9, "temperature": 1.0}
    assert dict(other.config) == {**dict(client.config), **changed}
    assert client.config.max_tokens == 5
    assert load_client(client, platform="vllm").address() == "http://localhost:8000/v1"
    with pytest.raises(InvalidOptionError, match="colour"):
        load_client(client, colour=1)


def test_a_client_of_an_sdks_object_with_other_options_keeps_the_object():
    openai = pytest.importorskip("openai")
    sdk = openai.OpenAI(api_key="sk-1", base_url="http://localhost:1/v1", max_retries=4)
    client = load_client(sdk, name="m", timeout=7)
    other = load_client(client, name="n", retries=2)
    assert (other.given, other.config.name, other.config.timeout) == (sdk, "n", 7)
    assert (client.config.retries, other.config.retries) == (4, 2)
    with pytest.raises(InvalidOptionError, match="base_url: the OpenAI object has that already"):
        load_client(client, base_url="http://localhost:2/v1")


def test_looking_for_a_client_loads_no_sdk():
    code = (
        "import sys\n"
        "from llmeval_integrations.llm.loading import load_client\n"
        "try: load_client('nobody:m')\n"
        "except LookupError: pass\n"
        "print({'openai', 'anthropic', 'google.genai', 'litellm', 'langchain_core', 'llama_index'}"
        " & {*sys.modules})\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"


def test_a_slip_a_missing_package_and_a_missing_key_are_told_in_this_order(monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InvalidOptionError, match="no key is set for openai; set OPENAI_API_KEY"):
        load_client("openai:m").check()
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(
        MissingDependencyError, match=r"pip install 'llmeval-integrations\[openai\]'"
    ):
        load_client("openai:m").check()
    with pytest.raises(UnknownNameError, match="did you mean 'openai'"):
        load_client("opnai:m").check()
