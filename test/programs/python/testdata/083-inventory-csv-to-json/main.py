"""Walks a folder of files it made, gathers them into one JSON index with checksums."""
import csv
import hashlib
import json
from pathlib import Path

FILES = {
    "store/fruit/apples.csv": [("sort", "kg"), ("Cox", "12"), ("Jonagold", "7.5")],
    "store/fruit/bananen.csv": [("sort", "kg"), ("Cavendish", "30")],
    "store/fisch/🐟.csv": [("sort", "kg"), ("Saibling", "2"), ("鯛", "1.25")],
    "store/empty.csv": [("sort", "kg")],
}

for name, rows in FILES.items():
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows(rows)
Path("store/readme.txt").write_text("not a table\n")

index = {}
for path in sorted(Path("store").rglob("*.csv")):
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    index[path.as_posix()] = {
        "rows": len(rows),
        "kg": sum(float(row["kg"]) for row in rows),
        "sha1": hashlib.sha1(path.read_bytes()).hexdigest()[:12],
        "sorts": [row["sort"] for row in rows],
    }
Path("index.json").write_text(json.dumps(index, ensure_ascii=False, indent=1), encoding="utf-8")
print(Path("index.json").read_text(encoding="utf-8"))

done = Path("archive")
done.mkdir()
for path in sorted(Path("store").rglob("*.csv")):
    if not index[path.as_posix()]["rows"]:
        path.unlink()
    else:
        path.replace(done / f"{path.parent.name}-{path.name}")
print("left:", sorted(p.as_posix() for p in Path("store").rglob("*")))
print("archived:", sorted(p.name for p in done.iterdir()))
