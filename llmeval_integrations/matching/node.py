"""Nodes say how the values at a place are compared, outcomes what became of its leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.values import CONTAINERS, TYPES, canonical, equal, escape
from llmeval_integrations.text.excerpt import cut_around_difference

Kind = Literal["match", "mismatch", "missing", "extra", "wrong_type"]
Order = Literal["ordered", "anchored", "aligned", "any_order", "by_key"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Verdict(NamedTuple):
    """The result of comparing two leaves by a node."""

    kind: Literal["match", "mismatch", "wrong_type", "open"]
    """`open` leaves wait for a judge."""

    score: float
    """From 0 to 1."""


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


def alternatives_of(expected: Any) -> tuple[Any, ...]:
    """Return the values of a reference of which any one is right; mostly, this is the only one."""
    return expected.values if type(expected) is AnyOf else (expected,)


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
    """The similarity, 2 M / (O + R), below which two items of an array are not paired."""

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

    lists_backwards: bool = False
    """Whether extra items are listed from last to first, in the order a patch removes them."""

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

    remark: Callable[[Any, Any], str] | None = None
    """What to add to the reason why two leaves do not match."""

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
        """Compare two leaves as JSON."""
        if output == reference and equal(output, reference):
            return MATCH
        return MISMATCH if TYPES[type(output)] == TYPES[type(reference)] else WRONG_TYPE

    def grade_texts(self, output: str, references: Sequence[str]) -> Iterable[tuple[int, float]]:
        """Return positions and scores of the references that are similar to a text."""
        raise NotImplementedError

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
        several = alternatives_of(item)
        return any(type(one) is dict and not one.keys().isdisjoint(self.key) for one in several)

    def has_order(self, items: list[Any]) -> bool:
        """Return whether the order of these items counts; with `by_key`, if no item has the key."""
        if self.order == "by_key":
            return not any(map(self.has_key, items))
        return self.order != "any_order"

    def leaves(self, value: Any, place: str) -> list[tuple[Node, str, Any]]:
        """Return the node, pointer and value of each leaf that counts in a value at this place."""
        if self.ignored or not self.counts(value):
            return []
        if self.is_leaf(value) or not self.splits:
            return [(self, place, value)]
        found: list[tuple[Node, str, Any]] = []
        inner: Callable[[Any], Node] = self.member if type(value) is dict else self.item
        for step, part in value.items() if type(value) is dict else enumerate(value):
            its, pointer = inner(step), f"{place}/{escape(str(step))}"
            if type(part) in CONTAINERS:
                found += its.leaves(part, pointer)
            elif not its.ignored:
                found.append((its, pointer, part))
        return found

    def weigh(self, value: Any) -> float:
        """Return the weight of all leaves of a value."""
        if self.ignored:
            return 0.0
        if self.whole or type(value) not in CONTAINERS or not value:
            return self.weight
        total = 0.0
        inner: Callable[[Any], Node] = self.member if type(value) is dict else self.item
        for step, part in value.items() if type(value) is dict else enumerate(value):
            total += inner(step).weigh(part)
        return total


LONGEST: Final = 60
"""Characters of a value in a reason."""


class Outcome(msgspec.Struct, frozen=True, gc=False):  # no value refers back to it
    """One leaf that does not fully match: wrong, missing, extra, or a match with a lower score."""

    pointer: str
    """The JSON Pointer of the leaf in the output; a missing item has its position in the
    reference."""

    node: Node
    kind: Kind
    score: float
    output: Any = MISSING
    reference: Any = MISSING

    within: str | None = None
    """The JSON Pointer of the missing or extra object or array that contains the leaf."""

    alone: Literal["output", "reference"] | None = None
    """The only side with this leaf, if the other side has an object or array with leaves here."""

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as an entry of a result's metadata."""
        entry: dict[str, Any] = {"pointer": self.pointer, "field": self.node.path}
        entry["kind"] = self.kind
        if self.output is not MISSING:
            entry["output"] = self.output
        if self.reference is not MISSING:
            entry["reference"] = self.reference
        if self.within is not None:
            entry["within"] = self.within
        if self.alone is not None:
            entry["alone"] = self.alone
        if self.node.weight != 1.0:
            entry["weight"] = self.node.weight
        if self.score:
            entry["score"] = self.score
        return entry


def describe(pointer: str, kind: str, output: Any, reference: Any, remark: str) -> str:
    """Describe one wrong place in a line."""
    where = pointer or "the whole"
    if kind in ("missing", "extra"):
        return f"{where} {kind}"
    one, other = canonical(output), canonical(reference)
    if len(one) > LONGEST or len(other) > LONGEST:
        one, other = cut_around_difference(one, other, LONGEST)
    more = f" ({remark})" if remark else ""
    return f"{where} {one}, expected {other}{more}"


class Figures(NamedTuple):
    """Sums of the weights of leaves in a comparison."""

    matched: float
    """The sum for leaves that match, each weight times its similarity."""

    output: float
    """The sum for all leaves of the output."""

    reference: float
    """The sum for all leaves of the reference."""

    @property
    def score(self) -> float:
        """F1: 2 matched / (output + reference), or 1 if no leaf has a weight."""
        both = self.output + self.reference
        return 2 * self.matched / both if both else 1.0

    def as_dict(self) -> dict[str, float | None]:
        """Return the sums with precision, recall and their harmonic mean F1, from 0 to 1.

        `precision` is matched / output, and `recall` is matched / reference; None without a leaf.
        """
        matched, output, reference = self
        return {
            "matched": matched,
            "output_leaves": output,
            "reference_leaves": reference,
            "precision": matched / output if output else None,
            "recall": matched / reference if reference else None,
            "f1": self.score,
        }

    def shares(self) -> dict[str, float | None]:
        """Return precision, recall and F1."""
        figures = self.as_dict()
        return {name: figures[name] for name in ("precision", "recall", "f1")}


FIGURES: Final = tuple(Figures(0.0, 0.0, 0.0).as_dict())
"""The names of the figures in results and summaries."""


def summarize(outcomes: Sequence[Outcome], limits: Sequence[str] = (), most: int = 3) -> str:
    """Describe the first differences in one line, and say how many more there are.

    An object or array is named once if one side lacks it completely, or has another type there.
    """
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for each in outcomes:
        place = each.pointer if each.within is None else each.within
        groups.setdefault((place, each.kind), []).append(each)
    for each in outcomes:
        if each.kind == "wrong_type":
            groups.pop((each.pointer, "missing"), None)
            groups.pop((each.pointer, "extra"), None)
    named = []
    for (place, kind), group in [*groups.items()][:most]:
        first = group[0]
        remark = first.node.remark
        more = remark(first.output, first.reference) if remark else ""
        line = describe(place, kind, first.output, first.reference, more)
        named.append(f"{line} ({len(group)} fields)" if len(group) > 1 else line)
    if len(groups) > most:
        named.append(f"and {len(groups) - most} more")
    return "; ".join(named) + (" (too many pairs of items; not all were tried)" if limits else "")
