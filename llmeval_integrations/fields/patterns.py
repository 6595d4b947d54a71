"""Whether a value has the form that a field asks for."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from llmeval_integrations.core.errors import RegexTimeoutError
from llmeval_integrations.core.limits import REGEX_TIMEOUT
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.equality import TYPES, write_scalar


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:
    """Compile a regular expression; raise ValueError where it is none."""
    import regex  # here, as importing it takes long

    try:
        return regex.compile(pattern, regex.VERSION0)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from error


def fits(pattern: str, value: Any, path: str) -> bool:
    """Whether the whole of a text, or of a number as JSON writes it, matches the pattern.

    Raises RegexTimeoutError where that takes too long.
    """
    if TYPES[type(value)] not in ("string", "number"):
        return False
    text = value if type(value) is str else write_scalar(value)
    try:
        return bool(compile_pattern(pattern).fullmatch(text, timeout=REGEX_TIMEOUT))
    except TimeoutError:
        raise RegexTimeoutError(
            f"{path or 'the whole'}: the pattern {quote(pattern)} gives no answer within "
            f"{REGEX_TIMEOUT:g} s for a text of {len(text)} characters"
        ) from None
