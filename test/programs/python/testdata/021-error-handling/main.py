"""Own exceptions, chains of causes, finally, and what context managers do with errors."""
from contextlib import ExitStack, contextmanager, suppress


class BankError(Exception):
    """Base of everything that can go wrong here."""


class InsufficientFunds(BankError):
    def __init__(self, missing):
        super().__init__(f"{missing} short")
        self.missing = missing


class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, text):
        try:
            amount = int(text)
        except ValueError as cause:
            raise BankError(f"not an amount: {text!r}") from cause
        if amount > self.balance:
            raise InsufficientFunds(amount - self.balance)
        self.balance -= amount
        return amount


@contextmanager
def transaction(account):
    before = account.balance
    try:
        yield account
        print("  committed")
    except BankError as error:
        account.balance = before
        print(f"  rolled back: {error}")


account = Account(100)
for amounts in (["30", "20"], ["10", "90"], ["5", "many"], []):
    print("withdraw", amounts)
    with transaction(account):
        for amount in amounts:
            account.withdraw(amount)
    print("  balance", account.balance)

try:
    account.withdraw("x")
except BankError as error:
    print(type(error).__name__, "caused by", type(error.__cause__).__name__)
try:
    account.withdraw("1000")
except InsufficientFunds as error:
    print("missing:", error.missing)


def finally_order():
    try:
        print("body")
        return "from try"
    finally:
        print("finally runs first")


print(finally_order())
with ExitStack() as stack:
    for name in "abc":
        stack.callback(print, "closing", name)
with suppress(ZeroDivisionError):
    print(1 // 0)
print("done")
