"""Files and folders whose names need more than ASCII."""
import os
from pathlib import Path

root = Path("ordner-ö")
names = ["héllo 你好 🦀.txt", "данные.csv", "日本/東京.md", "emoji/🎉/party.txt", " spaces .txt"]
for name in names:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"content of {path.name}\n", encoding="utf-8")

for folder, folders, files in sorted(os.walk(root)):
    for file in sorted(files):
        path = Path(folder, file)
        print(f"{path.stat().st_size:3} {path.as_posix()} suffix {path.suffix!r}")

print("found:", sorted(p.name for p in root.rglob("*🦀*")))
print("as bytes:", sorted(os.listdir(os.fsencode(root)))[0])
(root / names[0]).rename(root / "crabe-🦀.txt")
print((root / "crabe-🦀.txt").read_text(encoding="utf-8"), end="")
try:
    (root / "没有").read_text()
except FileNotFoundError as error:
    print("missing:", error.filename, error.strerror)
