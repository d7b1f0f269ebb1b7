import re
from datetime import date
from decimal import Decimal
from typing import NamedTuple, Optional

LINE = re.compile(r"(\S+) (\S+) -> (\S+) (-?\d+\.\d\d)(?: (.*))?")


class JournalError(ValueError):
    pass


class Entry(NamedTuple):
    day: date
    source: str
    target: str
    amount: Decimal
    text: str


def parse(line) -> Optional[Entry]:
    line = line.strip()
    if not line or line.startswith(";"):
        return None
    match = LINE.fullmatch(line)
    if not match:
        raise JournalError(f"cannot read {line!r}")
    try:
        day = date.fromisoformat(match[1])
    except ValueError:
        raise JournalError(f"no such day: {match[1]}") from None
    amount = Decimal(match[4])
    if amount <= 0:
        raise JournalError(f"amount must be positive, not {amount}")
    return Entry(day, match[2], match[3], amount, match[5] or "")
