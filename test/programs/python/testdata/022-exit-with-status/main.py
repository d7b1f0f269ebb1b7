"""A checker that reports on both streams and ends with a status of its own."""
import atexit
import sys

RULES = {
    "has a digit": lambda p: any(c.isdigit() for c in p),
    "has a capital": lambda p: any(c.isupper() for c in p),
    "is long enough": lambda p: len(p) >= 10,
}

atexit.register(print, "checked all passwords")
failures = 0
for password in ("correct horse", "Tr0ub4dor&3", "hunter2", "Ünï¢ode4ever"):
    broken = [rule for rule, holds in RULES.items() if not holds(password)]
    print(f"{password:15} {'ok' if not broken else 'fails: ' + ', '.join(broken)}")
    failures += bool(broken)
if failures:
    print(f"{failures} passwords are weak", file=sys.stderr)
    sys.exit(3)
