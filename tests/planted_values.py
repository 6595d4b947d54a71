"""Sources in four languages with values planted in them, and values that are nearly the same.

Everything is drawn with a seed. The forms of numbers and dates are those in which the languages
write them; the firms are put together from parts that several firms of a source share.
"""

import datetime as dt
import random
import unicodedata

LANGUAGES = ("en", "de", "fr", "es")
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
FIRMS = {
    "en": (
        "Harbour Northern Silver Crown Baker Whitfield Ashton Kestrel Meridian Thornbury",
        "Logistics Trading Foods Engineering Textiles Partners",
        "Ltd plc LLP Inc.",
    ),
    "de": (
        "Müller Nordwind Bäcker Königs Schäfer Rhein Weiß Huber Albrecht Sonnen",
        "Logistik Handel Maschinenbau Lebensmittel Technik Druck",
        "GmbH AG KG e.K.",
    ),
    "fr": (
        "Lefèvre Beauséjour Étoile Garonne Dupré Mistral Bréchet Loire Fontaine Châtel",
        "Transports Conseil Industries Boulangerie Énergie Textiles",
        "SARL SAS SA S.A.",
    ),
    "es": (
        "Núñez Peñalara Ibérica Levante Muñoz Aragón Castaño Sierra Guzmán Atlántida",
        "Transportes Alimentos Ingeniería Textil Energía Comercio",
        "S.L. S.A. SLU SCoop",
    ),
}
SENTENCES = {
    "en": [
        "The invoice {id} of {firm} dated {date} comes to {amount} and is payable within {days} days.",
        "Revenue of {firm} rose by {percent} to {millions} in the last financial year.",
        "We delivered {count} pallets to the warehouse on {date}, as agreed with {firm}.",
        "Please transfer the sum to the account {iban} and quote the reference {id}.",
        "The parties agree that the terms below apply to all further orders.",
        "Questions about the delivery are answered by our office on working days.",
    ],
    "de": [
        "Die Rechnung {id} der {firm} vom {date} beläuft sich auf {amount} und ist binnen {days} Tagen zahlbar.",
        "Der Umsatz der {firm} stieg im letzten Geschäftsjahr um {percent} auf {millions}.",
        "Am {date} haben wir {count} Paletten an das Lager geliefert, wie mit der {firm} vereinbart.",
        "Bitte überweisen Sie den Betrag auf das Konto {iban} unter Angabe von {id}.",
        "Die Parteien sind sich einig, dass die folgenden Bedingungen für alle weiteren Bestellungen gelten.",
        "Fragen zur Lieferung beantwortet unser Büro an Werktagen.",
    ],
    "fr": [
        "La facture {id} de {firm} en date du {date} s'élève à {amount} et est payable sous {days} jours.",
        "Le chiffre d'affaires de {firm} a augmenté de {percent} pour atteindre {millions}.",
        "Le {date}, nous avons livré {count} palettes à l'entrepôt, comme convenu avec {firm}.",
        "Veuillez virer la somme sur le compte {iban} en indiquant la référence {id}.",
        "Les parties conviennent que les conditions suivantes s'appliquent à toutes les commandes.",
        "Notre bureau répond aux questions sur la livraison les jours ouvrables.",
    ],
    "es": [
        "La factura {id} de {firm} con fecha {date} asciende a {amount} y se paga en {days} días.",
        "Los ingresos de {firm} aumentaron un {percent} hasta {millions} en el último ejercicio.",
        "El {date} entregamos {count} palés en el almacén, según lo acordado con {firm}.",
        "Rogamos transfiera la suma a la cuenta {iban} e indique la referencia {id}.",
        "Las partes acuerdan que las condiciones siguientes se aplican a todos los pedidos.",
        "Nuestra oficina responde a las preguntas sobre la entrega los días laborables.",
    ],
}
SMALL = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
}


