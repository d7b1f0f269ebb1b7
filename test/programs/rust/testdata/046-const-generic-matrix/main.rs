//! Matrices whose sizes are part of their types.
use std::fmt::{self, Display};
use std::ops::{Add, Index, IndexMut, Mul};

#[derive(Clone, Copy, PartialEq, Debug)]
struct Matrix<const R: usize, const C: usize>([[i64; C]; R]);

impl<const R: usize, const C: usize> Matrix<R, C> {
    fn from_fn(f: impl Fn(usize, usize) -> i64) -> Self {
        Matrix(std::array::from_fn(|r| std::array::from_fn(|c| f(r, c))))
    }

    fn transpose(&self) -> Matrix<C, R> {
        Matrix::from_fn(|r, c| self[(c, r)])
    }
}

impl<const N: usize> Matrix<N, N> {
    fn identity() -> Self {
        Self::from_fn(|r, c| (r == c) as i64)
    }

    fn pow(self, e: u32) -> Self {
        match e {
            0 => Self::identity(),
            e if e % 2 == 0 => (self * self).pow(e / 2),
            e => self * self.pow(e - 1),
        }
    }

    /// Bareiss's elimination, which stays within the integers.
    fn determinant(mut self) -> i64 {
        let (mut sign, mut previous) = (1, 1);
        for k in 0..N.saturating_sub(1) {
            let Some(p) = (k..N).find(|&r| self[(r, k)] != 0) else {
                return 0;
            };
            if p != k {
                self.0.swap(p, k);
                sign = -sign;
            }
            for i in k + 1..N {
                for j in k + 1..N {
                    self[(i, j)] = (self[(i, j)] * self[(k, k)] - self[(i, k)] * self[(k, j)]) / previous;
                }
            }
            previous = self[(k, k)];
        }
        sign * self[(N - 1, N - 1)]
    }
}

impl<const R: usize, const C: usize> Index<(usize, usize)> for Matrix<R, C> {
    type Output = i64;
    fn index(&self, (r, c): (usize, usize)) -> &i64 {
        &self.0[r][c]
    }
}

impl<const R: usize, const C: usize> IndexMut<(usize, usize)> for Matrix<R, C> {
    fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut i64 {
        &mut self.0[r][c]
    }
}

impl<const R: usize, const K: usize, const C: usize> Mul<Matrix<K, C>> for Matrix<R, K> {
    type Output = Matrix<R, C>;
    fn mul(self, o: Matrix<K, C>) -> Matrix<R, C> {
        Matrix::from_fn(|r, c| (0..K).map(|k| self[(r, k)] * o[(k, c)]).sum())
    }
}

impl<const R: usize, const C: usize> Add for Matrix<R, C> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Matrix::from_fn(|r, c| self[(r, c)] + o[(r, c)])
    }
}

impl<const R: usize, const C: usize> Display for Matrix<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|row| writeln!(f, "{row:3?}"))
    }
}

fn main() {
    let a = Matrix([[1, 2, 3], [4, 5, 6]]);
    print!("{}{}{}", a, a.transpose(), a * a.transpose());
    print!("{}", a + Matrix::from_fn(|r, c| (r * 10 + c) as i64));
    println!("{}", Matrix([[1, 1], [1, 0]]).pow(60)[(0, 1)]);
    let v = Matrix::<5, 5>::from_fn(|r, c| (r as i64 + 1).pow(c as u32));
    println!("Vandermonde determinant {}", v.determinant());
    println!(
        "{} {}",
        Matrix([[0, 2], [3, 4]]).determinant(),
        Matrix([[1, 2], [2, 4]]).determinant()
    );
    println!("{}", Matrix::<3, 3>::identity().pow(9) == Matrix::identity());
}
