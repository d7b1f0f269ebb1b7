//! Fibonacci numbers by powers of a matrix, and what the type system makes of it.
use std::ops::Mul;

#[derive(Clone, Copy)]
struct Matrix([[u128; 2]; 2]);

impl Mul for Matrix {
    type Output = Matrix;
    fn mul(self, other: Matrix) -> Matrix {
        let mut out = [[0; 2]; 2];
        for (i, row) in out.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell = (0..2).map(|k| self.0[i][k] * other.0[k][j]).sum();
            }
        }
        Matrix(out)
    }
}

fn power(base: Matrix, n: u32) -> Matrix {
    match n {
        0 => Matrix([[1, 0], [0, 1]]),
        n if n % 2 == 0 => power(base * base, n / 2),
        n => base * power(base, n - 1),
    }
}

fn main() {
    let fibonacci = Matrix([[1, 1], [1, 0]]);
    for n in [10, 50, 100, 180] {
        println!("fibonacci({n}) = {}", power(fibonacci, n).0[0][1]);
    }
}
