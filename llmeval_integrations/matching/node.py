"""Nodes: how the values at one place are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS, canonical

Kind = Literal["match", "mismatch", "missing", "extra", "wrong_type"]
Order = Literal["ordered", "anchored", "aligned", "any_order", "by_key"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Verdict(NamedTuple):
    """The result of comparing two leaves by a node."""

    kind: Literal["match", "mismatch", "wrong_type", "open"]
    """`open` leaves wait for a judge."""

    score: float
    """From 0 to 1."""

    exact: bool = True
    """Whether the score is exact; the score of two very long texts may be too low."""


MATCH: Final = Verdict("match", 1.0)
MISMATCH: Final = Verdict("mismatch", 0.0)
WRONG_TYPE: Final = Verdict("wrong_type", 0.0)


class AnyOf(NamedTuple):
    """Alternative values in a reference; any one of them is right."""

    values: tuple[Any, ...]
    optional: bool = False
    """Whether the output may leave the place out."""


def is_optional(expected: Any) -> bool:
    """Return whether a value may be left out."""
    return type(expected) is AnyOf and expected.optional


class Node:
    """The rules by which values at one place are compared.

    The defaults compare every leaf as JSON, in order. Subclasses set attributes and override
    methods. A comparison walks down the nodes and both values together.
    """

    path: str = ""
    """The place as a JSON Pointer, with `*` for every position of an array."""

    weight: float = 1.0
    """The weight of a leaf at this place."""

    ignored: bool = False
    """Whether the place does not count."""

    whole: bool = False
    """Whether an object or array at this place is one leaf."""

    order: Order = "ordered"
    """How the items of an array at this place are paired. `anchored` pairs them by position, but
    equal items at the end by their position from the end."""

    key: tuple[str, ...] = ()
    """The members that together identify an item, with `order="by_key"`."""

    min_similarity: float = 0.0
    """The similarity, 2 M / (O + R), below which two items of an array are not paired. It has no
    effect if items are paired by position."""

    exact: bool = True
    """Whether two leaves match if, and only if, they are equal as JSON."""

    uniform: bool = False
    """Whether this node is also the node of every place below it."""

    literal: bool = False
    """Whether values match if, and only if, they are equal as JSON; with `any_order`, apart from
    the order of items."""

    fuzzy: bool = False
    """Whether two items that match the same third item may not match each other."""

    grades_texts: bool = False
    """Whether the node has `grade_texts`, which compares many texts at once."""

    counts_extra: bool = True
    """Whether a member that only the output has is an outcome."""

    lists_matches: bool = True
    """Whether the leaves of equal values are listed; if nobody reads them, this takes a sixth of
    the time of comparing."""

    counts_empty: bool = True
    """Whether an empty object or array is a leaf."""

    splits: bool = True
    """Whether a value that one side lacks gives an outcome for each of its leaves, instead of one
    outcome for the whole value."""

    larger_alone: bool = False
    """Whether only the larger side counts if the sides have different kinds of values: object,
    array or scalar."""

    pairs_all: bool = False
    """Whether items without a common leaf are paired, too. Items with the most leaves at the same
    places are paired first. Items that are leaves are always paired."""

    default: Any = MISSING
    """The value of the place if it is left out; MISSING if there is no default."""

    has_defaults: bool = False
    """Whether members below this place may have a default."""

    varies: bool = False
    """Whether `narrow` depends on the value, as in a union."""

    members: Mapping[str, Node] = MappingProxyType({})
    """The nodes of members that exist already; looking here first is faster than `member`."""

    def narrow(self, value: Any) -> Node:  # noqa: ARG002
        """Return the node for this object or array, such as the alternative of a union."""
        return self

    def member(self, name: str) -> Node:  # noqa: ARG002
        """Return the node of an object's member."""
        return self

    def item(self, position: int) -> Node:  # noqa: ARG002
        """Return the node of an array's item."""
        return self

    def leaf(self, output: Any, reference: Any) -> Verdict:
        """Compare two leaves."""
        raise NotImplementedError

    def grade_texts(self, output: str, references: Sequence[str]) -> Iterable[tuple[int, float]]:
        """Return positions and scores of the references that are similar to a text."""
        raise NotImplementedError

    def remark(self, output: Any, reference: Any) -> str:  # noqa: ARG002
        """Return a remark for the reason why two leaves do not match."""
        return ""

    def leaf_text(self, value: Any) -> str:
        """Write a leaf so that two leaves with the same text match in full."""
        return canonical(value)

    def is_leaf(self, value: Any) -> bool:
        """Return whether a value at this place is one leaf."""
        return self.whole or type(value) not in CONTAINERS or not value

    def counts(self, value: Any) -> bool:
        """Return whether a leaf counts: an empty object or array may not."""
        return self.counts_empty or self.whole or value not in ([], {})

    def has_key(self, item: Any) -> bool:
        """Return whether an item has at least one member of the key."""
        return type(item) is dict and any(name in item for name in self.key)

    def has_order(self, items: list[Any]) -> bool:
        """Return whether the order of these items counts; with `by_key`, if no item has the key."""
        if self.order == "by_key":
            return not any(map(self.has_key, items))
        return self.order != "any_order"

    def weigh(self, value: Any) -> float:
        """Return the weight of all leaves of a value."""
        if self.ignored:
            return 0.0
        if self.is_leaf(value):
            return self.weight
        total = 0.0
        inner: Callable[[Any], Node] = self.member if type(value) is dict else self.item
        for step, part in value.items() if type(value) is dict else enumerate(value):
            total += inner(step).weigh(part)
        return total


def count_leaves(value: Any) -> int:
    """Count the leaves of a value; an empty object or array counts as none."""
    if type(value) not in CONTAINERS:
        return 1
    count = len(value)
    for part in value.values() if type(value) is dict else value:
        if type(part) in CONTAINERS:
            count += count_leaves(part) - 1
    return count
