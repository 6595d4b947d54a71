"""Generate the pages of docstrings, notebooks and tables when the site is built."""

from __future__ import annotations

import ast
import json
import os
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import MISSING
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

from docstrings import as_restructured_text, documentation, written
from sphinx.application import Sphinx

import llmeval_integrations
from llmeval_integrations import conformance, frameworks, guards, judges, reports, runs
from llmeval_integrations.cli.evaluators import Option, read_docstring, read_needs, read_options
from llmeval_integrations.cli.main import parsers
from llmeval_integrations.core import errors
from llmeval_integrations.core.catalog import evaluator_class, list_evaluators
from llmeval_integrations.core.errors import MissingDependencyError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.judges.prompt import Prompt
from llmeval_integrations.llm.messages import Message

DOCS = Path(__file__).parent
ROOT = DOCS.parent
MADE = ("evaluators", "notebooks", "api")
"""The folders that contain only generated pages."""

WRITTEN = ("tutorials/", "how-to/", "reference/", "explanation/")
"""The folders that are written by hand."""

INCLUDED = {
    "CHANGELOG.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "SECURITY.md": "/security.md",
    "benchmarks/RESULTS.md": "/benchmarks.md",
}
"""The files that a page of the site includes."""

COURSE = ("langchain", "llama_index", "judges", "extraction", "rewards")
"""The notebooks in their teaching order; others follow."""

LONGEST_DEFAULT = 60
"""The largest number of characters of a default that a signature shows."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the generation of pages to a build."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir), all_pages()))
    app.connect("source-read", link_pages)
    app.connect("autodoc-process-docstring", as_restructured_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def all_pages() -> dict[str, str]:
    """Return all generated pages by their paths."""
    return {**evaluators(), **notebooks(), **api(), **tables()}


def write_pages(folder: Path, pages: dict[str, str]) -> None:
    """Write the pages that changed, and remove pages that no longer exist."""
    for room in MADE:
        for path in (folder / room).glob("*.*"):
            if f"{room}/{path.name}" not in pages:
                path.unlink()
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


# Links of pages that are written by hand also work in the repository.


def link_pages(_app: Sphinx, document: str, source: list[str]) -> None:
    """Replace links to files that the site's pages include by links to these pages."""
    if document.startswith(WRITTEN):
        source[0] = re.sub(r"\]\(\.\./\.\./([^)\s#]+)(#[^)\s]*)?\)", linked, source[0])


def linked(link: re.Match[str]) -> str:
    """Return the link of the site for a link to a file of the repository."""
    target, anchor = link[1], link[2] or ""
    if target.startswith("docs/"):
        target = target.removeprefix("docs")
    elif target == "notebooks/":
        target = "/notebooks/index.md"
    elif target.endswith(".ipynb"):
        target = f"/{target}"
    elif target in INCLUDED:
        target = INCLUDED[target]
    else:
        target = f"/../{target}"
    return f"]({target}{anchor})"


def toctree(pages: Any, *, hidden: bool = False) -> str:
    """Write a list of pages."""
    option = ":hidden:\n" if hidden else ":maxdepth: 1\n"
    return "```{toctree}\n" + option + "\n" + "\n".join(pages) + "\n```\n"


# One page for each evaluator.


def evaluators() -> dict[str, str]:
    """Return a page for each of our evaluators, and their list by task."""
    kinds = {
        name: kind
        for name, kind in zip(list_evaluators(), map(evaluator_class, list_evaluators()))
        if is_ours(kind)
    }
    pages = {f"evaluators/{name}.md": evaluator_page(kind) for name, kind in kinds.items()}
    tasks = evaluators_by_task()
    listed = {name for names in tasks.values() for name in names}
    tasks["Judges, which ask a model"] = [name for name in kinds if name not in listed]
    text = "# Evaluators by task\n\n"
    for task, names in tasks.items():
        rows = "".join(
            f"| [`{name}`]({name}.md) | {read_docstring(kinds[name])[0]} |\n" for name in names
        )
        text += f"## {task}\n\n| name | question |\n| --- | --- |\n{rows}\n"
    pages["evaluators/index.md"] = text + toctree(kinds, hidden=True)
    return pages


