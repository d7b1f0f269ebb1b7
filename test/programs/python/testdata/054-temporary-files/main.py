"""Temporary files and folders, copies, moves, permissions, symbolic links."""
import os
import shutil
import stat
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    print("in TMPDIR:", folder.parent == Path(os.environ["TMPDIR"]), "mode", oct(folder.stat().st_mode & 0o777))
    first = folder / "first.txt"
    first.write_text("eins\nzwei\n")
    first.chmod(0o640)
    shutil.copy2(first, folder / "copy.txt")
    (folder / "link").symlink_to("first.txt")
    os.link(first, folder / "hard")
    for path in sorted(folder.iterdir()):
        info = path.lstat()
        print(f"{stat.filemode(info.st_mode)} {info.st_nlink} {path.name}", end="")
        print(" ->", os.readlink(path) if path.is_symlink() else "-")
    shutil.move(str(folder / "copy.txt"), str(folder / "moved.txt"))
    shutil.copytree(folder, folder.parent / "tree", symlinks=True)
    os.utime(first, (1_000_000_000, 1_700_000_000))
    print("modified", int(first.stat().st_mtime))
    print("through the link:", (folder / "link").read_text().splitlines())
    first.unlink()
    print("dangling:", (folder / "link").is_symlink() and not (folder / "link").exists())
print("folder gone:", not folder.exists())

tree = folder.parent / "tree"
print("tree:", sorted(p.name for p in tree.iterdir()))
shutil.rmtree(tree)

with tempfile.TemporaryFile("w+b") as file:
    file.write(bytes(range(256)) * 4)
    file.seek(-6, os.SEEK_END)
    print("tail:", file.read().hex(), "size", file.tell())
    file.truncate(10)
    file.seek(0)
    print("truncated:", file.read().hex())
with tempfile.SpooledTemporaryFile(max_size=10, mode="w+", encoding="utf-8") as spool:
    spool.write("größer als zehn Bytes 🦀")
    spool.seek(0)
    print(spool.read())
