"""Dates with offsets: flights, ages, time stamps, working hours."""
from datetime import date, datetime, timedelta, timezone

TOKYO = timezone(timedelta(hours=9), "JST")
NEW_YORK = timezone(timedelta(hours=-5), "EST")

departure = datetime(2024, 1, 31, 17, 30, tzinfo=TOKYO)
arrival = departure + timedelta(hours=12, minutes=45)
print("departs", departure.isoformat())
print("arrives", arrival.astimezone(NEW_YORK).strftime("%A %d %B %Y, %H:%M %Z"))
print("before it left, by the local clock:", arrival.astimezone(NEW_YORK).replace(tzinfo=None) < departure.replace(tzinfo=None))

stamp = 1_700_000_000
moment = datetime.fromtimestamp(stamp, timezone.utc)
print(stamp, "is", moment, "and back", int(moment.timestamp()))
print("local time is UTC:", datetime.fromtimestamp(stamp).isoformat() == moment.replace(tzinfo=None).isoformat())


def age(born, day):
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


for born in (date(2000, 2, 29), date(1999, 12, 31), date(2024, 1, 1)):
    print("born", born, "age on 2024-02-28:", age(born, date(2024, 2, 28)))


def humanize(delta):
    minutes, seconds = divmod(int(delta.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = zip((days, hours, minutes, seconds), ("d", "h", "min", "s"))
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s"


for seconds in (0, 59, 3600, 90061, 10**6):
    print(f"{seconds:>8} s = {humanize(timedelta(seconds=seconds))}")
print(datetime.strptime("Tue, 05 Mar 2024 14:07:09 +0530", "%a, %d %b %Y %H:%M:%S %z").astimezone(timezone.utc))
