"""Sources in four languages with values planted in them, and values that are nearly the same.

Everything is drawn with a seed. Numbers and dates have the forms of Unicode's locale data; the
firms are put together from parts that several firms of a source share.
"""

import datetime as dt
import random
import unicodedata

from babel.dates import format_date
from babel.numbers import format_compact_decimal, format_currency, format_percent
from babel.units import format_unit

FIRMS = {
    "en": ("Harbour Northern Silver Crown Baker", "Logistics Trading Foods", "Ltd plc Inc."),
    "de": ("Müller Nordwind Bäcker Schäfer Weiß", "Logistik Handel Technik", "GmbH AG KG"),
    "fr": ("Lefèvre Beauséjour Étoile Dupré Loire", "Transports Conseil Énergie", "SARL SAS SA"),
    "es": ("Núñez Peñalara Ibérica Muñoz Aragón", "Alimentos Energía Textil", "S.L. S.A. SLU"),
}
SENTENCES = {
    "en": [
        "The invoice {id} of {firm} dated {date} comes to {amount} and is payable within 30 days.",
        "Revenue of {firm} rose by {percent} to {millions} in the last financial year.",
        "Please transfer {amount} and quote the reference {id}.",
    ],
    "de": [
        "Die Rechnung {id} der {firm} vom {date} beläuft sich auf {amount}, zahlbar in 30 Tagen.",
        "Der Umsatz der {firm} stieg im letzten Geschäftsjahr um {percent} auf {millions}.",
        "Bitte überweisen Sie {amount} unter Angabe von {id}.",
    ],
    "fr": [
        "La facture {id} de {firm} en date du {date} s'élève à {amount}, payable sous 30 jours.",
        "Le chiffre d'affaires de {firm} a augmenté de {percent} pour atteindre {millions}.",
        "Veuillez virer {amount} en indiquant la référence {id}.",
    ],
    "es": [
        "La factura {id} de {firm} con fecha {date} asciende a {amount} y se paga en 30 días.",
        "Los ingresos de {firm} aumentaron un {percent} hasta {millions} en el último ejercicio.",
        "Rogamos transfiera {amount} e indique la referencia {id}.",
    ],
}


def make_facts(language, choose):
    """Draw a fact for each place that a sentence may have."""
    return {
        "firm": " ".join(choose.choice(part.split()) for part in FIRMS[language]),
        "date": dt.date(2015, 1, 1) + dt.timedelta(choose.randrange(4_000)),
        "amount": choose.randint(100_00, 99_999_99) / 100,
        "id": f"{choose.choice(['INV', 'RE', 'PO'])}-2024-{choose.randint(0, 99_999):05}",
        "percent": choose.randint(11, 499) / 10,
        "millions": choose.randint(101, 9999) / 10,
    }


def in_the_source(firm, date, amount, id, percent, millions, *, language):
    """Give the forms in which the language writes each fact."""
    lengths = ("short", "medium", "long", "full")
    euros = ("standard", "name")
    share = format_percent(percent / 100, "#,##0.0 %", language)
    return {
        "firm": [firm],
        "date": [format_date(date, length, language) for length in lengths],
        "amount": [format_currency(amount, "EUR", None, language, True, form) for form in euros],
        "id": [id],
        "percent": [share, format_unit(percent, "concentr-percent", locale=language)],
        "millions": [format_compact_decimal(millions * 1e6, format_type="long", locale=language, fraction_digits=1)],
    }  # fmt: skip


def in_the_output(firm, date, amount, id, percent, millions):
    """Give the forms in which a model may write each fact into JSON."""
    return {
        "firm": [firm, firm.upper(), unicodedata.normalize("NFD", firm), firm.replace(" ", "  ")],
        "date": [f"{date}", f"{date:%B %d, %Y}", f"{date}T00:00:00Z"],
        "amount": [amount, f"{amount:.2f}", f"{amount:,.2f} EUR", str(amount)],
        "id": [id, id.replace("-", " ")],
        "percent": [percent, round(percent / 100, 6), f"{percent}%", f"{percent} %"],
        "millions": [millions, round(millions * 1e6), f"{millions} million"],
    }


def change(fact, language, text, choose):
    """Change a fact into one that the text has not, but nearly."""
    if isinstance(fact, dt.date):
        return fact + dt.timedelta(choose.choice([-30, -7, -1, 1, 31]))
    written = str(fact)
    places = [place for place, char in enumerate(written) if char.isdigit()]
    if not places:
        others = iter(lambda: make_facts(language, choose)["firm"], None)
        return next(other for other in others if other not in text)
    place = choose.choice(places)
    digit = choose.choice("123456789".replace(written[place], ""))
    return type(fact)(written[:place] + digit + written[place + 1 :])


def make_case(language, seed):
    """Return a source, values that it has, and values that it nearly has."""
    choose = random.Random(f"{language} {seed}")
    sentences = choose.sample(SENTENCES[language] * 3, 7)
    told = [(sentence, make_facts(language, choose)) for sentence in sentences]
    lines = []
    for sentence, facts in told:
        forms = in_the_source(**facts, language=language)
        lines.append(sentence.format(**{name: choose.choice(forms[name]) for name in forms}))
    text = "\n".join(lines)
    right, near = [], []
    for sentence, facts in told:
        others = {name: change(fact, language, text, choose) for name, fact in facts.items()}
        names = [name for name in facts if f"{{{name}}}" in sentence]
        right += [choose.choice(in_the_output(**facts)[name]) for name in names]
        near += [choose.choice(in_the_output(**others)[name]) for name in names]
    return text, right, near
