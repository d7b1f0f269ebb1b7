"""A small command line with subcommands, built on argparse."""
import argparse


def parser():
    top = argparse.ArgumentParser(prog="todo")
    top.add_argument("-v", "--verbose", action="count", default=0)
    commands = top.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add")
    add.add_argument("title")
    add.add_argument("--priority", type=int, choices=range(1, 4), default=2)
    add.add_argument("--tag", action="append", default=[])
    done = commands.add_parser("done")
    done.add_argument("ids", nargs="+", type=int)
    done.add_argument("--force", action=argparse.BooleanOptionalAction, default=False)
    return top


print("given:", sorted(vars(parser().parse_args()).items()))
for line in (["done", "3", "4", "--force"], ["-vv", "add", "sleep", "--priority", "3"]):
    print(line, "->", sorted(vars(parser().parse_args(line)).items()))
try:
    parser().parse_args(["done", "three"])
except SystemExit as stop:
    print("a bad command line ends with", stop.code)
