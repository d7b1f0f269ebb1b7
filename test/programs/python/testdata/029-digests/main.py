"""Known answers of hash functions, keyed hashes, key derivation and checksums."""
import binascii
import hashlib
import hmac
import zlib

MESSAGE = "The quick brown fox jumps over the lazy dog".encode()
for name in ("md5", "sha1", "sha256", "sha512", "sha3_256", "blake2s"):
    print(f"{name:9}", hashlib.new(name, MESSAGE).hexdigest()[:64])

pieces = hashlib.sha256()
for start in range(0, len(MESSAGE), 7):
    pieces.update(MESSAGE[start : start + 7])
print("in pieces the same:", pieces.digest() == hashlib.sha256(MESSAGE).digest())
print("hmac", hmac.new(b"key", MESSAGE, "sha256").hexdigest())
print("pbkdf2", hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000, 16).hex())
print("scrypt", hashlib.scrypt(b"password", salt=b"NaCl", n=64, r=8, p=2, dklen=16).hex())
print("crc32", hex(zlib.crc32(MESSAGE)), "adler32", hex(zlib.adler32(MESSAGE)), "crc16", hex(binascii.crc_hqx(MESSAGE, 0)))
print("compare:", hmac.compare_digest(b"same", b"same"), hmac.compare_digest(b"same", b"tame"))

for length in range(1, 4):
    found = next(n for n in range(10**6) if hashlib.sha256(b"entry%d" % n).hexdigest().startswith("0" * length))
    print(f"{length} leading zeros: entry{found} {hashlib.sha256(b'entry%d' % found).hexdigest()[:16]}")
