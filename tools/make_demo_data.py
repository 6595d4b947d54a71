"""Write the demo data: two prompts read the same invoices, and make mistakes that models make.

    python tools/make_demo_data.py [directory]

Everything is made up. The seed is fixed: every Python version writes the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
from copy import deepcopy
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from demo_defects import TEXT_DEFECTS, VALUE_DEFECTS
from demo_schema import EVAL, SCHEMA

DEMO = Path(__file__).parent.parent / "llmeval_integrations" / "demo"
INVOICES = 60
SEED = 20260304

_ONE_DECIMAL = re.compile(r'(?<=": )[0-9]+\.[0-9](?=[,\s}])')

VENDORS = [
    # name, address, code, currency, tax in percent
    ("Kestrel Office Supply Ltd", "12 Quay Street\nBristol BS1 4QA", "KOS", "GBP", 20),
    ("Nordlicht Elektronik GmbH", "Lindenallee 7\n24105 Kiel", "NE", "EUR", 19),
    ("Atelier Vauquelin SARL", "3 rue de l'Épée\n69002 Lyon", "AV", "EUR", 20),
    ("Blue Heron Plumbing LLC", "480 Alder Avenue\nPortland, OR 97209", "BHP", "USD", 0),
    ("Zürichberg Optik AG", "Seestrasse 114\n8002 Zürich", "ZO", "CHF", 8),
    ("Ospina e Hijos, S.L.", "Calle Olmo 22\n41003 Sevilla", "OH", "EUR", 21),
    ("Tollgate Print Works", "9 St. Mary's Road\nLeeds LS7 3JX", "TPW", "GBP", 20),
    ("Harbour Lane Coffee Roasters", "61 Harbour Lane\nHalifax, NS B3J 1Z6", "HLC", "CAD", 15),
    ("Rowan & Pike Garden Tools", "2 Miller's Yard\nYork YO1 7HH", "RPG", "GBP", 20),
    ("Drukarnia Wiśnia sp. z o.o.", "ul. Młyńska 18\n61-729 Poznań", "DW", "PLN", 23),
    ("Cinder Peak Software, Inc.", "1100 Larch Street\nBoise, ID 83702", "CPS", "USD", 6),
    ('Smith "Smitty" & Daughters', "77 O'Hara Court\nCork T12 X8F2", "SSD", "EUR", 23),
]

ITEMS = [
    # description, price of one in cents, quantities
    ('27" monitor', 24990, (1, 2, 4, 6)),
    ('19" rack shelf, 2U', 4150, (1, 2, 3)),
    ("USB-C cable, 2 m", 1290, (5, 10, 25)),
    ("Laser toner, black", 8795, (1, 2, 3)),
    ("A4 paper, 80 g/m², box of 5", 2349, (2, 4, 10)),
    ("Standing desk, oak", 62900, (1, 2, 3)),
    ("Espresso beans, 1 kg", 2675, (2, 6, 12)),
    ('Filter coffee "Monsoon", 500 g', 1480, (4, 8)),
    ("Labour on site, hours", 8600, (1.5, 2.5, 4, 7.25)),
    ("Travel, flat rate", 4500, (1,)),
    ("Copper pipe 15 mm, 3 m", 1835, (2, 5, 8)),
    ("Business cards, set of 500", 5490, (1, 2)),
    ("Roll-up banner 85 × 200 cm", 11900, (1, 2)),
    ("Safety glasses", 999, (3, 12, 20)),
    ("Progressive lenses, pair", 38950, (1,)),
    ("Hosting, March", 14900, (1,)),
    ("Support plan, per seat", 1200, (12, 40, 85)),
    ("Hedge shears", 3895, (1, 2)),
    ("Server, 64 GB, refurbished", 189900, (1, 2)),
    ("Shipping and handling", 1250, (1,)),
]


def make_invoice(random: Random) -> dict[str, Any]:
    """Draw what an invoice says, as the object that the prompt asks for."""
    name, address, code, currency, percent = random.choice(VENDORS)
    issued = date(2026, 1, 5) + timedelta(days=random.randrange(300))
    number = random.randrange(1, 9999)
    lines = [make_line(random, item) for item in random.sample(ITEMS, random.choice((1, 2, 2, 3)))]
    subtotal = sum(cents(line["amount"]) for line in lines)
    tax = (subtotal * percent + 50) // 100
    return {
        "invoice_number": f"{code}-{issued.year}-{number:04d}",
        "date": issued.isoformat(),
        "due_date": (issued + timedelta(days=random.choice((14, 30, 60)))).isoformat(),
        "vendor": {"name": name, "address": address},
        "purchase_order": random.choice((None, f"PO-{random.randrange(1000, 9999)}")),
        "currency": currency,
        "line_items": lines,
        "subtotal": subtotal / 100,
        "tax": tax / 100,
        "total": (subtotal + tax) / 100,
        "paid": random.random() < 0.3,
    }


def make_line(random: Random, item: tuple[str, int, tuple[float, ...]]) -> dict[str, Any]:
    """Draw how many were bought of an item."""
    description, price, quantities = item
    quantity = random.choice(quantities)
    return {
        "description": description,
        "quantity": quantity,
        "unit_price": price / 100,
        "amount": round(price * quantity) / 100,
    }


def cents(amount: float) -> int:
    """Count in cents, where sums are exact."""
    return round(amount * 100)


def print_invoice(invoice: dict[str, Any], random: Random) -> str:
    """Lay the invoice out as a scan would read, in one of a few ways."""
    written = random.choice(("%Y-%m-%d", "%d %b %Y", "%B %d, %Y"))
    issued, due = (
        date.fromisoformat(invoice[key]).strftime(written) for key in ("date", "due_date")
    )
    vendor = invoice["vendor"]
    order = invoice["purchase_order"]
    currency = invoice["currency"]
    title = random.choice(("INVOICE", "Invoice no.", "Invoice #"))
    lines = [
        vendor["name"],
        vendor["address"],
        f"{title} {invoice['invoice_number']}   {issued}",
        *([f"Your order: {order}"] if order else []),
        *(
            f"{line['quantity']} x {line['description']} @ {line['unit_price']:,.2f}"
            f" = {line['amount']:,.2f}"
            for line in invoice["line_items"]
        ),
        f"Net {invoice['subtotal']:,.2f}  Tax {invoice['tax']:,.2f}",
        f"TOTAL {currency} {invoice['total']:,.2f}",
        "PAID, thank you" if invoice["paid"] else f"Due {due}",
    ]
    if invoice["paid"]:
        lines.append(f"(was due {due})")
    return "\n".join(lines)


def render(value: Any, random: Random) -> str:
    """Write JSON as models do: mostly indented, amounts often as they are printed, 12.50."""
    indent = random.choice((2, 2, 2, 4, None))
    text = json.dumps(value, indent=indent, ensure_ascii=random.random() < 0.1)
    return _ONE_DECIMAL.sub(r"\g<0>0", text) if random.random() < 0.5 else text


def spoil(defect: str, invoice: dict[str, Any], random: Random) -> str | None:
    """Write the output that has this defect, or None where the invoice has not what it needs."""
    if defect in VALUE_DEFECTS:
        changed = deepcopy(invoice)
        VALUE_DEFECTS[defect](changed, random)
        return None if changed == invoice else render(changed, random)
    text = render(invoice, random)
    changed_text = TEXT_DEFECTS[defect](text, random)
    return None if changed_text == text else changed_text


def make_row(number: int, defects: tuple[str, str], random: Random) -> dict[str, Any]:
    """Draw invoices until both defects find what they need, such as a quote to leave unescaped."""
    outputs: list[str | None] = [None]
    while None in outputs:
        invoice = make_invoice(random)
        outputs = [
            render(invoice, random) if defect == "none" else spoil(defect, invoice, random)
            for defect in defects
        ]
    return {
        "id": f"invoice-{number:02d}",
        "input": print_invoice(invoice, random),
        "output": outputs[0],
        "new_output": outputs[1],
        "reference": invoice,
        "defect": defects[0],
        "new_defect": defects[1],
    }


def make_rows() -> list[dict[str, Any]]:
    """Make all rows, good and bad in random order."""
    random = Random(SEED)
    first, second = (
        [*(name for name, count in counts.items() for _ in range(count))]
        for counts in (FIRST_PROMPT, NEW_PROMPT)
    )
    for defects in (first, second):
        defects.extend(["none"] * (INVOICES - len(defects)))
        random.shuffle(defects)
    return [make_row(number, pair, random) for number, pair in enumerate(zip(first, second), 1)]


FIRST_PROMPT = {
    "code_fence": 4,
    "prose_before": 2,
    "prose_after": 1,
    "fence_in_prose": 1,
    "reasoning_before": 1,
    "truncated": 2,
    "trailing_comma": 2,
    "single_quotes": 1,
    "python_literal": 1,
    "comment": 1,
    "unescaped_quote": 1,
    "raw_line_break": 1,
    "thousands_separator": 1,
    "apology": 1,
    "duplicate_key": 1,
    "date_format": 4,
    "number_as_text": 4,
    "currency_symbol": 3,
    "missing_key": 2,
    "null_value": 1,
    "extra_key": 1,
    "hallucinated_field": 1,
    "wrong_value": 2,
    "reordered_items": 1,
}
"""How many outputs of the first prompt have each defect."""

NEW_PROMPT = {
    "code_fence": 2,
    "truncated": 1,
    "trailing_comma": 1,
    "empty": 1,
    "null_value": 1,
    "number_as_text": 1,
    "wrong_value": 3,
    "reordered_items": 2,
    "missing_item": 4,
    "invented_item": 1,
}
"""The same of the new prompt, which has the schema in it."""


def write(directory: Path) -> None:
    """Write all files of the demo."""
    rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in make_rows())
    schema = json.dumps(SCHEMA, indent=2) + "\n"
    for name, text in ("outputs.jsonl", rows), ("schema.json", schema), ("eval.yaml", EVAL):
        (directory / name).write_bytes(text.encode())


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else DEMO)
