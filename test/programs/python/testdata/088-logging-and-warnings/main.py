"""Logging to standard output and a file, own formats, filters; warnings made errors."""
import io
import logging
import sys
import warnings
from pathlib import Path


class Redact(logging.Filter):
    def filter(self, record):
        record.msg = str(record.msg).replace("geheim", "*****")
        return True


def configure():
    root = logging.getLogger("app")
    root.setLevel(logging.DEBUG)
    screen = logging.StreamHandler(sys.stdout)
    screen.setLevel(logging.INFO)
    screen.setFormatter(logging.Formatter("%(levelname)-8s %(name)-12s %(message)s"))
    file = logging.FileHandler("app.log", mode="w", encoding="utf-8")
    file.setFormatter(logging.Formatter("{levelname[0]}|{funcName}|{message}", style="{"))
    for handler in (screen, file):
        handler.addFilter(Redact())
        root.addHandler(handler)
    return root


def work(log, n):
    log.debug("working on %d", n)
    try:
        return 10 // n
    except ZeroDivisionError:
        log.exception("failed for %r", n) if n is None else log.error("division failed for %d", n)


log = configure()
log.info("started with password geheim")
for n in (5, 0):
    work(log.getChild("worker"), n)
log.warning("%s costs %.2f €", "Brötchen", 0.6)
logging.getLogger("other").debug("nobody hears this")
log.log(25, "between info and warning")
print("file:")
print(Path("app.log").read_text(encoding="utf-8"), end="")
print("enabled:", log.isEnabledFor(logging.DEBUG), logging.getLevelName(30), log.getChild("worker").getEffectiveLevel())

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("the old way", DeprecationWarning)
    print("caught:", caught[0].category.__name__, caught[0].message)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        warnings.warn("strict now")
    except UserWarning as error:
        print("raised:", error)
stream = io.StringIO()
print("printed elsewhere", file=stream)
print(stream.getvalue().upper(), end="")
