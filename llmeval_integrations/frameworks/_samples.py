"""The sample in what a framework hands over.

None is an absent field, as everywhere in these frameworks, but for an output: that is what a model
gave that wrote nothing. JSON null is the text "null".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmeval_integrations.core.errors import InputError, InvalidOptionError, MissingFieldError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import add_article, quote
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.json_values.python_values import as_python
from llmeval_integrations.judges.evaluator import JudgedEvaluator
from llmeval_integrations.messages.reading import find_messages


def sample_of(
    evaluator: Evaluator, output: Any, *, given: str | None = None, **fields: Any
) -> Sample:
    """Make a sample of fields that may be None; a text alone is one of the contexts.

    Arrays of NumPy are lists. Raises MissingFieldError where there is no output, and with `given`,
    which says how fields are given there, where any other is missing that the evaluator needs.
    """
    how = given or 'JSON null is the text "null"'
    if output is MISSING:
        raise MissingFieldError(f"{evaluator.name} needs an output, and there is none; {how}")
    for field in evaluator.needs if given else ():
        if fields.get(field) is None:
            needed = add_article(field)
            raise MissingFieldError(f"{evaluator.name} needs {needed}, and there is none; {how}")
    if isinstance(fields.get("contexts"), str):
        fields["contexts"] = [fields["contexts"]]
    present = {name: as_python(value) for name, value in fields.items() if value is not None}
    return Sample(as_python(output), **present)


def may_look_at(evaluator: Evaluator, field: str) -> bool:
    """Whether an evaluator looks at a field, or its model is shown it."""
    return field in evaluator.needs or isinstance(evaluator, JudgedEvaluator)


@dataclass(frozen=True)
class Keys:
    """The keys under which the fields of a sample stand in a framework's mappings.

    "" is the mapping itself. Without a key, what is not a mapping is the value, and so is the only
    value of a mapping, or a state with messages as the output. Of several values none is guessed.
    """

    output: str | None = None
    """The key in the outputs."""

    reference: str | None = None
    """The key in the references."""

    input: str | None = None
    """The key in the inputs; all of them together unless told otherwise."""

    contexts: str | None = None
    """The key in the outputs; no contexts unless told otherwise."""

    schema: str | None = None
    """The key in the references, or else the inputs; no schema unless told otherwise."""

    def __post_init__(self) -> None:
        for field, key in vars(self).items():
            if key is not None and not isinstance(key, str):
                raise InvalidOptionError(f"{field}={quote(key)} is not a text, or None")

    def sample(
        self,
        evaluator: Evaluator,
        inputs: Any,
        outputs: Any,
        references: Any,
        *,
        given: str | None = None,
        contexts: Any = None,
        variables: Mapping[str, Any] | None = None,
    ) -> Sample:
        """Make a sample; the inputs by their names are variables of a prompt, too.

        `given` is as in `sample_of`. Raises InputError for a key that is not there, and where a
        field that the evaluator looks at may be one of several values.
        """
        named = {**(inputs if isinstance(inputs, Mapping) else {}), **(variables or {})}
        if self.contexts is not None:
            contexts = self._pick("contexts", outputs, evaluator)
        schema = None
        if self.schema is not None:
            is_expected = isinstance(references, Mapping) and self.schema in references
            schema = self._pick("schema", references if is_expected else inputs, evaluator)
        return sample_of(
            evaluator,
            self._pick("output", outputs, evaluator),
            given=given,
            reference=self._pick("reference", references, evaluator),
            input=self._pick("input", inputs, evaluator),
            contexts=contexts,
            schema=schema,
            variables=named or None,
        )

    def _pick(self, field: str, source: Any, evaluator: Evaluator) -> Any:
        key = getattr(self, field)
        if field == "output" and (source is None or source == {}):
            return MISSING
        if key == "":
            return source
        if key is not None:
            return _named(source, key, field)
        if not isinstance(source, Mapping) or (field == "output" and find_messages(source)):
            return source
        if len(source) < 2:
            return next(iter(source.values()), None)
        if field == "input":
            return source
        if field == "output" or may_look_at(evaluator, field):
            raise InputError(
                f"{evaluator.name}: the {field} is one of {quote(list(source))}; "
                f'name it with {field}="...", or take the whole mapping with {field}=""'
            )
        return None


def _named(source: Any, key: str, field: str) -> Any:
    if isinstance(source, Mapping) and key in source:
        return source[key]
    there = list(source) if isinstance(source, Mapping) else source
    raise InputError(f"{field}={key!r}: there is no such key, only {quote(there)}")
