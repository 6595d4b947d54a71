"""Is every value of an extraction found in its source?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from math import fsum
from typing import Any, Final, Literal

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.options import ZeroToOne, check_instance, option_error
from llmeval_integrations.core.quote import quote, shorten_middle
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.grounding_tally import GroundingTally
from llmeval_integrations.evaluators.json_evaluator import JsonEvaluator
from llmeval_integrations.fields.field import Field, Layout
from llmeval_integrations.fields.schema_rules import list_values
from llmeval_integrations.json_values.parse import Parsing, dump_model
from llmeval_integrations.json_values.values import SCALARS, canonical, equal, escape
from llmeval_integrations.text.sources import Found, Source, normalize
from llmeval_integrations.text.words import BREAK

Origin = Literal["input", "contexts"]

_GAP: Final = "\n\n"
"""The separator between the parts of a text."""

_GAP_OF_CONTEXTS: Final = f"\n{BREAK}\n"

_PARTS: Final = (
    *("content", "blocks", "page_content", "metadata"),
    *("node", "text", "text_resource", "extra_info"),
)
"""What is searched of a message or document of LangChain or LlamaIndex: not its ids and counts."""

_LONGEST_VALUE: Final = 80
_MOST_NAMED: Final = 3


@dataclass(frozen=True)
class JsonGrounded(JsonEvaluator):
    """Is every value of an extraction found in its source?

    Example:
        >>> source = "Invoice of Harbour Ltd, 5 January 2024: 1,250.50 EUR"
        >>> output = {"date": "2024-01-05", "total": 1250.5, "vendor": "Acme Ltd"}
        >>> JsonGrounded()(output, input=source).reason
        'not in the source: /vendor "Acme Ltd"'

    Score: the share of values that are found, by weight, from 0 to 1. The result passes if all are
    found. With `threshold`, it passes if the score is at least that. An output that is not JSON has
    the score 0. If there is no value to look for, the result is unscored. No reference is needed,
    and values that the output leaves out are not noticed.

    A value may have another form in the source, such as another spelling of a date. Booleans, null,
    empty texts, and values that the schema lists by `enum` or `const` are not looked for.

    Metadata:
    - `grounded`, `ungrounded` and `open`: how many values are found, not found, or not looked for
    - `outcomes`: all values, each with its JSON `pointer`, `field`, `output` and `kind`: `exact`,
      `date`, `number`, `words`, `fuzzy`, `paraphrase`, `ungrounded` or `open`. If it is found,
      `place` is where it begins and ends in the source, and `context` is the position of the text
      among the contexts. `common` marks a value of the option `common`

    Raises:
        MissingFieldError: The sample has no source.
        InputError: The source contains objects other than texts, numbers, lists, mappings and
            Pydantic models.
    """

    source: Origin = "input"
    """The field of the sample with the source: `input` or `contexts`."""

    schema: Any = field(default=None, hash=False)
    """The JSON Schema of the extraction, as in JsonFields. With None, each sample's `schema` is
    used, if it has one. With False, no schema is used."""

    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    """Settings by path, as `{"/total": {"derived": True}, "/note": {"ignore": True}}`: `derived`
    for values that are computed from others and not looked for, `ignore` and `weight`. The other
    settings of JsonFields are allowed, but have no effect."""

    common: Collection[Any] = field(default=(), hash=False)
    """Values that most sources contain, such as small numbers, so that finding them is weak
    evidence. They are marked and counted, but the score does not change. `common_numbers(texts)` of
    `text.sources` returns such numbers."""

    threshold: ZeroToOne | None = None
    """The lowest score that passes; with None, every value has to be found."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_instance(self, "fields", Mapping)
        is_list = isinstance(self.common, Collection) and not isinstance(self.common, str)
        if not is_list or any(type(each) not in SCALARS for each in self.common):
            raise option_error(self, "common", "a list of texts and numbers")
        self._layout  # noqa: B018 - checks schema and fields

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self.schema, self.fields, {})

    @cached_property
    def _common(self) -> frozenset[Any]:
        return frozenset(map(normalize, self.common))

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The field with the source."""
        return (self.source,)

    def check_value(self, value: Any, sample: Sample) -> Result:
        texts = texts_of(sample.require(self.source, self.name), self.source)
        search = _Search(texts, self._common, with_contexts=self.source == "contexts")
        return self._judge([*search.walk(self._layout.root(sample, self), value, "")])

    def _judge(self, found: list[tuple[dict[str, Any], float]]) -> Result:
        kinds = [each["kind"] for each, _ in found]
        counts = {kind: kinds.count(kind) for kind in ("ungrounded", "open")}
        grounded = len(found) - sum(counts.values())
        metadata = {"grounded": grounded, **counts, "outcomes": [each for each, _ in found]}
        judged = fsum(weight for each, weight in found if each["kind"] != "open")
        if not judged:
            return Result.unscored("There is no value to look for", label="open", **metadata)
        wrong = [pair for pair in found if pair[0]["kind"] == "ungrounded" and pair[1]]
        score = (judged - fsum(weight for _, weight in wrong)) / judged
        passed = not wrong if self.threshold is None else score >= self.threshold
        if not wrong:
            return Result(score, passed, None, "Every value is in the source", metadata)
        named = [
            f"{each['pointer'] or 'the whole'} "
            f"{shorten_middle(canonical(each['output']), _LONGEST_VALUE)}"
            for each, _ in wrong[:_MOST_NAMED]
        ]
        more = [f"and {len(wrong) - _MOST_NAMED} more"] if len(wrong) > _MOST_NAMED else []
        reason = f"not in the source: {'; '.join(named + more)}"
        return Result(score, passed, "ungrounded", reason, metadata)

    def breakdown(self) -> GroundingTally:
        ignored = self._layout.ignored
        return GroundingTally(path for path in self._layout.paths if path not in ignored)


class _Search:
    """Looks for the values of one output in the texts of its source."""

    def __init__(
        self, texts: Sequence[str], common: frozenset[Any], *, with_contexts: bool
    ) -> None:
        gap = _GAP_OF_CONTEXTS if with_contexts else _GAP
        self._source = _read_source(gap.join(texts))
        self._starts = [*accumulate((len(text) + len(gap) for text in texts[:-1]), initial=0)]
        self._texts, self._with_contexts = texts, with_contexts
        self._common = common

    def walk(self, node: Field, value: Any, pointer: str) -> Iterator[tuple[dict[str, Any], float]]:
        """Yield the outcome of each value, with its weight."""
        if node.ignored:
            return
        if type(value) is dict:
            for name, part in value.items():
                yield from self.walk(node.member(name), part, f"{pointer}/{escape(name)}")
        elif type(value) is list:
            for position, part in enumerate(value):
                yield from self.walk(node.item(position), part, f"{pointer}/{position}")
        else:
            outcome = {"pointer": pointer, "field": node.path, "output": value}
            yield {**outcome, **self._look(node, value)}, node.weight

    def _look(self, node: Field, value: Any) -> dict[str, Any]:
        """Return how and where a value is found."""
        is_text = type(value) is str
        is_empty = value is None or type(value) is bool or (is_text and not value.strip())
        listed = (one for part in node.place.schemas.parts for one in list_values(part))
        if is_empty or node.rule.derived or any(equal(value, one) for one in listed):
            return {"kind": "open"}
        found = self._source.find_text(value) if is_text else self._source.find_number(value)
        if found is None:
            return {"kind": "ungrounded"}
        common = {"common": True} if normalize(value) in self._common else {}
        return {"kind": found.kind, **self._place(found), **common}

    def _place(self, found: Found) -> dict[str, Any]:
        if not self._with_contexts:
            return {"place": [found.start, found.end]}
        context = bisect_right(self._starts, found.start) - 1
        start = self._starts[context]
        end = min(found.end - start, len(self._texts[context]))  # the rest is in other contexts
        return {"context": context, "place": [found.start - start, end]}


_read_source = lru_cache(maxsize=8)(Source)  # several outputs in a row often have one source


def texts_of(thing: Any, name: str) -> list[str]:
    """Return the texts of a source; of a mapping, all texts and numbers in it.

    The name of the sample's field is empty for a part of it.
    """
    if isinstance(thing, str):
        return [thing]
    if not name and isinstance(thing, (int, float)):  # such as the page of a document
        return [] if isinstance(thing, bool) else [str(thing)]
    if name == "contexts" and isinstance(thing, Sequence):
        return [_GAP.join(texts_of(each, "")) for each in thing]
    if hasattr(type(thing), "model_dump"):
        thing = dump_model(thing)
    if isinstance(thing, Mapping) and _is_dump(thing):
        thing = {name: thing[name] for name in _PARTS if name in thing}
    parts = thing.values() if isinstance(thing, Mapping) else thing
    if not isinstance(thing, (Mapping, list, tuple)):
        raise InputError(
            f"a source is a text, or a list of texts, messages or documents; got {quote(thing)}"
        )
    return [text for each in parts if each is not None for text in texts_of(each, "")]


def _is_dump(thing: Mapping[str, Any]) -> bool:
    """Return whether a mapping is the dump of a message or document of LangChain or LlamaIndex."""
    is_node = "class_name" in thing and ("node" in thing or "embedding" in thing)
    is_document = thing.get("type") == "Document" and "page_content" in thing
    return is_node or is_document or "additional_kwargs" in thing
