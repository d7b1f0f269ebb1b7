"""Roman numerals both ways, validated, with arithmetic on them."""
import functools
import re

VALUES = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
          (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
VALID = re.compile("M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")


@functools.total_ordering
class Roman:
    def __init__(self, value):
        if isinstance(value, str):
            value = self.parse(value)
        if not 0 < value < 4000:
            raise ValueError(f"{value} has no Roman numeral")
        self.value = value

    @staticmethod
    def parse(text):
        if not text or not VALID.fullmatch(text):
            raise ValueError(f"not a Roman numeral: {text!r}")
        total = 0
        for value, letters in VALUES:
            while text.startswith(letters):
                total, text = total + value, text[len(letters):]
        return total

    def __str__(self):
        rest, text = self.value, ""
        for value, letters in VALUES:
            count, rest = divmod(rest, value)
            text += letters * count
        return text

    def __add__(self, other):
        return Roman(self.value + other.value)

    def __eq__(self, other):
        return self.value == other.value

    def __lt__(self, other):
        return self.value < other.value


for year in (1, 4, 9, 14, 40, 90, 400, 1444, 1999, 2024, 3999):
    print(year, Roman(year))
print("all round trips:", all(Roman(str(Roman(n))).value == n for n in range(1, 4000)))
print("XIX + IV =", Roman("XIX") + Roman("IV"), "| sorted:", *sorted(map(Roman, ["X", "IX", "V", "M", "CD"])))
print("longest:", max((str(Roman(n)) for n in range(1, 4000)), key=len))
for bad in ("IIII", "IC", "", "xiv", "MMMM"):
    try:
        Roman(bad)
    except ValueError as error:
        print(error)
