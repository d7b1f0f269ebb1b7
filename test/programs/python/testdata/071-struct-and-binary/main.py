"""Binary formats: packed records, a bitmap written and read, memory views, bit fields."""
import array
import struct
from pathlib import Path

RECORD = struct.Struct("<H8sfq")


def bitmap(width, height, pixel):
    row_size = (width * 3 + 3) // 4 * 4
    body = bytearray()
    for y in reversed(range(height)):
        row = b"".join(bytes(reversed(pixel(x, y))) for x in range(width))
        body += row.ljust(row_size, b"\0")
    head = struct.pack("<2sIHHI", b"BM", 54 + len(body), 0, 0, 54)
    return head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(body), 2835, 2835, 0, 0) + bytes(body)


packed = RECORD.pack(513, "héllo".encode(), 1.5, -2)
print(RECORD.size, packed.hex(" "))
number, name, ratio, offset = RECORD.unpack(packed)
print(number, name.rstrip(b"\0").decode(), ratio, offset)
print("big endian:", struct.pack(">IhB", 0xCAFEBABE, -1, 255).hex(), struct.unpack(">d", struct.pack(">d", 0.1))[0])

path = Path("gradient.bmp")
path.write_bytes(bitmap(17, 9, lambda x, y: (x * 15, y * 28, 128)))
data = path.read_bytes()
size, start, width, height = struct.unpack_from("<2xI4xI4xii", data)
print("bitmap:", size == len(data), start, width, height, "checksum", sum(data) % 65521)

view = memoryview(bytearray(b"0123456789"))
view[2:5] = b"abc"
print(bytes(view), bytes(view[::3]), view[-1])
numbers = array.array("i", range(5))
numbers.byteswap()
print(list(numbers), numbers.itemsize)
flags = 0b1011_0010
print([bit for bit in range(8) if flags >> bit & 1], f"{flags:08b}", f"{flags & 0xF0:#x}", bin(flags).count("1"))
print(int.from_bytes(b"\xff\xfe", "big", signed=True), (1000).to_bytes(2, "little").hex(), bytes.fromhex("de ad be ef"))
try:
    RECORD.unpack(b"short")
except struct.error as error:
    print("error:", error)
