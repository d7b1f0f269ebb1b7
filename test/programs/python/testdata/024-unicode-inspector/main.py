"""Code points, names, categories, normal forms and encodings of `héllo 你好 🦀`."""
import unicodedata

text = "héllo 你好 🦀"
print(text, len(text), "code points", len(text.encode()), "bytes")
for character in text:
    name = unicodedata.name(character)
    print(f"U+{ord(character):05X} {unicodedata.category(character)} {name} {character.encode().hex(' ')}")

decomposed = unicodedata.normalize("NFD", text)
print("NFD has", len(decomposed), "code points; equal:", decomposed == text)
print("back by NFC:", unicodedata.normalize("NFC", decomposed) == text)
print("without accents:", "".join(c for c in decomposed if not unicodedata.combining(c)))
print("reversed:", text[::-1])
print("upper:", text.upper(), "ß".upper(), "casefold:", "Straße".casefold() == "STRASSE".casefold())
for encoding in ("utf-8", "utf-16-le", "utf-32-be"):
    data = text.encode(encoding)
    print(f"{encoding:10} {len(data):3} bytes, back: {data.decode(encoding) == text}")
print("latin-1 with a substitute:", text.encode("latin-1", "replace"))
print("ascii with escapes:", text.encode("ascii", "backslashreplace").decode())
print("broken bytes repaired:", b"h\xc3\xa9l\xffo \xe4\xbd".decode("utf-8", "replace"))
print("digits of other scripts:", [int(d) for d in ("٣", "४", "７")], "½ =", unicodedata.numeric("½"))
print("ﬁ ① ℌ by NFKC:", unicodedata.normalize("NFKC", "ﬁ ① ℌ"))
