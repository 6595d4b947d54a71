"""Sources in four languages with values planted in them, and values that are nearly the same.

Everything is drawn with a seed. The forms of numbers and dates are those in which the languages
write them; the firms are put together from parts that several firms of a source share.
"""

import datetime as dt
import random
import unicodedata

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
LANGUAGES = tuple(MONTHS)
FIRMS = {
    "en": ("Harbour Northern Silver Crown Baker Ashton", "Logistics Trading Foods", "Ltd plc Inc."),
    "de": ("Müller Nordwind Bäcker Schäfer Rhein Weiß", "Logistik Handel Technik", "GmbH AG KG"),
    "fr": (
        "Lefèvre Beauséjour Étoile Dupré Mistral Loire",
        "Transports Conseil Énergie",
        "SARL SAS SA",
    ),
    "es": (
        "Núñez Peñalara Ibérica Muñoz Aragón Levante Castaño",
        "Transportes Alimentos Energía Textil",
        "S.L. S.A. SLU",
    ),
}
SENTENCES = {
    "en": [
        "The invoice {id} of {firm} dated {date} comes to {amount} and is payable within 30 days.",
        "Revenue of {firm} rose by {percent} to {millions} in the last financial year.",
        "On {date} we delivered the goods to the warehouse, as agreed with {firm}.",
        "Please transfer {amount} and quote the reference {id}.",
        "The parties agree that the terms below apply to all further orders.",
    ],
    "de": [
        "Die Rechnung {id} der {firm} vom {date} beläuft sich auf {amount}, zahlbar in 30 Tagen.",
        "Der Umsatz der {firm} stieg im letzten Geschäftsjahr um {percent} auf {millions}.",
        "Am {date} haben wir die Ware an das Lager geliefert, wie mit der {firm} vereinbart.",
        "Bitte überweisen Sie {amount} unter Angabe von {id}.",
        "Die Parteien sind sich einig, dass die Bedingungen für alle Bestellungen gelten.",
    ],
    "fr": [
        "La facture {id} de {firm} en date du {date} s'élève à {amount}, payable sous 30 jours.",
        "Le chiffre d'affaires de {firm} a augmenté de {percent} pour atteindre {millions}.",
        "Le {date}, nous avons livré la marchandise, comme convenu avec {firm}.",
        "Veuillez virer {amount} en indiquant la référence {id}.",
        "Les parties conviennent que les conditions s'appliquent à toutes les commandes.",
    ],
    "es": [
        "La factura {id} de {firm} con fecha {date} asciende a {amount} y se paga en 30 días.",
        "Los ingresos de {firm} aumentaron un {percent} hasta {millions} en el último ejercicio.",
        "El {date} entregamos la mercancía en el almacén, según lo acordado con {firm}.",
        "Rogamos transfiera {amount} e indique la referencia {id}.",
        "Las partes acuerdan que las condiciones se aplican a todos los pedidos.",
    ],
}
DATES = {
    "en": ["{month} {d}, {y}", "{d} {month} {y}", "{dd}/{mm}/{y}", "{y}-{mm}-{dd}"],
    "de": ["{d}. {month} {y}", "{dd}.{mm}.{y}", "{d}.{m}.{y}", "{dd}.{mm}.{yy}"],
    "fr": ["{d} {month} {y}", "{dd}/{mm}/{y}", "{dd}-{mm}-{y}"],
    "es": ["{d} de {month} de {y}", "{d} {month} {y}", "{dd}/{mm}/{y}"],
}
AMOUNTS = {
    "en": ["${}", "{} USD", "£{}"],
    "de": ["{} €", "EUR {}", "{} Euro"],
    "fr": ["{} €", "{} EUR"],
    "es": ["{} €", "{} EUR"],
}
MILLIONS = {
    "en": "{} million",
    "de": "{} Mio. Euro",
    "fr": "{} millions d'euros",
    "es": "{} millones de euros",
}
PERCENT = {"en": "{} percent", "de": "{} Prozent", "fr": "{} pour cent", "es": "{} por ciento"}