def evaluators_by_task() -> dict[str, list[str]]:
    """Return the tasks and their evaluators from the README's table."""
    section = (ROOT / "README.md").read_text().partition("## Evaluators\n")[2].partition("\n## ")[0]
    tasks: dict[str, list[str]] = {}
    for line in section.splitlines():
        if heading := re.match(r"\| \*\*(.+?)\*\*", line):
            names = tasks.setdefault(heading[1], [])
        elif row := re.match(r"\| \[`(\w+)`\]", line):
            names.append(row[1])
    return tasks


def is_ours(kind: type[Evaluator]) -> bool:
    """Return whether an evaluator is from this package and not from another one."""
    return kind.__module__.startswith(f"{llmeval_integrations.__name__}.")


def evaluator_page(kind: type[Evaluator]) -> str:
    """Return the page of an evaluator, with its example."""
    summary, documentation = read_docstring(kind)
    every = list(read_options(kind))
    example = (DOCS / "examples" / f"{kind.name}.py").read_text()
    options = "\n".join(map(option_entry, every))
    prompts = [option.default for option in every if type(option.default) is Prompt]
    text = re.sub(
        r"^Example:\n((?: {4}.*\n?)+)",
        lambda found: f"```python\n{dedent(found[1])}```\n",
        f"{documentation}\n",
        flags=re.MULTILINE,
    )
    text = re.sub(r"^ {4}(\w+Error): ", r"- `\1`: ", text, flags=re.MULTILINE)
    return f"""\
# {kind.name}

**{summary}** {needs_of(kind, every)}

{text}
## Example

```python
{example}```

## Options

```{{py:currentmodule}} {home_of(kind).__name__}
```

`````{{py:class}} {signature(kind, every)}
{options}
`````
{"".join(map(prompt_entry, prompts))}"""


def home_of(kind: type[Evaluator]) -> ModuleType:
    """Return the module that people import an evaluator from."""
    return llmeval_integrations if hasattr(llmeval_integrations, kind.__name__) else judges


def needs_of(kind: type[Evaluator], options: list[Option]) -> str:
    """Return the fields that an evaluator needs, and its names."""
    names = " or ".join(f"`{name}`" for name in (kind.name, *kind.aliases))
    needs = " and ".join(f"`{name}`" for name in read_needs(kind))
    needed = "It needs only the output."
    if needs:
        needed = f"It needs {needs} in addition to the output, unless an option changes this."
    if any(option.default is MISSING and "Evaluator" in option.type for option in options):
        needed = "It needs the fields that its evaluators need."
    return f"{needed}\nName in `load_evaluator` and on the command line: {names}."


def signature(kind: type[Evaluator], options: list[Option]) -> str:
    """Return the signature of an evaluator's constructor."""
    written = (
        each.name if each.default is MISSING else f"{each.name}={short(each.default, 30)}"
        for each in options
    )
    return f"{kind.__name__}({', '.join(written)})"


def short(value: Any, longest: int = LONGEST_DEFAULT) -> str:
    """Return a default as text, or its type if the text is long."""
    written = repr(value)
    if len(written) <= longest:
        return written
    return "'...'" if isinstance(value, str) else f"{type(value).__name__}(...)"


def option_entry(option: Option) -> str:
    """Return the entry of an option: its type, default and documentation."""
    default = "" if option.default is MISSING else f":value: {quoted(short(option.default))}\n"
    whole = ""
    if isinstance(option.default, str) and short(option.default) == "'...'":
        whole = f"\n\n> {option.default}"
    return (
        f"````{{py:attribute}} {option.name}\n:type: {quoted(option.type)}\n{default}\n"
        f"{option.documentation}{whole}\n````\n"
    )


def quoted(text: str) -> str:
    """Quote the option of a directive so that its characters have no special meaning."""
    return json.dumps(text, ensure_ascii=False)


def prompt_entry(prompt: Prompt) -> str:
    """Return the section with a judge's prompt."""
    said = (
        f"{message.role}:\n\n```text\n{message.text}\n```\n"
        for message in prompt.template
        if isinstance(message, Message)
    )
    return "\n## Prompt\n\n" + "\n".join(said)


