"""Numbers in words, in English and German, read back from words as well."""

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen").split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SCALES = ["", "thousand", "million", "billion", "trillion"]
EINS = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
ZEHN = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def below_thousand(n):
    words = []
    if n >= 100:
        words += [ONES[n // 100], "hundred"]
        n %= 100
        if n:
            words.append("and")
    if n >= 20:
        words.append(TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else ""))
    elif n or not words:
        words.append(ONES[n])
    return " ".join(words)


def english(n):
    if n < 0:
        return "minus " + english(-n)
    groups, scale = [], 0
    while n or not groups:
        n, group = divmod(n, 1000)
        if group or (not n and not groups):
            groups.append(f"{below_thousand(group)} {SCALES[scale]}".strip())
        scale += 1
    return " ".join(reversed(groups))


def german(n):
    if n < 13:
        return EINS[n]
    if n < 20:
        return {16: "sech", 17: "sieb"}.get(n, EINS[n - 10]) + "zehn"
    if n < 100:
        one = {0: "", 1: "einund"}.get(n % 10, EINS[n % 10] + "und")
        return one + ZEHN[n // 10 - 2]
    unit, name = (100, "hundert") if n < 1000 else (1000, "tausend")
    head, rest = divmod(n, unit)
    start = "ein" if head == 1 else german(head)
    return start + name + (german(rest) if rest else "")


def parse(text):
    total = group = 0
    sign = -1 if text.startswith("minus ") else 1
    for word in text.replace("minus ", "").replace("-", " ").split():
        if word in ONES:
            group += ONES.index(word)
        elif word in TENS:
            group += 10 * (TENS.index(word) + 2)
        elif word == "hundred":
            group *= 100
        elif word in SCALES:
            total, group = total + group * 1000 ** SCALES.index(word), 0
    return sign * (total + group)


for n in (0, 7, 13, 21, 40, 99, 100, 342, 1000, 1001, 54321, 1_000_000, 2_147_483_647, -15):
    print(f"{n:>13,}: {english(n)}")
for n in (16, 17, 21, 66, 101, 777, 1000, 8888, 21_001):
    print(f"{n:>13,}: {german(n)}")
print("read back:", all(parse(english(n)) == n for n in range(-50, 20_000, 7)))
print("letters in one to thousand:", sum(len(english(n).replace(" ", "").replace("-", "")) for n in range(1, 1001)))
