"""Starts the package as a command, and the package's own __main__ through runpy."""
import runpy
import sys

from notes.__main__ import main

code = main(["add", "Milch kaufen", "#home"])
code |= main(["add", "写代码 🦀", "#work", "#fun"])
code |= main(["add", "sleep"])
main(["list"])
main(["list", "#work"])
main(["done", "1"])
main(["list"])
print("unknown note:", main(["done", "9"]))

sys.argv = ["notes", "tags"]
try:
    runpy.run_module("notes", run_name="__main__")
except SystemExit as stop:
    print("package ended with", stop.code)
