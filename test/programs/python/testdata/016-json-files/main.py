"""Writes a nested document as JSON, reads it back, queries and changes it."""
import json
from pathlib import Path

library = {
    "name": "Stadtbücherei",
    "open": True,
    "address": None,
    "books": [
        {"title": "Momo", "author": "Michael Ende", "year": 1973, "price": 12.5, "tags": ["children", "time"]},
        {"title": "红楼梦", "author": "曹雪芹", "year": 1791, "price": 30, "tags": ["classic"]},
        {"title": "Ficciones", "author": "J. L. Borges", "year": 1944, "price": 9.99, "tags": ["stories", "time"]},
    ],
}

path = Path("library.json")
path.write_text(json.dumps(library, ensure_ascii=False, indent=2), encoding="utf-8")
loaded = json.loads(path.read_text(encoding="utf-8"))
print("round trip equal:", loaded == library, "bytes:", path.stat().st_size)

print("about time:", [b["title"] for b in loaded["books"] if "time" in b["tags"]])
loaded["books"].sort(key=lambda book: book["year"])
for book in loaded["books"]:
    book["price"] = round(book["price"] * 1.1, 2)
print(json.dumps(loaded["books"], sort_keys=True))
print(json.dumps(loaded["books"][0], ensure_ascii=False, separators=(",", ":")))

for broken in ('{a: 1}', "[1, 2", "nul", '{"a" 1}'):
    try:
        json.loads(broken)
    except json.JSONDecodeError as error:
        print(f"{broken!r}: broken at {error.lineno}:{error.colno}")
path.unlink()
print("file gone:", not path.exists())
