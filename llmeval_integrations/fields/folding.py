"""What does not count in a text: case, white space, the form of characters, quotes, dashes."""

from __future__ import annotations

import unicodedata
from typing import Final

from llmeval_integrations.fields.rule import Rule

_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u2039\u203a`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212", "-"),
    }
)
"""Quotes, primes and accents as straight quotes; dashes, bullets and minus signs as a hyphen."""


def fold(rule: Rule, text: str) -> str:
    """Remove from a text what does not count."""
    is_loose = rule.text == "loose"
    if is_loose:  # before NFKC, which makes a space and a mark of an accent
        text = text.translate(_SIGNS)
    if rule.normalize_unicode or is_loose:
        text = unicodedata.normalize("NFKC", text)
    if rule.ignore_case or is_loose:
        text = text.casefold()
        if rule.normalize_unicode or is_loose:  # small letters may be taken apart
            text = unicodedata.normalize("NFKC", text)
    if is_loose:  # NFKC has made dashes of their vertical and small forms
        text = text.translate(_SIGNS)
    return " ".join(text.split()) if rule.ignore_whitespace or is_loose else text
