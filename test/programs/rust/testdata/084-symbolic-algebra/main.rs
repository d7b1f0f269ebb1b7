//! Parses expressions, differentiates and simplifies them.
use Expr::*;
use std::fmt;

#[derive(Clone, PartialEq, Debug)]
enum Expr {
    Num(i64),
    Var,
    Add(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
    Pow(Box<Expr>, u32),
    Call(&'static str, Box<Expr>),
}

fn add(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Num(0), e) | (e, Num(0)) => e,
        (Num(a), Num(b)) => Num(a + b),
        (a, b) if a == b => mul(Num(2), a),
        (a, b) => Add(a.into(), b.into()),
    }
}

fn mul(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Num(0), _) | (_, Num(0)) => Num(0),
        (Num(1), e) | (e, Num(1)) => e,
        (Num(a), Num(b)) => Num(a * b),
        (Num(a), Mul(b, c)) if matches!(*b, Num(_)) => mul(mul(Num(a), *b), *c),
        (a, Num(b)) => mul(Num(b), a),
        (a, b) if a == b => pow(a, 2),
        (a, b) => Mul(a.into(), b.into()),
    }
}

fn pow(base: Expr, n: u32) -> Expr {
    match (base, n) {
        (_, 0) => Num(1),
        (e, 1) => e,
        (Num(b), n) => Num(b.pow(n)),
        (e, n) => Pow(e.into(), n),
    }
}

impl Expr {
    fn derivative(&self) -> Expr {
        match self {
            Num(_) => Num(0),
            Var => Num(1),
            Add(a, b) => add(a.derivative(), b.derivative()),
            Mul(a, b) => add(
                mul(a.derivative(), (**b).clone()),
                mul((**a).clone(), b.derivative()),
            ),
            Pow(a, n) => mul(mul(Num(*n as i64), pow((**a).clone(), n - 1)), a.derivative()),
            Call("sin", a) => mul(Call("cos", a.clone()), a.derivative()),
            Call("cos", a) => mul(mul(Num(-1), Call("sin", a.clone())), a.derivative()),
            Call(f, a) => mul(Call(f, a.clone()), a.derivative()),
        }
    }

    fn eval(&self, x: f64) -> f64 {
        match self {
            Num(n) => *n as f64,
            Var => x,
            Add(a, b) => a.eval(x) + b.eval(x),
            Mul(a, b) => a.eval(x) * b.eval(x),
            Pow(a, n) => a.eval(x).powi(*n as i32),
            Call("sin", a) => a.eval(x).sin(),
            Call("cos", a) => a.eval(x).cos(),
            Call(_, a) => a.eval(x).exp(),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Num(n) => write!(f, "{n}"),
            Var => write!(f, "x"),
            Add(a, b) => write!(f, "({a} + {b})"),
            Mul(a, b) => write!(f, "{a}·{b}"),
            Pow(a, n) => write!(f, "{a}^{n}"),
            Call(name, a) => write!(f, "{name}({a})"),
        }
    }
}

struct Parser<'a>(&'a str);

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn sum(&mut self) -> Result<Expr, String> {
        let mut e = self.product()?;
        loop {
            if self.eat("+") {
                e = add(e, self.product()?);
            } else if self.eat("-") {
                e = add(e, mul(Num(-1), self.product()?));
            } else {
                return Ok(e);
            }
        }
    }

    fn product(&mut self) -> Result<Expr, String> {
        let mut e = self.power()?;
        while self.eat("*") {
            e = mul(e, self.power()?);
        }
        Ok(e)
    }

    fn power(&mut self) -> Result<Expr, String> {
        let base = self.atom()?;
        if !self.eat("^") {
            return Ok(base);
        }
        match self.atom()? {
            Num(n) if n >= 0 => Ok(pow(base, n as u32)),
            e => Err(format!("the exponent {e} is not a number")),
        }
    }

    fn atom(&mut self) -> Result<Expr, String> {
        for name in ["sin", "cos", "exp"] {
            if self.eat(name) {
                return Ok(Call(name, self.atom()?.into()));
            }
        }
        if self.eat("x") {
            return Ok(Var);
        }
        if self.eat("(") {
            let e = self.sum()?;
            return if self.eat(")") {
                Ok(e)
            } else {
                Err("missing )".into())
            };
        }
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits
            .parse()
            .map(Num)
            .map_err(|_| format!("unexpected {rest:?}"))
    }
}

fn main() {
    for text in [
        "x^3 + 2*x - 7",
        "(x + 1)*(x - 1)",
        "sin(x^2)",
        "exp(3*x)*cos(x)",
        "(2*x+1)^5",
        "x*x*x",
        "5 - 5",
        "x^x",
        "(x",
        "2 * é",
    ] {
        match Parser(text).sum() {
            Ok(e) => {
                let d = e.derivative();
                let numeric = (e.eval(1.0 + 1e-6) - e.eval(1.0 - 1e-6)) / 2e-6;
                println!(
                    "{text:<18} {e}  ⟶  {d}   at 1: {:.3} {}",
                    d.eval(1.0),
                    (numeric - d.eval(1.0)).abs() < 1e-3
                );
            }
            Err(e) => println!("{text:<18} error: {e}"),
        }
    }
}
