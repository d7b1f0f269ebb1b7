"""Double-entry bookkeeping over a journal file, with typed errors per line."""
from pathlib import Path

from ledger.book import Book
from ledger.journal import JournalError, parse

HERE = Path(__file__).parent
book = Book()
for number, line in enumerate((HERE / "journal.txt").read_text(encoding="utf-8").splitlines(), 1):
    try:
        entry = parse(line)
        if entry:
            book.post(entry)
    except JournalError as error:
        print(f"journal.txt:{number}: {error}")

for account, balance in book.balances():
    print(f"{account:22} {balance:>12,.2f}")
print("in balance:", book.total() == 0)
for month, spent in book.monthly("expenses:"):
    print(month, f"{spent:10.2f}", "■" * int(spent // 100))