class Writer:
    """Writes facts as one language does, and as a model may write them into JSON."""

    def __init__(self, language, seed):
        self.language = language
        self.random = random.Random(f"{language} {seed}")

    def firm(self):
        return " ".join(self.random.choice(part.split()) for part in FIRMS[self.language])

    def day(self):
        return dt.date(self.random.randint(2015, 2025), 1, 1) + dt.timedelta(
            self.random.randrange(365)
        )

    def amount(self):
        return self.random.randint(100_00, 99_999_99) / 100

    def number(self):
        return f"{self.random.choice(['INV', 'RE', 'F', 'PO'])}-{self.random.randint(2015, 2025)}-{self.random.randint(0, 99_999):05}"

    def iban(self):
        code = {"en": "GB", "de": "DE", "fr": "FR", "es": "ES"}[self.language]
        return code + "".join(self.random.choices("0123456789", k=20))

    def write_day(self, day):
        month = MONTHS[self.language].split()[day.month - 1]
        forms = {
            "en": [f"{month} {day.day}, {day.year}", f"{day.day} {month} {day.year}", f"{day.day} {month[:3]} {day.year}", f"{day:%d/%m/%Y}", f"{day.isoformat()}"],
            "de": [f"{day.day}. {month} {day.year}", f"{day:%d.%m.%Y}", f"{day.day}.{day.month}.{day.year}", f"{day:%d.%m.%y}"],
            "fr": [f"{'1er' if day.day == 1 else day.day} {month} {day.year}", f"{day:%d/%m/%Y}", f"{day:%d-%m-%Y}"],
            "es": [f"{day.day} de {month} de {day.year}", f"{day.day} {month} {day.year}", f"{day:%d/%m/%Y}", f"{day:%d-%m-%Y}"],
        }  # fmt: skip
        return self.random.choice(forms[self.language])

    def digits(self, number, places):
        grouped = f"{number:,.{places}f}"
        if self.language == "en":
            return grouped
        group = {"de": ".", "fr": self.random.choice([" ", "\u202f"]), "es": "."}[self.language]
        return grouped.replace(",", "\0").replace(".", ",").replace("\0", group)

    def write_amount(self, amount):
        digits = self.digits(amount, 2)
        forms = {
            "en": [f"${digits}", f"{digits} USD", f"£{digits}"],
            "de": [f"{digits} €", f"EUR {digits}", f"{digits} Euro"],
        }
        return self.random.choice(forms.get(self.language, [f"{digits} €", f"{digits} EUR"]))

    def write_millions(self, number):
        word = {
            "en": "million",
            "de": "Mio. Euro",
            "fr": "millions d'euros",
            "es": "millones de euros",
        }[self.language]
        return f"{self.digits(number, 1)} {word}"

    def write_percent(self, number):
        word = {"en": " percent", "de": " Prozent", "fr": " pour cent", "es": " por ciento"}[
            self.language
        ]
        return f"{self.digits(number, 1)}{self.random.choice(['%', ' %', word])}"

    def write_count(self, count):
        words = SMALL[self.language].split()
        return words[count - 2] if count <= 12 else self.digits(count, 0)

    def say_day(self, day):
        """Write a day as a model may."""
        month = MONTHS["en"].split()[day.month - 1]
        return self.random.choice(
            [
                day.isoformat(),
                f"{month} {day.day}, {day.year}",
                f"{day.isoformat()}T00:00:00Z",
                self.write_day(day),
            ]
        )

    def say_text(self, text):
        """Write a text as a model may."""
        return self.random.choice(
            [
                text,
                text.upper(),
                unicodedata.normalize("NFD", text),
                text.replace("-", " "),
                text.replace(" ", "  "),
            ]
        )

    def say_amount(self, amount):
        return self.random.choice(
            [amount, f"{amount:.2f}", f"{amount:,.2f}", f"{amount:,.2f} EUR", str(amount)]
        )

    def slip(self, text):
        """Misread one letter, as OCR does."""
        long = [word for word in text.split() if len(word) >= 7 and word.isalpha()]
        if not long:
            return text
        word = self.random.choice(long)
        place = self.random.randrange(1, len(word) - 1)
        return text.replace(word, word[:place] + self.random.choice("aeiou") + word[place + 1 :])


def change_digit(writer, text):
    """Change one digit, not the first of a run of zeros."""
    places = [place for place, char in enumerate(text) if char.isdigit()]
    place = writer.random.choice(places)
    other = writer.random.choice([digit for digit in "123456789" if digit != text[place]])
    return text[:place] + other + text[place + 1 :]


def make_case(language, seed):
    """Return a source, values that it has, and values that it nearly has."""
    writer = Writer(language, seed)
    facts, parts = [], []
    for sentence in writer.random.sample(SENTENCES[language] * 2, 10):
        fact = {
            "firm": writer.firm(), "date": writer.day(), "amount": writer.amount(), "id": writer.number(),
            "iban": writer.iban(), "days": writer.random.choice([10, 14, 30, 45, 60]),
            "percent": writer.random.randint(11, 499) / 10, "millions": writer.random.randint(101, 9999) / 10,
            "count": writer.random.choice([*range(2, 13), 48, 144, 1250, 2400]),
        }  # fmt: skip
        written = {
            **fact, "date": writer.write_day(fact["date"]), "amount": writer.write_amount(fact["amount"]),
            "percent": writer.write_percent(fact["percent"]), "millions": writer.write_millions(fact["millions"]),
            "count": writer.write_count(fact["count"]),
        }  # fmt: skip
        facts += [(name, value) for name, value in fact.items() if f"{{{name}}}" in sentence]
        parts.append(sentence.format(**written))
    text = "\n".join(parts)
    if writer.random.random() < 0.5:  # lines of 70 characters, as in a PDF
        words, lines = text.split(" "), [""]
        for word in words:
            if len(lines[-1]) + len(word) > 70:
                lines.append("")
            lines[-1] += f" {word}" if lines[-1] else word
        text = "\n".join(lines)
    right, near = [], []
    for name, value in facts:
        right.append((name, say(writer, name, value)))
        near.append((name, say_nearly(writer, name, value, text)))
    return text, right, [(name, value) for name, value in near if value is not None]


def say(writer, name, value):
    if name == "date":
        return writer.say_day(value)
    if name == "amount":
        return writer.say_amount(value)
    if name == "millions":
        return writer.random.choice([value, round(value * 1e6), f"{value} million"])
    if name == "percent":
        return writer.random.choice([value, round(value / 100, 6), f"{value}%", f"{value} %"])
    if name == "firm":
        return writer.random.choice(
            [writer.say_text(value), writer.say_text(value), writer.slip(value)]
        )
    if name == "iban":
        return writer.random.choice([value, " ".join(value[at : at + 4] for at in range(0, 22, 4))])
    return writer.say_text(value) if isinstance(value, str) else value


def say_nearly(writer, name, value, text):
    """Return a value that the source has not, and that is nearly one that it has."""
    if name == "date":
        return writer.say_day(
            value + dt.timedelta(writer.random.choice([-30, -7, -1, 1, 2, 10, 31, 365]))
        )
    if name in ("amount", "millions", "percent"):
        places = {"amount": 2, "millions": 1, "percent": 1}[name]
        return say(writer, name, float(change_digit(writer, f"{value:.{places}f}")))
    if name in ("id", "iban"):
        return writer.say_text(change_digit(writer, value))
    if name == "firm":
        firms = iter(writer.firm, None)
        return writer.say_text(next(each for each in firms if each not in text.replace("\n", " ")))
    return None  # days and counts are small numbers, which stand in any text
