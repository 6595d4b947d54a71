"""Find numbers in a text: in figures, and in English, German, French and Spanish words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from llmeval_integrations.core.limits import MAX_DIGITS

_DIGITS: Final = [
    # the separators of groups and of the fraction, and the form
    ("", ".", re.compile(r"(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")),
    (",", ".", re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}(?:\.[0-9]+)?")),
    (".", ",", re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+")),
    (".", ",", re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}")),
    ("", ",", re.compile(r"(?:0|[1-9][0-9]*),[0-9]+")),
    (" ", ".", re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})+(?:\.[0-9]+)?")),
    (" ", ",", re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})+,[0-9]+")),
    ("'", ".", re.compile(r"[1-9][0-9]{0,2}(?:'[0-9]{3})+(?:\.[0-9]+)?")),
    (".", ",", re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")),
]
"""The first form that matches is the likeliest. `007` matches none, as it is a code."""


def read_digits(text: str) -> Iterator[str]:
    """Yield the possible numbers, without group separators and with a point before the fraction.

    The likeliest comes first: `1.250` is rather a fraction than 1250.
    """
    for group, point, form in _DIGITS:
        if form.fullmatch(text):
            plain = text.replace(group, "") if group else text
            yield plain.replace(point, ".")


class WrittenNumber(NamedTuple):
    """A number in a text, with its place."""

    values: frozenset[float]
    """The possible values: 1.250 is 1250 or one and a quarter."""

    bare: frozenset[float]
    """The values without the word after the number: 3 for 3 million."""

    start: int
    end: int


def key(number: float) -> float:
    """Return a key that equal numbers share: without the sign, and with 12 digits."""
    if isinstance(number, int):
        return abs(number)
    rounded = abs(float(f"{number:.12g}"))
    return int(rounded) if rounded.is_integer() else rounded


_SCALES: Final[dict[str, tuple[float, ...]]] = {
    word: factors
    for factors, words in {
        (1e2,): "hundred, hundert, cent, cents, cien, ciento",
        (1e3,): "thousand, thousands, tausend, tsd, mille, mil",
        (1e5,): "lakh, lac",
        (1e6,): "mn, mio, million, millions, millionen, millon, millones",
        (1e7,): "crore, crores",
        (1e9,): "bn, mrd, md, milliarde, milliarden, milliard, milliards, mil millones",
        (1e9, 1e12): "billion, billions, billionen, billon, billones",
        (1e12,): "trillion, trillions",
        (1.0, 1e3): "k",
        (1.0, 1e6): "m",
        (1.0, 1e9): "b",
        (1.0, 1e-2): "%, percent, pct, prozent, per cent, pour cent, por ciento, percentage",
    }.items()
    for word in words.split(", ")
}
"""The factors of words after a number. `12 %` is 12 or 0.12, and `5 m` may be 5 metres."""


_COUNTED: Final = (
    "zero null zero cero; one eins un uno; two zwei deux dos; three drei trois tres",
    "four vier quatre cuatro; five funf cinq cinco; six sechs six seis; seven sieben sept siete",
    "eight acht huit ocho; nine neun neuf nueve; ten zehn dix diez; eleven elf onze once",
    "twelve zwolf douze doce; thirteen dreizehn treize trece; fourteen vierzehn quatorze catorce",
    "fifteen funfzehn quinze quince; sixteen sechzehn seize dieciseis",
    "seventeen siebzehn diecisiete; eighteen achtzehn dieciocho; nineteen neunzehn diecinueve",
)
"""The words for 0 to 19 in English, German, French and Spanish, without accents."""

_TENS: Final = (
    "twenty zwanzig vingt veinte; thirty dreissig trente treinta; forty vierzig quarante cuarenta",
    "fifty funfzig cinquante cincuenta; sixty sechzig soixante sesenta",
    "seventy siebzig septante setenta; eighty achtzig huitante ochenta",
    "ninety neunzig nonante noventa",
)
"""The words for 20 to 90 in the same order."""

# fmt: off
_OTHERS: Final[dict[float, str]] = {
    0: "no none never without kein keine ohne aucun aucune sans ninguno ninguna sin",
    0.25: "quarter viertel quart",
    0.5: "half halb halbe halfte moitie demi mitad",
    1: "ein eine einen une una single first erste ersten premier premiere primer primero primera",
    2: "second zweite zweiten deuxieme segundo segunda both pair twice beide beiden paar ambos ii",
    3: "third dritte dritten troisieme tercero tercera iii",
    4: "fourth vierte vierten quatrieme cuarto cuarta iv",
    5: "fifth funfte funften cinquieme quinto quinta",
    6: "sixth sechste vi",
    7: "seventh siebte vii",
    8: "eighth achte viii",
    9: "ninth neunte ix",
    10: "tenth zehnte",
    11: "xi",
    12: "dozen dutzend douzaine docena xii",
}
"""Other words. The Roman numbers `i`, `v` and `x` are left out, as they have other meanings."""
# fmt: on


def _number_words() -> dict[str, float]:
    """Return the number of each word."""
    counted = [words.split() for words in "; ".join(_COUNTED).split("; ")]
    tens = [words.split() for words in "; ".join(_TENS).split("; ")]
    found: dict[str, float] = {}
    for value, words in (*enumerate(counted), *((10 * ten, w) for ten, w in enumerate(tens, 2))):
        found.update(dict.fromkeys(words, value))
    for value, (_, german, *_, spanish) in enumerate(counted[1:10], 1):
        found[f"veinti{spanish.removesuffix('o') if value == 1 else spanish}"] = 20 + value
        for ten, words in enumerate(tens, 2):
            found[f"{'ein' if value == 1 else german}und{words[1]}"] = 10 * ten + value
    for number, others in _OTHERS.items():
        found.update(dict.fromkeys(others.split(), number))
    return found


NUMBER_WORDS: Final = _number_words()

_JOINERS: Final = frozenset(("and", "und", "et", "y"))

_SCALE: Final = "|".join(sorted(_SCALES, key=len, reverse=True))
_NUMBER: Final = re.compile(
    r"(?P<digits>(?<![\d.,])\.\d+|\d{1,3}(?:[ ']\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
    rf"(?P<exponent>e[+-]?\d{{1,3}}\b)?(?:[\s-]?(?P<scale>{_SCALE})(?!\w))?"
)
_RATIO: Final = re.compile(r"(?<!\d)(\d{1,4})\s?[/:\u2044]\s?(\d{1,4})(?!\d)")


def find_numbers(folded: str) -> Iterator[WrittenNumber]:
    """Yield the numbers in figures of a folded text, with all possible values."""
    for found in _NUMBER.finditer(folded):
        exponent, scale = found["exponent"] or "", found["scale"] or ""
        bare = _read_figures(found["digits"], exponent)
        if " " in found["digits"]:  # it may be several numbers
            bare = bare.union(*map(_read_figures, found["digits"].split()))
        factors = _SCALES[scale] if scale else ()
        values = frozenset(key(value * factor) for value in bare for factor in factors) or bare
        if values:
            yield WrittenNumber(values, bare, *found.span())


def find_ratios(folded: str) -> Iterator[WrittenNumber]:
    """Yield the fractions and ratios of a folded text."""
    for found in _RATIO.finditer(folded):
        if int(found[2]):
            value = frozenset([key(int(found[1]) / int(found[2]))])
            yield WrittenNumber(value, value, *found.span())


@lru_cache(maxsize=4_096)
def _read_figures(digits: str, exponent: str = "") -> frozenset[float]:
    """Return the possible values of digits with separators."""
    readings = [*read_digits(digits)]
    if not readings and digits.isdigit():  # such as 007, or the digits of another script
        readings = [digits]
    is_whole = not exponent and len(digits) <= MAX_DIGITS
    return frozenset(
        int(each) if is_whole and each.isdigit() else key(float(each + exponent))
        for each in readings
    )


def read_words(words: Sequence[str]) -> Iterator[tuple[float, int, int]]:
    """Yield the numbers in words, each with the positions of its first word and after its last."""
    start = 0
    while start < len(words):
        if words[start] not in NUMBER_WORDS:
            start += 1
            continue
        total, current, end = 0.0, NUMBER_WORDS[words[start]], start + 1
        yield current, start, end
        while end < len(words):
            step = end + (words[end] in _JOINERS and end + 1 < len(words))
            value, scale = NUMBER_WORDS.get(words[step]), _SCALES.get(words[step])
            if value and value < _room(current):
                current += value
            elif value == 20 and current == 4:  # quatre-vingts
                current = 80
            elif scale and step == end and scale[0] > 1:
                current = max(current, 1) * scale[0]
                if scale[0] >= 1_000:
                    total, current = total + current, 0.0
            else:
                break
            end = step + 1
        if end > start + 1:
            yield total + current, start, end
        start = end


def _room(current: float) -> float:
    """Return the limit for the next word of a number: after twenty, it is below ten."""
    if current in (60, 80):  # soixante-dix, quatre-vingt-dix
        return 20
    return 10 if current % 100 else 100
