"""Prints a month, finds Easter and every Friday the thirteenth."""
import calendar
from datetime import date, timedelta


def easter(year):
    """Easter Sunday by the anonymous Gregorian computus."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    l = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 19 * l) // 433
    month = (h + l - 7 * m + 90) // 25
    return date(year, month, (h + l - 7 * m + 33 * month + 19) % 32)


print(calendar.TextCalendar(calendar.MONDAY).formatmonth(2024, 2))
for year in (1954, 2000, 2024, 2025, 2038):
    sunday = easter(year)
    print(year, "Easter:", sunday.isoformat(), "Pentecost:", (sunday + timedelta(days=49)).strftime("%d %B"))

thirteenths = [date(y, m, 13) for y in range(2023, 2027) for m in range(1, 13)]
print("Friday 13th:", *(d for d in thirteenths if d.weekday() == 4))
print("leap years:", [y for y in range(1896, 1914) if calendar.isleap(y)])
print("ISO weeks:", *("%d-W%02d-%d" % tuple(date(y, 1, 1).isocalendar()) for y in (2021, 2024, 2027)))
print("last working days of 2024:", end="")
for month in range(1, 13):
    last = date(2024, month, calendar.monthrange(2024, month)[1])
    while last.weekday() > 4:
        last -= timedelta(days=1)
    print(f" {last:%d.%m.}", end="")
print()
