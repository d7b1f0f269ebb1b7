"""What arrives as arguments, code point by code point."""
import sys

print(len(sys.argv) - 1, "arguments")
for number, argument in enumerate(sys.argv[1:], 1):
    print(f"{number}: [{argument}] length {len(argument)}, utf-8 {argument.encode().hex()}")
wide = [a for a in sys.argv if any(ord(c) > 0xFFFF for c in a)]
print("outside the basic plane:", wide)
print("encoding of arguments:", sys.getfilesystemencoding(), "of output:", sys.stdout.encoding)
