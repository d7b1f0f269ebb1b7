"""Lambda calculus with let: parser, type inference (Hindley-Milner) and evaluator."""
import sys

from lam.evaluate import evaluate
from lam.infer import TypeFailure, infer, show
from lam.parser import parse

for line in sys.stdin:
    source = line.strip()
    if not source:
        continue
    try:
        tree = parse(source)
        kind = show(infer(tree))
        value = evaluate(tree, {})
        print(f"{source}  :  {kind}  =  {'<function>' if callable(value) else value}")
    except (SyntaxError, TypeFailure) as error:
        print(f"{source}  !  {error}")
