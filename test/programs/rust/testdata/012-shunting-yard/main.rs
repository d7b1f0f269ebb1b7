//! Infix to postfix and evaluation, one expression a line on standard input.
use std::fmt;
use std::io::{self, BufRead};

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Op(char),
    Open,
    Close,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Token::Number(n) => write!(f, "{n}"),
            Token::Op('n') => write!(f, "neg"),
            Token::Op(c) => write!(f, "{c}"),
            Token::Open => write!(f, "("),
            Token::Close => write!(f, ")"),
        }
    }
}

fn tokenize(s: &str) -> Result<Vec<Token>, String> {
    let mut out: Vec<Token> = Vec::new();
    let mut rest = s.trim_start();
    while let Some(c) = rest.chars().next() {
        let mut used = c.len_utf8();
        let operand_next = !matches!(out.last(), Some(Token::Number(_) | Token::Close));
        out.push(match c {
            '0'..='9' | '.' => {
                used = rest
                    .find(|c: char| !c.is_ascii_digit() && c != '.')
                    .unwrap_or(rest.len());
                Token::Number(
                    rest[..used]
                        .parse()
                        .map_err(|e| format!("{}: {e}", &rest[..used]))?,
                )
            }
            '-' if operand_next => Token::Op('n'),
            '+' | '-' | '*' | '/' | '^' | '%' => Token::Op(c),
            '(' => Token::Open,
            ')' => Token::Close,
            _ => return Err(format!("unexpected {c:?}")),
        });
        rest = rest[used..].trim_start();
    }
    Ok(out)
}

fn precedence(op: char) -> (u8, bool) {
    match op {
        '+' | '-' => (1, true),
        '*' | '/' | '%' => (2, true),
        'n' => (3, false),
        _ => (4, false),
    }
}

fn to_postfix(tokens: &[Token]) -> Result<Vec<Token>, String> {
    let (mut out, mut stack) = (Vec::new(), Vec::new());
    for t in tokens {
        match t {
            Token::Number(_) => out.push(t.clone()),
            Token::Open => stack.push(t.clone()),
            Token::Close => loop {
                match stack.pop() {
                    Some(Token::Open) => break,
                    Some(op) => out.push(op),
                    None => return Err("unmatched )".into()),
                }
            },
            Token::Op(op) => {
                let (mine, left) = precedence(*op);
                while let Some(Token::Op(top)) = stack.last() {
                    let theirs = precedence(*top).0;
                    if *op == 'n' || theirs < mine || theirs == mine && !left {
                        break;
                    }
                    out.extend(stack.pop());
                }
                stack.push(t.clone());
            }
        }
    }
    while let Some(t) = stack.pop() {
        if t == Token::Open {
            return Err("unmatched (".into());
        }
        out.push(t);
    }
    Ok(out)
}

fn evaluate(postfix: &[Token]) -> Result<f64, String> {
    let mut stack: Vec<f64> = Vec::new();
    for t in postfix {
        match t {
            Token::Number(n) => stack.push(*n),
            Token::Op('n') => {
                let v = stack.pop().ok_or("missing operand")?;
                stack.push(-v);
            }
            Token::Op(op) => {
                let (b, a) = (
                    stack.pop().ok_or("missing operand")?,
                    stack.pop().ok_or("missing operand")?,
                );
                stack.push(match op {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' | '%' if b == 0.0 => return Err("division by zero".into()),
                    '/' => a / b,
                    '%' => a % b,
                    _ => a.powf(b),
                });
            }
            _ => unreachable!(),
        }
    }
    stack.pop().ok_or_else(|| "empty".into())
}

fn main() {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let postfix = tokenize(&line).and_then(|t| to_postfix(&t));
        match postfix.and_then(|p| evaluate(&p).map(|v| (p, v))) {
            Ok((p, v)) => println!(
                "{line} = {v}   [{}]",
                p.iter().map(Token::to_string).collect::<Vec<_>>().join(" ")
            ),
            Err(e) => println!("{line} -> error: {e}"),
        }
    }
}