# The notebooks as they are in the repository.


def notebooks() -> dict[str, str]:
    """Return the notebooks and their list."""
    found = {path.stem: path.read_text() for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
    order = sorted(found, key=lambda name: COURSE.index(name) if name in COURSE else len(COURSE))
    pages = {f"notebooks/{name}.ipynb": text for name, text in found.items()}
    text = "You can run each notebook on a laptop, without an API key or a network. They need"
    needs = "`pip install 'llmeval-integrations[all,langchain-agents]' jupyter matplotlib`"
    pages["notebooks/index.md"] = f"# Notebooks\n\n{text} {needs}.\n\n{toctree(order)}"
    return pages


# The Python API: every public name, from its docstring.


def api() -> dict[str, str]:
    """Return a page for each module that users import."""
    modules = (llmeval_integrations, judges, guards, runs, conformance, reports)
    rooms = [module.__name__ for module in modules]
    files = pkgutil.iter_modules(frameworks.__path__, f"{frameworks.__name__}.")
    names = rooms + [found.name for found in files if "._" not in found.name]
    names.append("llmeval_integrations.frameworks.langchain.middleware")
    pages = {f"api/{name}.md": module_page(name) for name in names}
    pages["api/index.md"] = f"# Python API\n\n{toctree(names)}"
    return pages


# Pages about the command line, labels and errors.


def tables() -> dict[str, str]:
    """Return the pages of options, labels and errors."""
    os.environ["COLUMNS"] = "96"
    parser, commands = parsers()
    helps = "\n".join(
        f"{title}\n\n```text\n{each.format_help()}```\n"
        for title, each in {
            "# Command line": parser,
            **{f"## llmeval {name}": each for name, each in commands.items()},
        }.items()
    )
    defects = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in DEFECTS.items())
    raised = "".join(
        f"| `{name}` | {', '.join(f'`{base.__name__}`' for base in kind.__bases__)} "
        f"| {str(kind.__doc__).splitlines()[0]} |\n"
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.EvalError)
    )
    return {
        "api/command-line.md": helps,
        "api/labels.md": (
            "# Labels\n\nIf an output is not valid JSON, its label names the defect:\n\n"
            f"| label | means |\n| --- | --- |\n{defects}\n"
            "If values are compared, the label is the kind of a difference: `mismatch`, "
            "`wrong_type`, `missing` or `extra`. For `json_schema` it is the keyword of the first "
            "error. [Each evaluator's page](../evaluators/index.md) lists its own labels.\n"
        ),
        "api/errors.md": (
            f"# Errors\n\n{errors.__doc__}\n| error | is a | means |\n| --- | --- | --- |\n{raised}"
        ),
    }


def module_page(name: str) -> str:
    """Return the page of a module, from its source file if its framework is not installed."""
    title = f"# {name.removeprefix('llmeval_integrations.')}\n\n"
    try:
        module = import_module(name)
    except MissingDependencyError:
        spec = find_spec(name)
        source = ast.parse(Path(str(spec and spec.origin)).read_text())
        said = "\n\n".join([documentation(source), *written(source)])
        return f"{title}```{{eval-rst}}\n{said}\n```\n"
    names = list(getattr(module, "__all__", ())) or list(defined(module))
    names = [each for each in names if not has_page(module, each)]
    return f"""{title}```{{eval-rst}}
.. automodule:: {name}
   :members: {", ".join(names)}
   :imported-members:
```
"""


def defined(module: ModuleType) -> Iterator[str]:
    """Yield the public names that a module without `__all__` defines."""
    for name, thing in vars(module).items():
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__:
            yield name


def has_page(module: ModuleType, name: str) -> bool:
    """Return whether a name is an evaluator, with a page of its own, or on the package's page."""
    thing = getattr(module, name)
    is_evaluator = isinstance(thing, type) and getattr(thing, "name", None) in list_evaluators()
    return is_evaluator or (module != llmeval_integrations and name in llmeval_integrations.__all__)
