"""A matrix class over exact fractions: product, determinant, inverse, linear systems."""
from fractions import Fraction


class Matrix:
    def __init__(self, rows):
        self.rows = [[Fraction(x) for x in row] for row in rows]

    @classmethod
    def identity(cls, n):
        return cls([[int(i == j) for j in range(n)] for i in range(n)])

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

    def __pow__(self, n):
        result, base = Matrix.identity(len(self.rows)), self
        while n:
            if n & 1:
                result = result @ base
            base, n = base @ base, n >> 1
        return result

    def __eq__(self, other):
        return self.rows == other.rows

    def __str__(self):
        cells = [[str(x) for x in row] for row in self.rows]
        width = max(len(cell) for row in cells for cell in row)
        return "\n".join(" ".join(cell.rjust(width) for cell in row) for row in cells)

    def reduce(self, right):
        """Gauss-Jordan elimination; returns the determinant and right transformed alike."""
        a, b, determinant = [r[:] for r in self.rows], [r[:] for r in right.rows], Fraction(1)
        for i in range(len(a)):
            pivot = next((r for r in range(i, len(a)) if a[r][i]), None)
            if pivot is None:
                return Fraction(0), None
            if pivot != i:
                a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
                determinant = -determinant
            factor = a[i][i]
            determinant *= factor
            a[i], b[i] = [x / factor for x in a[i]], [x / factor for x in b[i]]
            for r in range(len(a)):
                if r != i:
                    k = a[r][i]
                    a[r] = [x - k * y for x, y in zip(a[r], a[i])]
                    b[r] = [x - k * y for x, y in zip(b[r], b[i])]
        return determinant, Matrix(b)


m = Matrix([[2, -1, 0], [-1, 2, -1], [0, -1, 2]])
determinant, inverse = m.reduce(Matrix.identity(3))
print("determinant:", determinant)
print(inverse)
print("inverse is right:", m @ inverse == Matrix.identity(3))
print("solution of Mx=(1,2,3):", *m.reduce(Matrix([[1], [2], [3]]))[1].rows)
hilbert = Matrix([[Fraction(1, i + j + 1) for j in range(6)] for i in range(6)])
print("Hilbert 6:", hilbert.reduce(Matrix.identity(6))[0])
print("singular:", Matrix([[1, 2], [2, 4]]).reduce(Matrix.identity(2))[0])
print("Fibonacci(200):", (Matrix([[1, 1], [1, 0]]) ** 200).rows[0][1])
