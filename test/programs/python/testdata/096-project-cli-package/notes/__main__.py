import sys

from . import __version__
from .store import Store


def main(arguments):
    command, *rest = arguments
    store = Store("notes.db.json")
    if command == "add":
        print("added", store.add(rest[0], [tag[1:] for tag in rest[1:]]))
    elif command == "list":
        wanted = rest[0][1:] if rest else None
        for number, note in store.items(wanted):
            print(f"{number}. [{'x' if note['done'] else ' '}] {note['text']} {' '.join(note['tags'])}".rstrip())
    elif command == "done":
        return 0 if store.finish(int(rest[0])) else 1
    elif command == "tags":
        print(__version__, store.tags())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
