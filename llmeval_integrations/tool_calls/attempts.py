"""Whether a text that holds no call was meant for one, or is an answer. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.tool_calls.blocks import is_call_type

# Members, without underscores and capitals.
_NAMES: Final = frozenset(
    [
        *("name", "tool", "toolname", "function", "functionname", "func"),
        *("action", "recipientname"),
    ]
)
_ARGUMENTS: Final = frozenset(
    [
        *("arguments", "args", "toolkwargs", "actioninput"),
        *("parameters", "params", "input", "toolinput", "kwargs"),
    ]
)
_CALLS: Final = frozenset(("functioncall", "toolcall", "tooluse", "toolcalls", "invalidtoolcalls"))
_TELLING: Final = _CALLS | {"arguments", "args", "toolkwargs", "actioninput"}
"""Those that tell a call by themselves, where the whole text is JSON."""

_BEGINNING: Final = _NAMES | {"type", "id", "callid", "toolid", "toolcallid", "index"}
"""Those that a call may begin with."""

_LETTERS_OF_A_CALL: Final = re.compile("arg|param|input|call|function|type", re.IGNORECASE)
"""Some of these stand in all of `_ARGUMENTS` and `_TELLING`, and in what has the type of a call."""

_QUOTES: Final = r"[\"'`“”‘’\\]*"
_MEMBER_OR_BRACE: Final = re.compile(
    rf"([{{,])\s*{_QUOTES}([\w-]+){_QUOTES}\s*[:=]\s*({_QUOTES}[\w-]+|(?=\{{))?|[{{}}]"
)
_WHOLE: Final = re.compile(r"\s*`*(?:json\b)?\s*[\[{]", re.IGNORECASE)
_UNBRACKETED: Final = ("```tool_code", "\nAction Input:")
"""Marks of a call, by Gemma and by agents that are asked for it in words, without any bracket."""

_MARKS: Final = (
    *("[TOOL_CALLS]", "<function=", "<|tool_call", "<start_function_call>", 'invoke name="'),
    *("<｜tool▁call", "<|call|>", " to=functions.", "<|python_tag|>", "<|python_start|>"),
    *_UNBRACKETED,
)
"""What models write around a call, each in its own way, where no server has read it."""

_IN_PYTHON: Final = re.compile(  # [f(a=1)], [f()], but no link
    r"[\s`]*\[\s*[A-Za-z_][\w.]*\((?:\s*\w+\s*=|\s*\)\s*(?:,|\](?!\()))"
)
_NUMBERED: Final = re.compile(r"^functions\.[\w-]+(?::\d+)?\s*\{", re.MULTILINE)


def is_plain(text: str) -> bool:
    """Whether nothing in a text could be a call."""
    return not any(mark in text for mark in ("{", "[", "<", *_UNBRACKETED))


def is_attempt(text: str, defect: Defect | None) -> bool:
    """Whether a text has something like a call in it; the defect says why it is not JSON.

    So it does where an object has the members of a name and of arguments. Where the whole text is
    JSON, or was meant to be, one member may tell it, and where that is cut off or broken, also
    that nothing but the beginning of a call is there.
    """
    if any(mark in text for mark in _MARKS) or _IN_PYTHON.match(text):
        return True
    if "{" not in text:
        return False
    if defect is None and not _LETTERS_OF_A_CALL.search(text):
        return False
    if "functions." in text and _NUMBERED.search(text):
        return True
    objects = _Objects(text)
    if objects.has_a_call:
        return True
    if defect is None:
        return not _TELLING.isdisjoint(objects.outer) or objects.says_so
    if defect.name in ("prose", "prose_around", "empty") or not _WHOLE.match(text):
        return False
    if not objects.outer:
        return defect.name == "truncated" and ":" not in text
    told = objects.says_so or not (_TELLING | _ARGUMENTS).isdisjoint(objects.outer)
    return told or objects.outer <= _BEGINNING


class _Objects:
    """What the objects in a text, which need not be JSON, have for members."""

    def __init__(self, text: str) -> None:
        self.outer: set[str] = set()
        """The members of the outermost objects."""

        self.says_so = False
        """Whether an outermost object has the type of a call, or a function in it."""

        self.has_a_call = False
        """Whether any object has a name and arguments."""

        opened: list[set[str]] = []
        for found in _MEMBER_OR_BRACE.finditer(text):
            mark = found[1] or found[0]
            if mark == "{":
                opened.append(set())
            elif mark == "}" and opened:
                opened.pop()
            if found[2] and opened:
                member = found[2].replace("_", "").replace("-", "").lower()
                opened[-1].add(member)
                self.has_a_call |= _is_a_call(opened[-1], member)
                if len(opened) == 1:
                    self.outer.add(member)
                    self.says_so |= _says_so(member, found[3])


def _is_a_call(members: set[str], latest: str) -> bool:
    """Whether these members are those of a call, now that this one is among them."""
    if latest in _NAMES:
        return not _ARGUMENTS.isdisjoint(members)
    return latest in _ARGUMENTS and not _NAMES.isdisjoint(members)


def _says_so(member: str, value: str | None) -> bool:
    """Whether a member, whose value is a word, an object (an empty text) or else, tells a call."""
    if member == "function":
        return value == ""
    kind = re.sub(_QUOTES, "", value or "")
    return member in ("type", "blocktype") and (kind == "function" or is_call_type(kind))
