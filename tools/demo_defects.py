"""The ways in which models spoil an invoice: in the text that they write, and in what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from random import Random
from typing import Any

Invoice = dict[str, Any]

_LINE_END_COMMA = re.compile(r",(?=\s)")
_CLOSING = re.compile(r"(?<=[\w\"}\]])(?=\s*[}\]])")
_MEMBER = re.compile(r'(?<=[{\s])"\w+": ')


# --- the text ----------------------------------------------------------------------------------


def code_fence(text: str, random: Random) -> str:
    """Put the JSON into a Markdown fence."""
    return f"```{random.choice(('json', 'json', ''))}\n{text}\n```"


def prose_before(text: str, random: Random) -> str:
    """Announce the JSON."""
    announcement = (
        "Here is the extracted invoice data:",
        "Sure! Based on the invoice text, the JSON object is:",
        "Here's the JSON you asked for.",
    )
    return f"{random.choice(announcement)}\n\n{text}"


def prose_after(text: str, random: Random) -> str:
    """Explain the JSON."""
    note = (
        "Note: all amounts were copied as printed.",
        "Let me know if you need the address split into separate fields!",
    )
    return f"{text}\n\n{random.choice(note)}"


def fence_in_prose(text: str, random: Random) -> str:
    """Announce a fence."""
    return prose_before(code_fence(text, random), random)


def reasoning_before(text: str, random: Random) -> str:
    """Think aloud first."""
    thought = random.choice(
        (
            "The tax line is printed after the net amount, so subtotal is the net amount.",
            "The customer's order number is printed as 'Your order', that is purchase_order.",
        )
    )
    return f"<think>\n{thought}\n</think>\n{text}"


def truncated(text: str, random: Random) -> str:
    """Stop at the limit of tokens."""
    return text[: random.randrange(len(text) // 3, len(text) - 4)].rstrip()


def trailing_comma(text: str, random: Random) -> str:
    """Leave a comma before a closing bracket."""
    return _insert(text, ",", random.choice(list(_CLOSING.finditer(text))).start())


def single_quotes(text: str, _: Random) -> str:
    """Print a Python dictionary."""
    return repr(json.loads(text))


def python_literal(text: str, _: Random) -> str:
    """Write True, False and None."""
    for word, literal in (("true", "True"), ("false", "False"), ("null", "None")):
        text = text.replace(f": {word}", f": {literal}")
    return text


def comment(text: str, random: Random) -> str:
    """Comment on a value; only JSON over several lines leaves room for that."""
    remark = random.choice(("// not stated, assumed", "# as printed", "/* net of tax */"))
    ends = [end.start() + 1 for end in _LINE_END_COMMA.finditer(text) if text[end.end()] == "\n"]
    return _insert(text, f" {remark}", random.choice(ends)) if ends else text


def unescaped_quote(text: str, _: Random) -> str:
    """Forget the backslash before inch marks and nicknames."""
    return text.replace('\\"', '"')


def raw_line_break(text: str, _: Random) -> str:
    """Break the line within the address."""
    return text.replace("\\n", "\n")


def thousands_separator(text: str, _: Random) -> str:
    """Write 1,299.00 as it is printed."""
    return re.sub(r'(?<=": )([0-9]{1,3})([0-9]{3}\.[0-9]+)', r"\1,\2", text)


def duplicate_key(text: str, _: Random) -> str:
    """Say the total twice."""
    return re.sub(r'("total": [0-9.]+,)(\s*)', r"\1\2\1\2", text)


def apology(_: str, random: Random) -> str:
    """Refuse."""
    return random.choice(
        (
            "I'm sorry, but I can't find an invoice in the text that you sent.",
            "I apologize, I am not able to read the attached document. Could you send it again?",
            "As a language model I cannot process financial documents.",
        )
    )


def empty(_: str, __: Random) -> str:
    """Write nothing."""
    return ""


def _insert(text: str, part: str, offset: int) -> str:
    return text[:offset] + part + text[offset:]


# --- what it says ------------------------------------------------------------------------------


def missing_key(invoice: Invoice, random: Random) -> None:
    """Leave a member out."""
    place = random.choice((invoice, invoice, invoice["line_items"][-1]))
    del place[random.choice(list(place))]


def null_value(invoice: Invoice, random: Random) -> None:
    """Write null where a value is printed."""
    invoice[random.choice(("invoice_number", "due_date", "tax"))] = None


def number_as_text(invoice: Invoice, random: Random) -> None:
    """Write "12.50" for 12.5."""
    key = random.choice(("subtotal", "tax", "total"))
    invoice[key] = f"{invoice[key]:.2f}"


def extra_key(invoice: Invoice, random: Random) -> None:
    """Add a member that nobody asked for."""
    key, value = random.choice((("document_type", "invoice"), ("confidence", 0.97)))
    invoice[key] = value


def hallucinated_field(invoice: Invoice, random: Random) -> None:
    """Add a fact that is not in the invoice."""
    key, value = random.choice(
        (("phone", "+44 20 7946 0123"), ("email", "accounts@vendor.example"), ("discount", 5.0))
    )
    invoice["vendor"][key] = value


def date_format(invoice: Invoice, random: Random) -> None:
    """Write a date in another format."""
    written = random.choice(("%d/%m/%Y", "%d %b %Y", "%m/%d/%y"))
    invoice["date"] = date.fromisoformat(invoice["date"]).strftime(written)


def currency_symbol(invoice: Invoice, _: Random) -> None:
    """Write a symbol for the currency."""
    symbols = {"EUR": "€", "GBP": "£", "USD": "$"}
    invoice["currency"] = symbols.get(invoice["currency"], invoice["currency"])


def wrong_value(invoice: Invoice, random: Random) -> None:
    """Take the wrong figure, date or name."""
    changes: list[Callable[[], Any]] = [
        lambda: invoice.update(total=invoice["subtotal"]),
        lambda: invoice.update(due_date=invoice["date"]),
        lambda: invoice.update(paid=not invoice["paid"]),
        lambda: invoice["vendor"].update(name=invoice["vendor"]["name"].split()[0]),
        lambda: invoice["line_items"][0].update(unit_price=invoice["line_items"][0]["amount"]),
    ]
    random.choice(changes)()


def reordered_items(invoice: Invoice, _: Random) -> None:
    """List the items backwards."""
    invoice["line_items"].reverse()


def missing_item(invoice: Invoice, _: Random) -> None:
    """Forget the last of several items."""
    if len(invoice["line_items"]) > 1:
        invoice["line_items"].pop()


def invented_item(invoice: Invoice, _: Random) -> None:
    """Add an item that was not sold."""
    item = {"description": "Service fee", "quantity": 1, "unit_price": 15.0, "amount": 15.0}
    invoice["line_items"].append(item)


TEXT_DEFECTS: dict[str, Callable[[str, Random], str]] = {
    change.__name__: change
    for change in (
        code_fence,
        prose_before,
        prose_after,
        fence_in_prose,
        reasoning_before,
        truncated,
        trailing_comma,
        single_quotes,
        python_literal,
        comment,
        unescaped_quote,
        raw_line_break,
        thousands_separator,
        duplicate_key,
        apology,
        empty,
    )
}
"""Change the text of a right output; a text given back unchanged lacks what the defect needs."""

VALUE_DEFECTS: dict[str, Callable[[Invoice, Random], None]] = {
    change.__name__: change
    for change in (
        missing_key,
        null_value,
        number_as_text,
        extra_key,
        hallucinated_field,
        date_format,
        currency_symbol,
        wrong_value,
        reordered_items,
        missing_item,
        invented_item,
    )
}
"""Change what a right output says, in place."""
