"""Compresses with every module of the library and compares what comes back."""
import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib

verse = "Ob's stürmt oder schneit, ob die Sonne uns lacht;\n" * 400
noise = bytes((i * i * 31 + i * 7) >> 3 & 255 for i in range(4096))

for module in (zlib, gzip, bz2, lzma):
    for name, data in (("verse", verse.encode()), ("noise", noise), ("empty", b"")):
        packed = module.compress(data)
        ratio = "smaller" if len(packed) < len(data) / 10 else "similar or larger"
        print(f"{module.__name__:5} {name:6} {len(data):6} bytes -> {ratio:18} back: {module.decompress(packed) == data}")

stream = zlib.compressobj(9)
chunks = [stream.compress(verse[i : i + 999].encode()) for i in range(0, len(verse), 999)] + [stream.flush()]
print("streamed:", zlib.decompress(b"".join(chunks)).decode() == verse)

archive = io.BytesIO()
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as bundle:
    bundle.writestr("gedicht/vers.txt", verse)
    bundle.writestr("größe.txt", "12")
with zipfile.ZipFile(archive) as bundle:
    print("zip:", [(i.filename, i.file_size, hex(i.CRC)) for i in bundle.infolist()], bundle.testzip())

with tarfile.open("bundle.tar.gz", "w:gz") as tar:
    info = tarfile.TarInfo("noise.bin")
    info.size = len(noise)
    tar.addfile(info, io.BytesIO(noise))
with tarfile.open("bundle.tar.gz") as tar:
    print("tar:", tar.getnames(), tar.extractfile("noise.bin").read() == noise)
try:
    zlib.decompress(b"not compressed")
except zlib.error as error:
    print("broken:", error)
