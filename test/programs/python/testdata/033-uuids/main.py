"""UUIDs that do not depend on clock or chance."""
import uuid

for name in ("example.org", "münchen.example", "héllo 你好 🦀"):
    print(f"{name:18}", uuid.uuid5(uuid.NAMESPACE_DNS, name), uuid.uuid3(uuid.NAMESPACE_URL, name))

fixed = uuid.UUID(bytes=bytes(range(16)), version=4)
print(fixed, "version", fixed.version, "variant:", fixed.variant)
print("integer", fixed.int)
print("fields", [hex(f) for f in fixed.fields])
print("urn", fixed.urn, "little endian", fixed.bytes_le.hex())
forms = ["{00010203-0405-4607-8809-0a0b0c0d0e0f}", "000102030405460788090A0B0C0D0E0F", str(fixed)]
print("same from every form:", all(uuid.UUID(form) == fixed for form in forms))
for bad in ("", "1234", "g" * 32):
    try:
        uuid.UUID(bad)
    except ValueError as error:
        print(repr(bad[:4]), error)
ordered = sorted(uuid.uuid5(fixed, str(n)) for n in range(5))
print(*ordered, sep="\n")
