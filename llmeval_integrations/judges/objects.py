"""The JSON objects of a reply, valid or nearly valid, and what repeats a text that was shown."""

from __future__ import annotations

import ast
import html
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias

from llmeval_integrations.json_values.values import measure

Members: TypeAlias = dict[str, Any]
"""The members of a JSON object."""

_TRIES: Final = 300
"""The most places where an object is looked for; a reply may consist of open braces."""

_OPENING: Final = re.compile(r"\{(?=\s*[\"'}])")
_ESCAPE: Final = re.compile(r"\\{1,4}(?:u([0-9a-f]{4})|x([0-9a-f]{2}))", re.IGNORECASE)
_NO_LETTERS: Final = {code: None for code in range(128) if not chr(code).isalnum()}
_RUN: Final = 3
"""The length of a run of words; shorter runs occur in many texts by chance."""
_MOST: Final = 200
"""The most runs that are looked up; a longer text is sampled at even distances."""


@lru_cache(maxsize=512)  # all replies have the same few keys
def plain_name(key: str) -> str:
    """Return a key in lower case, with spaces between its words and no marks around them."""
    return re.sub(r"[\s_-]+", " ", key[:100]).strip(" *:`\"'").casefold()


def as_members(pairs: Sequence[tuple[Any, Any]]) -> Members:
    """Return an object; two different values of a key become a list, so that neither counts."""
    found: Members = {}
    for key, value in pairs:
        name = str(key)
        differs = name in found and found[name] != value
        found[name] = [found[name], value] if differs else value
    return found


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=as_members)


def objects(text: str) -> list[tuple[int, int, Members]]:
    """List the outermost JSON objects of a text with their places, or what Python can read.

    Objects beyond the limits of size and depth are omitted: no result could hold them.
    """
    found: list[tuple[int, int, Members]] = []
    end = 0
    for tries in range(_TRIES):
        opening = _OPENING.search(text, end)
        if not opening:
            break
        start, end = opening.start(), opening.start() + 1
        try:
            value, end = _DECODER.raw_decode(text, start)
            found.append((start, end, value))
        except (ValueError, RecursionError):
            last = text.rfind("}") + 1
            read = [] if tries else find(_read_python(text[start:last]), lambda _: True)
            found += [(start, last, each) for each in read]
            end = last if read else end
    return [each for each in found if not measure(each[2]).limit]


def _read_python(text: str) -> Any:
    """Return what Python reads in a text, one object or several; None if it reads nothing."""
    text = re.sub(r"\\(?![\\\"'bfnrtu])", r"\\\\", text)  # Python warns of these
    try:
        return _DECODER.decode(json.dumps(ast.literal_eval(text)))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def find(value: Any, fits: Callable[[Members], object], depth: int = 8) -> list[Members]:
    """List the outermost objects in a value that fit."""
    if isinstance(value, dict):
        if fits(value):
            return [value]
        value = [*value.values()]
    if not isinstance(value, list) or not depth:
        return []
    return [inner for each in value for inner in find(each, fits, depth - 1)]


def _leaves(value: Any, key: str = "") -> list[tuple[str, Any]]:
    """List the values of an object or list, and of those within it, each with its key."""
    if isinstance(value, (dict, list)):
        inner = value.items() if isinstance(value, dict) else (("", each) for each in value)
        return [leaf for name, each in inner for leaf in _leaves(each, name)]
    return [(key, value)]


def decode(text: str) -> str:
    """Undo escapes of JSON, entities of HTML, full-width letters and the sign of minus."""
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    return text if text.isascii() else unicodedata.normalize("NFKC", text).replace("−", "-")


def letters(text: str) -> str:
    """Return the letters and digits of a text: a copy in any formatting has the same."""
    text = decode(text).casefold()
    # For ASCII this takes a hundredth of the time, which was a third of a judgement's.
    return text.translate(_NO_LETTERS) if text.isascii() else "".join(filter(str.isalnum, text))


class Quotations:
    """The texts that a judge was shown, compared by their letters alone."""

    def __init__(
        self, shown: Sequence[str] = (), mark: str = "", prompt: Sequence[str] = ()
    ) -> None:
        """`mark` identifies the judge's own object; `prompt` has its owner's words."""
        self.mark = mark
        self._shown = (*shown, *prompt)
        self._foreign = len(shown)  # the number of texts that others wrote

    @cached_property  # reading an object with the mark does not need it
    def _texts(self) -> list[str]:
        return [letters(text) for text in self._shown]

    def mark_is_in(self, members: Mapping[str, Any]) -> bool:
        """Return whether an object has the requested mark."""
        return bool(self.mark) and self.mark in str(members.get("mark"))

    def hold(self, text: str) -> bool:
        """Return whether a text is part of one that was shown."""
        found = letters(text)
        return any(found in shown for shown in self._texts)

    def repeat(self, statement: str, reasoning: str, *, is_whole: bool = True) -> bool:
        """Return whether a statement and at least half of its reasons repeat a text.

        A prompt names the verdicts, and examples have some. So without reasons, a statement only
        repeats what others wrote, and `is_whole` says whether reasons are more than a fragment.
        """
        words = re.findall(r"[^\W_]+", decode(reasoning).casefold())
        foreign, said = self._texts[: self._foreign], letters(statement)
        texts = self._texts if len(words) >= _RUN else foreign
        if not any(said in text for text in texts):
            return False
        if not is_whole and any(said in text for text in foreign):
            return True
        runs = ["".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))]
        runs = runs[:: 1 + len(runs) // _MOST]
        known = sum(any(run in text for text in texts) for run in runs)
        return 2 * known >= len(runs)

    def hold_all(self, members: Members) -> bool:
        """Return whether one text contains all leaves of an object, at least one of them a text.

        Each counts with its key: "Fail" alone is part of "failed", and of most prompts.
        """
        said = _leaves(members)
        words = [letters(f"{key} {each}") for key, each in said if isinstance(each, str)]
        numbers = [
            rf"(?i){re.escape(key)}\W{{0,20}}(?<![-.\w]){re.escape(json.dumps(each))}(?![\w.]*\d)"
            for key, each in said
            if not isinstance(each, str)
        ]
        return any(words) and any(
            all(word in plain for word in words)
            and all(re.search(number, decode(text)) for number in numbers)
            for plain, text in zip(self._texts, self._shown)
        )
