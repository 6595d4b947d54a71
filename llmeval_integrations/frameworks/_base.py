"""The code that the classes of all frameworks share: the evaluator inside, and its sample.

As everywhere in these frameworks, None means an absent field. Only as an output it means that the
model wrote nothing. JSON null is the text "null".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from llmeval_integrations.core.errors import (
    EvalError,
    InputError,
    InvalidOptionError,
    MissingDependencyError,
    MissingFieldError,
    RegexTimeoutError,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice
from llmeval_integrations.core.quote import add_article, quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.text_evaluator import to_storable_text
from llmeval_integrations.json_values.parse import as_python
from llmeval_integrations.messages.read import find_messages, read_messages

FIELDS: Final = Sample.__struct_fields__[1:]
"""The fields of a sample, except its output."""


class UnscoredError(EvalError):
    """There is no score, and the framework can only report this as a failure."""


@contextmanager
def optional(module: str, package: str, extra: str) -> Iterator[None]:
    """Name the extra to install if the module cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        # If an installed package lacks a module of its own, it is broken, not absent.
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise MissingDependencyError.of(package, extra) from error


class Wrapper:
    """A framework's evaluator that contains one of our evaluators.

    `name` is its name in the framework, by default the evaluator's name. `value` is "score" or
    "passed", if the framework accepts a single figure. Raises InvalidOptionError for another value,
    and for an object that is not an Evaluator.
    """

    def __init__(
        self, evaluator: Evaluator, *, name: str | None = None, value: str = "score"
    ) -> None:
        if not isinstance(evaluator, Evaluator):
            raise InvalidOptionError(
                f"{quote(evaluator)} is not an Evaluator; load_evaluator(name) makes one by name"
            )
        self.evaluator = evaluator
        self.name = name or evaluator.name
        self.value = value
        check_choice(self, "value", ["score", "passed"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.evaluator!r})"

    def evaluate_many(self, samples: list[Sample]) -> list[Result]:
        """Evaluate samples; one for which a regular expression takes too long is unscored.

        It depends on what the model wrote, so it must not end a training as a bad call does.
        """
        try:
            return self.evaluator.evaluate_many(samples)
        except RegexTimeoutError as error:
            if len(samples) == 1:
                return [Result.unscored(str(error), label="regex_timeout")]
            return [result for each in samples for result in self.evaluate_many([each])]

    def figure(self, result: Result) -> Any:
        """Return the score, or the verdict if `value` is "passed"; None if there is none."""
        return as_python(getattr(result, self.value))

    def number(self, result: Result, unscored: float | None = None) -> float | None:
        """Return the figure as a number, or `unscored` if there is none."""
        figure = self.figure(result)
        return unscored if figure is None else float(figure)

    def require_figure(self, result: Result) -> float:
        """Return the figure as a number; raise UnscoredError if there is none."""
        number = self.number(result)
        if number is None:
            label = f" ({result.label})" if result.label else ""
            raise UnscoredError(f"{self.name} is unscored{label}: {result.reason}")
        return number


def make_sample(evaluator: Evaluator, output: Any, metadata: Any = None, **fields: Any) -> Sample:
    """Make a sample of fields that may be None; a single text becomes a list of contexts.

    The framework's metadata become variables of a judge's prompt. Their `contexts` and `schema`
    also become fields of the sample, unless these are given. NumPy arrays become lists. Raises
    MissingFieldError if the output or a field that the evaluator needs is missing.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if isinstance(metadata, Mapping) and metadata:
        further = {name: metadata.get(name) for name in ("contexts", "schema")}
        given = {"variables": dict(metadata), **further, **given}
    if isinstance(given.get("contexts"), str):
        given["contexts"] = [given["contexts"]]
    found = {name: as_python(value) for name, value in given.items() if value is not None}
    if output is not MISSING:
        found["output"] = as_python(output)
    for field in ("output", *evaluator.needs):
        if field not in found:
            raise MissingFieldError(
                f"{evaluator.name} needs {add_article(field)}, and there is none; "
                'JSON null is the text "null"'
            )
    return Sample(**found)


def to_optional_text(value: Any) -> str | None:
    """Return the text of a value, or None; lone surrogates, which Pydantic refuses, are escaped."""
    return None if value is None else to_storable_text(value)


def takes_model(kind: type[Evaluator]) -> bool:
    """Return whether an evaluator's class has an option `model`."""
    return kind.is_judge and "model" in getattr(kind, "__dataclass_fields__", ())


@dataclass(frozen=True)
class Keys:
    """The keys of a framework's mappings that contain the fields of a sample.

    `output` and `contexts` are keys of the outputs, `reference` of the references, `input` of the
    inputs, `schema` of the references or else the inputs. The key "" selects the whole mapping.
    Without a key, the only value of a mapping is selected. Several inputs become one mapping.
    Several outputs or references raise InputError. Contexts and a schema always need a key.
    """

    output: str | None = None
    reference: str | None = None
    input: str | None = None
    contexts: str | None = None
    schema: str | None = None

    def sample(
        self,
        evaluator: Evaluator,
        inputs: Any,
        outputs: Any,
        references: Any,
        context: Any = None,
        **further: Any,
    ) -> Sample:
        """Make a sample; the inputs and all further arguments become variables of a prompt.

        `context` contains the contexts if they have no key. Raises InputError for a missing key.
        """
        variables = {**(inputs if isinstance(inputs, Mapping) else {}), **further}
        sources = {"output": outputs, "reference": references, "input": inputs}
        if self.contexts is not None:
            sources["contexts"] = outputs
        if self.schema is not None:
            is_expected = isinstance(references, Mapping) and self.schema in references
            sources["schema"] = references if is_expected else inputs
        found = {name: self._find(name, source, evaluator) for name, source in sources.items()}
        fields = {"variables": variables or None, "contexts": context, **found}
        return make_sample(evaluator, **fields)

    def _find(self, field: str, source: Any, evaluator: Evaluator) -> Any:
        key = getattr(self, field)
        is_mapping = isinstance(source, Mapping)
        if field == "output" and (source is None or (is_mapping and not source)):
            return MISSING
        if key:
            if is_mapping and key in source:
                return source[key]
            there = quote(list(source) if is_mapping else source)
            raise InputError(f"{field}={key!r}: there is no such key, only {there}")
        is_message = field == "output" and find_messages(source)
        if key == "" or not is_mapping or is_message or (field == "input" and len(source) > 1):
            return source
        # A judge may show any field to its model.
        is_read = field in ("output", *evaluator.needs) or evaluator.is_judge
        if len(source) > 1 and is_read:
            raise InputError(
                f"{evaluator.name}: the {field} is one of {quote(list(source))}; "
                f'name it with {field}="...", or take the whole mapping with {field}=""'
            )
        if field == "output" and "messages" in source:
            return read_messages(source) or source["messages"]
        return next(iter(source.values()), None) if len(source) < 2 else None