class Writer:
    """Writes facts as one language does, and as a model may write them into JSON."""

    def __init__(self, language, seed):
        self.language = language
        self.random = random.Random(f"{language} {seed}")

    def facts(self):
        day = dt.date(self.random.randint(2015, 2025), 1, 1)
        kind, year = self.random.choice(["INV", "RE", "PO"]), self.random.randint(2015, 2025)
        return {
            "firm": self.firm(),
            "date": day + dt.timedelta(self.random.randrange(365)),
            "amount": self.random.randint(100_00, 99_999_99) / 100,
            "id": f"{kind}-{year}-{self.random.randint(0, 99_999):05}",
            "percent": self.random.randint(11, 499) / 10,
            "millions": self.random.randint(101, 9999) / 10,
        }

    def firm(self):
        return " ".join(self.random.choice(part.split()) for part in FIRMS[self.language])

    def day(self, day, form, language):
        month = MONTHS[language].split()[day.month - 1]
        written = {"d": day.day, "m": day.month, "y": day.year, "yy": f"{day:%y}", "month": month}
        return form.format(dd=f"{day:%d}", mm=f"{day:%m}", **written)

    def digits(self, number, places):
        groups = {"en": [","], "fr": [" ", "\u202f"]}.get(self.language, ["."])
        points = str.maketrans(
            {",": self.random.choice(groups), ".": "." if self.language == "en" else ","}
        )
        return f"{number:,.{places}f}".translate(points)

    def write(self, name, value):
        """Write a fact as the source does."""
        language, choose = self.language, self.random.choice
        if name == "date":
            return self.day(value, choose(DATES[language]), language)
        forms = {
            "amount": (AMOUNTS[language], 2),
            "millions": ([MILLIONS[language]], 1),
            "percent": (["{}%", "{} %", PERCENT[language]], 1),
        }
        if name not in forms:
            return value
        templates, places = forms[name]
        return choose(templates).format(self.digits(value, places))

    def say(self, name, value):
        """Write a fact as a model may."""
        return self.random.choice(
            {
                "date": lambda: [
                    value.isoformat(),
                    self.day(value, "{month} {d}, {y}", "en"),
                    f"{value.isoformat()}T00:00:00Z",
                    self.write("date", value),
                ],
                "amount": lambda: [value, f"{value:.2f}", f"{value:,.2f} EUR", str(value)],
                "millions": lambda: [value, round(value * 1e6), f"{value} million"],
                "percent": lambda: [value, round(value / 100, 6), f"{value}%", f"{value} %"],
                "id": lambda: [value, value.replace("-", " ")],
                "firm": lambda: [
                    value,
                    value.upper(),
                    unicodedata.normalize("NFD", value),
                    value.replace(" ", "  "),
                ],
            }[name]()
        )

    def say_nearly(self, name, value, text):
        """Write what the source has not, and what is nearly one that it has."""
        if name == "date":
            return self.say(name, value + dt.timedelta(self.random.choice([-30, -7, -1, 1, 31])))
        if name == "firm":
            others = iter(self.firm, None)
            return self.say(name, next(other for other in others if other not in text))
        if name == "id":
            return self.say(name, self.change_digit(value))
        places = 2 if name == "amount" else 1
        return self.say(name, float(self.change_digit(f"{value:.{places}f}")))

    def change_digit(self, text):
        place = self.random.choice([place for place, char in enumerate(text) if char.isdigit()])
        digits = [digit for digit in "123456789" if digit != text[place]]
        return text[:place] + self.random.choice(digits) + text[place + 1 :]


def make_case(language, seed):
    """Return a source, values that it has, and values that it nearly has."""
    writer = Writer(language, seed)
    told, lines = [], []
    for sentence in writer.random.sample(SENTENCES[language] * 2, 8):
        facts = writer.facts()
        told += [(name, value) for name, value in facts.items() if f"{{{name}}}" in sentence]
        lines.append(sentence.format(**{name: writer.write(name, facts[name]) for name in facts}))
    text = "\n".join(lines)
    right = [(name, writer.say(name, value)) for name, value in told]
    near = [(name, writer.say_nearly(name, value, text)) for name, value in told]
    return text, right, near
