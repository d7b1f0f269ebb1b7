import functools
import operator


def 阶乘(n):
    return 1 if n < 2 else n * 阶乘(n - 1)


def 和(数列):
    return functools.reduce(operator.add, 数列)
