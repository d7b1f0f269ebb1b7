"""Compiles expressions and loops to byte code and runs it on a stack machine."""
import ast
import operator

BINARY = {ast.Add: "ADD", ast.Sub: "SUB", ast.Mult: "MUL", ast.FloorDiv: "DIV", ast.Mod: "MOD"}
COMPARE = {ast.Lt: "LT", ast.Gt: "GT", ast.Eq: "EQ"}
OPERATION = {
    "ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul, "DIV": operator.floordiv,
    "MOD": operator.mod, "LT": operator.lt, "GT": operator.gt, "EQ": operator.eq,
}


class Compiler(ast.NodeVisitor):
    def __init__(self):
        self.code = []

    def emit(self, *instruction):
        self.code.append(list(instruction))
        return len(self.code) - 1

    def visit_Constant(self, node):
        self.emit("PUSH", node.value)

    def visit_Name(self, node):
        self.emit("LOAD", node.id)

    def visit_BinOp(self, node):
        self.visit(node.left)
        self.visit(node.right)
        self.emit(BINARY[type(node.op)])

    def visit_Compare(self, node):
        self.visit(node.left)
        self.visit(node.comparators[0])
        self.emit(COMPARE[type(node.ops[0])])

    def visit_Assign(self, node):
        self.visit(node.value)
        self.emit("STORE", node.targets[0].id)

    def visit_Expr(self, node):
        self.visit(node.value)
        self.emit("PRINT")

    def visit_While(self, node):
        start = len(self.code)
        self.visit(node.test)
        leave = self.emit("JUMP_IF_FALSE", None)
        for statement in node.body:
            self.visit(statement)
        self.emit("JUMP", start)
        self.code[leave][1] = len(self.code)


def run(code):
    stack, names, position, steps = [], {}, 0, 0
    while position < len(code):
        name, *argument = code[position]
        position, steps = position + 1, steps + 1
        if name in OPERATION:
            right, left = stack.pop(), stack.pop()
            stack.append(OPERATION[name](left, right))
        elif name == "PUSH":
            stack.append(argument[0])
        elif name == "LOAD":
            stack.append(names[argument[0]])
        elif name == "STORE":
            names[argument[0]] = stack.pop()
        elif name == "PRINT":
            print("output:", stack.pop())
        elif name == "JUMP" or not stack.pop():
            position = argument[0]
    return steps


compiler = Compiler()
compiler.visit(ast.parse("n = 1\ns = 0\nwhile n < 1000:\n    s = s + n * n % 7\n    n = n + 1\ns\n(s - 1) // 2"))
for number, instruction in enumerate(compiler.code):
    print(f"{number:3} {' '.join(map(str, instruction))}")
print(run(compiler.code), "steps")
