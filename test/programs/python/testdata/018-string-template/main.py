"""Fills form letters: string.Template, format specifications and text wrapping."""
import textwrap
from string import Template

LETTER = Template(
    "Dear $title $name, your order no. ${number}x of $$${amount} was sent on $day "
    "and will reach you within a week if the weather, the roads and our drivers allow it."
)
ORDERS = [
    dict(title="Ms", name="Núñez", number=17, amount="1,250.00", day="4 May"),
    dict(title="Dr", name="李", number=18, amount="75.10", day="5 May"),
]

for order in ORDERS:
    print(textwrap.fill(LETTER.substitute(order), width=48, initial_indent="  ", subsequent_indent="| "))
    print()

try:
    LETTER.substitute(title="Mr")
except KeyError as missing:
    print("missing field:", missing)
print(Template("$known and $unknown").safe_substitute(known="this"))

for value in (0, 1234567.891, -0.00042):
    print(f"[{value:>12,.2f}] [{value:<+12.3e}] [{value:^12.4g}] [{value:012.1f}]")
print(f"{255:#x} {255:#o} {255:#010b} {0.4567:.1%} {'mid':*^9} {1_000_000:_}")
print(textwrap.dedent("""
    def f():
        return 1
    """).strip())
print(textwrap.shorten("The quick brown fox jumps over the lazy dog", width=24, placeholder=" […]"))
