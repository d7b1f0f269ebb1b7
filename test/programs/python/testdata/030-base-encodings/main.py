"""base64 and its relatives, hexadecimal, percent encoding, quoted-printable, punycode."""
import base64
import binascii
import quopri
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

DATA = "héllo 你好 🦀".encode()
for name in ("b16", "b32", "b64", "urlsafe_b64", "a85", "b85"):
    encoded = getattr(base64, name + "encode")(DATA)
    decoded = getattr(base64, name + "decode")(encoded)
    print(f"{name:12} {encoded.decode():56} {decoded == DATA}")

for text in ("", "f", "fo", "foo", "foob"):
    print(repr(text), base64.b64encode(text.encode()).decode())
try:
    base64.b64decode("abc", validate=True)
except binascii.Error as error:
    print("broken base64:", type(error).__name__)

print("percent:", quote(DATA), unquote(quote(DATA)))
print("query:", urlencode({"q": "a b&c", "ü": "ß"}), parse_qs("a=1&a=2&b=%20"))
parts = urlsplit("https://user@example.org:8443/päth/file.txt?x=1#top")
print("url:", parts.scheme, parts.hostname, parts.port, parts.path, parts.query, parts.fragment)
print("quoted printable:", quopri.encodestring("Größe = 5".encode()).decode())
print("punycode:", "bücher.example".encode("idna").decode(), b"xn--bcher-kva".decode("idna"))


def base58(data):
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = alphabet[digit] + text
    return text


print("base58:", base58(DATA))
