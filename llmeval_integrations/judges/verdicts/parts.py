"""What the parts of a judgement are called in a reply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote

Role = Literal["reasoning", "verdict", "confidence"]

_REASONING = """reasoning reason reasons explanation rationale justification analysis critique
    feedback comment comments thoughts evidence"""
REASONS: Final = frozenset(_REASONING.split())
"""What a reasoning is usually called."""

_VERDICT = "verdict decision result outcome judgement judgment label grade answer assessment"
_ALSO_VERDICTS = "overall final conclusion status evaluation correction corrected revised"
_REMARKS = "note notes remark remarks comment comments update edit"
_ROLES: Final[Mapping[Role, frozenset[str]]] = {
    "reasoning": REASONS,
    "verdict": frozenset(_VERDICT.split()),
    "confidence": frozenset(("confidence", "certainty")),
}
_SHORT: Final = 64
_CAPITAL_OR_NUMBER = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[^\W\d_])(?=\d)")
_BOTH_WORDS = re.compile(r"pass(?:ed)?(?: or |\W{1,3})fail(?:ed)?")
_AROUND = re.compile(r"^(?:final|overall|my)(?= )|(?<= )level$")


class Parts(msgspec.Struct, frozen=True):
    """The names of a judgement's parts, in small letters."""

    required: tuple[str, ...]
    """Those that have to be there."""

    reasoning: str
    verdict: str
    confidence: str

    @classmethod
    def of(cls, required_keys: Iterable[str]) -> Parts:
        """Tell from the required keys what each part is called; others have their usual names."""
        keys = (required_keys,) if isinstance(required_keys, str) else tuple(required_keys)
        if not all(isinstance(key, str) and key.strip() for key in keys):
            raise InvalidOptionError(f"required_keys={quote(keys)} is not a list of names")
        return _named(keys)

    @property
    def names(self) -> tuple[str, str, str]:
        """The verdict's name, then the others'."""
        return self.verdict, self.reasoning, self.confidence

    @property
    def labels(self) -> dict[str, str]:
        """What may stand as a label in a text, and which part it means."""
        return {name: name for name in (*self.names, *self.required)} | {"verdict": self.verdict}

    def is_verdict_by_another_name(self, key: str) -> bool:
        """Whether a name that is not the verdict's usually stands for one."""
        if plain_name(key) == self.verdict:
            return False
        name = words_of(key)
        usual = name in _ROLES["verdict"] or name in _ALSO_VERDICTS.split()
        return (
            usual
            or name == self.verdict
            or name.startswith(f"{self.verdict} ")
            or name.endswith(f" {self.verdict}")
            or bool(_BOTH_WORDS.fullmatch(name))
        )

    def is_remark(self, name: str) -> bool:
        """Whether a name that is no part's usually stands for what is said in addition."""
        return name in _REMARKS.split() and name not in self.labels


@lru_cache(maxsize=32)
def _named(keys: tuple[str, ...]) -> Parts:
    required = tuple(map(plain_name, keys))
    names = {
        role: next((name for name in (role, *required) if name in required and name in usual), role)
        for role, usual in _ROLES.items()
    }
    return Parts(required, **names)


def plain_name(key: Any) -> str:
    """Write a key in small letters, its words apart, without "final" before or "level" behind."""
    if not isinstance(key, str):
        return ""
    return _of_few(key) if len(key) < _SHORT else _plain(key)


def words_of(key: str) -> str:
    """Write a key as `plain_name` does, also apart what capitals or a number part from the rest.

    So `FinalVerdict`, `verdict_final` and `verdict2` are all a verdict.
    """
    return _words_of_few(key) if len(key) < _SHORT else _words(key)


def _plain(key: str) -> str:
    key = unicodedata.normalize("NFKC", key)
    name = re.sub(r"[\s_-]+", " ", key).strip(" *:`\"'").casefold()
    return _AROUND.sub("", name).strip()


def _words(key: str) -> str:
    return plain_name(_CAPITAL_OR_NUMBER.sub(" ", key)).removesuffix(" final")


# The same few keys come with each reply.
_of_few = lru_cache(maxsize=256)(_plain)
_words_of_few = lru_cache(maxsize=256)(_words)
