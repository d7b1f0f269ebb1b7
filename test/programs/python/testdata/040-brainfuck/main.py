"""A Brainfuck interpreter with a jump table; its program comes in as standard input."""
import sys


def jumps(code):
    stack, table = [], {}
    for position, command in enumerate(code):
        if command == "[":
            stack.append(position)
        elif command == "]":
            if not stack:
                raise SyntaxError(f"] without [ at {position}")
            start = stack.pop()
            table[start], table[position] = position, start
    if stack:
        raise SyntaxError(f"[ without ] at {stack[-1]}")
    return table


def run(code, data=b""):
    code = [c for c in code if c in "+-<>.,[]"]
    table, tape, output, incoming = jumps(code), bytearray(300), bytearray(), iter(data)
    pointer = position = steps = 0
    while position < len(code):
        command = code[position]
        if command == ">":
            pointer += 1
        elif command == "<":
            pointer -= 1
        elif command == "+":
            tape[pointer] = (tape[pointer] + 1) & 255
        elif command == "-":
            tape[pointer] = (tape[pointer] - 1) & 255
        elif command == ".":
            output.append(tape[pointer])
        elif command == ",":
            tape[pointer] = next(incoming, 0)
        elif (command == "[") == (tape[pointer] == 0):
            position = table[position]
        position += 1
        steps += 1
    return bytes(output), steps


output, steps = run(sys.stdin.read())
print(output.decode(), f"({steps} steps)")
print(run(",[.,]", "écho 🦀".encode())[0].decode())
print(run(">,[>,]<[.<]", b"desserts")[0].decode())
for broken in ("[[]", "+]"):
    try:
        run(broken)
    except SyntaxError as error:
        print(error)
