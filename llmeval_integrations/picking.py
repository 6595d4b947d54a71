"""The sample in what a framework hands over, values as JSON has them, and texts that it can keep.

None is an absent field, as everywhere in these frameworks: JSON null is the text "null".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from llmeval_integrations.errors import InputError, InvalidOptionError, MissingFieldError
from llmeval_integrations.evaluator import Evaluator, JudgedEvaluator
from llmeval_integrations.evaluators.text import text_of
from llmeval_integrations.sample import Sample
from llmeval_integrations.wording import shown, with_article

_SIMPLE: Final = frozenset((str, bytes, int, float, bool, type(None)))
_encode = msgspec.json.Encoder().encode


def sample_of(
    evaluator: Evaluator, output: Any, *, given: str | None = None, **fields: Any
) -> Sample:
    """Make a sample of fields that may be None; a text alone is one of the contexts.

    Arrays of NumPy are lists. Raises MissingFieldError where there is no output, and with `given`,
    which says how fields are given there, where any other is missing that the evaluator needs.
    """
    how = given or 'JSON null is the text "null"'
    if output is None:
        raise MissingFieldError(f"{evaluator.name} needs an output, and there is none; {how}")
    for field in evaluator.needs if given else ():
        if fields.get(field) is None:
            needed = with_article(field)
            raise MissingFieldError(f"{evaluator.name} needs {needed}, and there is none; {how}")
    if isinstance(fields.get("contexts"), str):
        fields["contexts"] = [fields["contexts"]]
    present = {name: as_python(value) for name, value in fields.items() if value is not None}
    return Sample(as_python(output), **present)


def may_look_at(evaluator: Evaluator, field: str) -> bool:
    """Whether an evaluator looks at a field, or its model is shown it."""
    return field in evaluator.needs or isinstance(evaluator, JudgedEvaluator)


def is_plain(value: Any) -> bool:
    """Whether a value, or all that is in a container, is Python's own."""
    if type(value) in _SIMPLE:
        return True
    if type(value) is dict and _SIMPLE.issuperset(map(type, value.values())):
        return True
    try:
        _encode(value)  # what can be written has no array in it, and C is quick to tell
    except Exception:  # noqa: BLE001 - anything may be in it
        return False
    return True


def as_python(value: Any) -> Any:
    """Return a value with Python's lists and numbers for those of NumPy and the like.

    A value that is too deep, or whose library fails, is given as it is.
    """
    if is_plain(value):
        return value
    try:
        return _as_python(value)
    except Exception:  # noqa: BLE001 - an array's own code may raise anything
        return value


def _as_python(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if hasattr(type(value), "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _as_python(item) for key, item in value.items()}
    return [_as_python(item) for item in value] if isinstance(value, (list, tuple)) else value


def storable(value: Any) -> str:
    """Return the text of a value, JSON where it is none; halves of surrogate pairs as escapes."""
    text = text_of(value)
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


@dataclass(frozen=True)
class Keys:
    """The keys under which the fields of a sample stand in a framework's mappings.

    "" is the mapping itself. Without a key, what is not a mapping is the value, and so is the only
    value of a mapping. Of several values none is guessed.
    """

    output: str | None = None
    """The key in the outputs."""

    reference: str | None = None
    """The key in the references."""

    input: str | None = None
    """The key in the inputs; all of them together unless told otherwise."""

    contexts: str | None = None
    """The key in the outputs; no contexts unless told otherwise."""

    def __post_init__(self) -> None:
        for field, key in vars(self).items():
            if key is not None and not isinstance(key, str):
                raise InvalidOptionError(f"{field}={shown(key)} is not a text, or None")

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
        return sample_of(
            evaluator,
            self._pick("output", outputs, evaluator),
            given=given,
            reference=self._pick("reference", references, evaluator),
            input=self._pick("input", inputs, evaluator),
            contexts=contexts,
            variables=named or None,
        )

    def _pick(self, field: str, source: Any, evaluator: Evaluator) -> Any:
        key = getattr(self, field)
        if key == "":
            return source
        if key is not None:
            return _named(source, key, field)
        if not isinstance(source, Mapping):
            return source
        if len(source) < 2:
            return next(iter(source.values()), None)
        if field == "input":
            return source
        if field == "output" or may_look_at(evaluator, field):
            raise InputError(
                f"{evaluator.name}: the {field} is one of {shown(list(source))}; "
                f'name it with {field}="...", or take the whole mapping with {field}=""'
            )
        return None


def _named(source: Any, key: str, field: str) -> Any:
    if isinstance(source, Mapping) and key in source:
        return source[key]
    there = list(source) if isinstance(source, Mapping) else source
    raise InputError(f"{field}={key!r}: there is no such key, only {shown(there)}")
