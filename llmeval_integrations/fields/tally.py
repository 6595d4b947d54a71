"""Count the outcomes of fields over many documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.quote import OTHER, name_or_other
from llmeval_integrations.fields.paths import is_met
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.matching.node import FIGURES, KINDS, Figures, Kind
from llmeval_integrations.stats.confidence import confidence_figures
from llmeval_integrations.text.excerpt import cut_around_difference

_MOST_EXAMPLES: Final = 3
_SHOWN_VALUES: Final = 5
_LONGEST: Final = 200
_MOST_VALUES: Final = 500
_DIGITS: Final = 3
"""The decimal places to which confidences are rounded before they are counted."""

_Pair: TypeAlias = tuple[str, str]
"""An output and its reference, as they are shown."""

_OTHERS: Final[_Pair] = (OTHER, OTHER)
"""The entry for all wrong values of a field beyond the first 500. No JSON text is "(other)"."""


class FieldTally:
    """Counts the outcomes of each field over a run, in a size that does not grow with the run.

    A wrong value is an output with its reference. Up to 500 different ones of a field are counted,
    and all others together as `other_wrong_values`.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """The summary lists those of the paths that no document has."""
        self._paths = [*paths]
        self._ignored: set[str] = set()
        """The ignored paths that a document has."""
        self._fields: defaultdict[str, _Field] = defaultdict(_Field)
        self._sums: Counter[str] = Counter()
        """The sum of each figure over all samples."""
        self._samples: Counter[str] = Counter()
        """The number of samples that have each figure."""
        self._confidences: Counter[tuple[float, bool]] = Counter()
        self._unread_confidences = 0

    def add(self, sample: Any, metadata: Mapping[str, Any]) -> None:
        """Count the fields of one sample, from the metadata of its result."""
        for name in FIGURES:
            value = metadata.get(name)
            if value is not None:
                self._sums[name] += value
                self._samples[name] += 1
        self._ignored.update(metadata.get("ignored", ()))
        unreadable = metadata.get("unreadable", False)
        for path, counts in metadata.get("fields", {}).items():
            field = self._fields.get(path) or self._field(path)
            for kind, number in counts.items():  # faster than `update`
                field.counts[kind] = field.counts.get(kind, 0) + number
            if unreadable:
                field.unreadable += counts.get("missing", 0)
            elif counts:
                field.samples += 1
                field.wrong_samples += len(counts) > 1 or "match" not in counts
        if unreadable:
            return  # the whole output is wrong, not a single field
        for outcome in metadata.get("outcomes", ()):
            self._field(outcome["field"]).add(sample, outcome)
        for leaf in metadata.get("confidence", ()):
            key = round(leaf["confidence"], _DIGITS), leaf["right"]
            self._confidences[key] += 1
            self._field(leaf["field"]).confidences[key] += 1
        self._unread_confidences += len(metadata.get("unread_confidences", ()))

    def _field(self, path: str) -> _Field:
        return self._fields[name_or_other(path, self._fields)]

    def summary(self) -> dict[str, Any]:
        """Return the figures of all fields, the fields with the most errors first."""
        fields = sorted(
            self._fields.items(), key=lambda item: (item[0] == OTHER, -item[1].wrong, item[0])
        )
        sums, unread = self._sums, self._unread_confidences
        met = [*self._fields, *self._ignored]
        unmet = [path for path in self._paths if not is_met(path, met)]
        micro, means = Figures(*(sums[name] for name in FIGURES[:3])).shares(), {}
        for name in micro:
            count = self._samples[name]
            means[name] = sums[name] / count if count else None
        return {
            **({"unmet_paths": unmet} if unmet and self._fields else {}),
            "micro": micro if self._samples["f1"] else means,
            "macro": means,
            **_confidence(self._confidences),
            **({"unread_confidences": unread} if unread else {}),
            "fields": {path: field.summary() for path, field in fields},
        }


class _Field:
    """The counts of one field."""

    def __init__(self) -> None:
        self.counts: Counter[Kind] = Counter()
        self.graded = 0.0
        """The sum of all scores between 0 and 1, minus the number of matches among them."""
        self.alone: Counter[str] = Counter()
        """The number of `wrong_type` leaves that only one side has, by side."""
        self.unreadable = self.samples = self.wrong_samples = 0
        self.wrong_values: Counter[_Pair] = Counter()
        self.examples: list[Any] = []
        self.confidences: Counter[tuple[float, bool]] = Counter()

    @property
    def wrong(self) -> int:
        """How many leaves do not match."""
        return self.counts.total() - self.counts["match"]

    def add(self, sample: Any, outcome: Mapping[str, Any]) -> None:
        self.graded += outcome.get("score", 0.0)
        if outcome["kind"] == "match":
            self.graded -= 1.0
            return
        if "alone" in outcome:
            self.alone[outcome["alone"]] += 1
        if outcome["kind"] in ("mismatch", "wrong_type"):
            texts = canonical(outcome["output"]), canonical(outcome["reference"])
            pair = cut_around_difference(*texts, _LONGEST)
            if pair not in self.wrong_values and len(self.wrong_values) >= _MOST_VALUES:
                pair = _OTHERS
            self.wrong_values[pair] += 1
        if len(self.examples) < _MOST_EXAMPLES and sample not in self.examples:
            self.examples.append(sample)

    def summary(self) -> dict[str, Any]:
        wrong = Counter(self.wrong_values)
        others = wrong.pop(_OTHERS, 0)
        counts, alone = self.counts, self.alone
        pairs = counts["match"] + counts["mismatch"] + counts["wrong_type"]
        output = pairs + counts["extra"] - alone["reference"]
        reference = pairs + counts["missing"] - alone["output"]
        matched = counts["match"] + self.graded
        return {
            "leaves": counts.total(),
            **{kind: counts[kind] for kind in KINDS},
            "unreadable": self.unreadable,
            "samples": self.samples,
            "wrong_samples": self.wrong_samples,
            **Figures(matched, output, reference).as_dict(),
            "wrong_values": [
                {"output": output, "reference": reference, "count": number}
                for (output, reference), number in wrong.most_common(_SHOWN_VALUES)
            ],
            **({"other_wrong_values": others} if others else {}),
            **_confidence(self.confidences),
            "examples": self.examples,
        }


def _confidence(counts: Mapping[tuple[float, bool], int]) -> dict[str, Any]:
    """Return the summary's entry about confidences; an empty one if there are none."""
    figures = confidence_figures(counts)
    return {} if figures is None else {"confidence": figures}
