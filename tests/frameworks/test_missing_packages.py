"""A framework that is not installed is named in one wording, whichever it is."""

import subprocess
import sys

import pytest

PACKAGES = {
    "langchain": ("langchain_core", "langchain-core", "langchain"),
    "langchain.middleware": ("langchain", "langchain", "langchain-agents"),
    "llama_index": ("llama_index.core", "llama-index-core", "llamaindex"),
    "phoenix": ("phoenix.evals", "arize-phoenix-evals", "phoenix"),
    "pydantic_evals": ("pydantic_evals", "pydantic-evals", "pydantic-evals"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai", "pydantic-ai"),
    "inspect_ai": ("inspect_ai", "inspect-ai", "inspect"),
    **{name: (name, name, name) for name in ("langsmith", "mlflow", "deepeval", "dspy", "ray")},
}


@pytest.mark.parametrize("framework", PACKAGES)
def test_the_error_says_what_to_install(framework):
    module, package, extra = PACKAGES[framework]
    if framework.startswith("langchain."):  # the package around it needs this one
        pytest.importorskip("langchain_core")
    code = f"""
import sys
class Absent:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
import llmeval_integrations.frameworks.{framework}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().splitlines()[-1] == (
        f"llmeval_integrations.core.errors.MissingDependencyError: {package} is not installed; "
        f"run: pip install 'llmeval-integrations[{extra}]'"
    )
