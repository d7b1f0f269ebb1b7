from collections import defaultdict
from decimal import Decimal


class Book:
    def __init__(self):
        self.entries, self.accounts = [], defaultdict(Decimal)

    def post(self, entry):
        self.entries.append(entry)
        self.accounts[entry.source] -= entry.amount
        self.accounts[entry.target] += entry.amount

    def balances(self):
        return sorted(self.accounts.items())

    def total(self):
        return sum(self.accounts.values())

    def monthly(self, prefix):
        sums = defaultdict(Decimal)
        for entry in self.entries:
            if entry.target.startswith(prefix):
                sums[f"{entry.day:%Y-%m}"] += entry.amount
        return sorted(sums.items())
