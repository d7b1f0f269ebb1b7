//! Compiles a tiny imperative language to bytecode and runs it.
use std::collections::HashMap;

#[derive(Debug, Clone, Copy)]
enum Op {
    Push(i64),
    Load(usize),
    Store(usize),
    Binary(char),
    JumpIfZero(usize),
    Jump(usize),
    Print,
}

struct Compiler<'a> {
    words: std::iter::Peekable<std::str::SplitWhitespace<'a>>,
    slots: HashMap<&'a str, usize>,
    code: Vec<Op>,
}

impl<'a> Compiler<'a> {
    fn slot(&mut self, name: &'a str) -> usize {
        let next = self.slots.len();
        *self.slots.entry(name).or_insert(next)
    }

    /// Expressions are written in prefix form, so no parentheses are needed.
    fn expression(&mut self) -> Result<(), String> {
        let word = self.words.next().ok_or("an expression is missing")?;
        if let Ok(n) = word.parse() {
            self.code.push(Op::Push(n));
        } else if word.len() == 1 && "+-*/%<=".contains(word) {
            self.expression()?;
            self.expression()?;
            self.code.push(Op::Binary(word.chars().next().unwrap()));
        } else if let Some(&slot) = self.slots.get(word) {
            self.code.push(Op::Load(slot));
        } else {
            return Err(format!("unknown name {word:?}"));
        }
        Ok(())
    }

    fn block(&mut self, top: bool) -> Result<(), String> {
        while let Some(word) = self.words.next() {
            match word {
                "let" => {
                    let name = self.words.next().ok_or("a name is missing")?;
                    self.expression()?;
                    let slot = self.slot(name);
                    self.code.push(Op::Store(slot));
                }
                "print" => {
                    self.expression()?;
                    self.code.push(Op::Print);
                }
                "while" | "if" => {
                    let start = self.code.len();
                    self.expression()?;
                    let exit = self.code.len();
                    self.code.push(Op::JumpIfZero(0));
                    self.block(false)?;
                    if word == "while" {
                        self.code.push(Op::Jump(start));
                    }
                    self.code[exit] = Op::JumpIfZero(self.code.len());
                }
                "end" if !top => return Ok(()),
                other => return Err(format!("unexpected {other:?}")),
            }
        }
        if top { Ok(()) } else { Err("end is missing".into()) }
    }
}

fn run(code: &[Op], slots: usize) -> Result<(Vec<i64>, usize), String> {
    let (mut stack, mut vars, mut out) = (Vec::new(), vec![0i64; slots], Vec::new());
    let (mut pc, mut steps) = (0, 0);
    while let Some(&op) = code.get(pc) {
        pc += 1;
        steps += 1;
        let mut pop = || stack.pop().expect("the compiler keeps the stack balanced");
        match op {
            Op::Push(n) => stack.push(n),
            Op::Load(s) => stack.push(vars[s]),
            Op::Store(s) => vars[s] = pop(),
            Op::Print => out.push(pop()),
            Op::Jump(to) => pc = to,
            Op::JumpIfZero(to) => {
                if pop() == 0 {
                    pc = to;
                }
            }
            Op::Binary(c) => {
                let (b, a) = (pop(), pop());
                let v = match c {
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    '/' => a.checked_div(b),
                    '%' => a.checked_rem(b),
                    '<' => Some((a < b) as i64),
                    _ => Some((a == b) as i64),
                };
                stack.push(v.ok_or(format!("{a} {c} {b} has no value"))?);
            }
        }
    }
    Ok((out, steps))
}

fn main() {
    for source in [
        "let a 1071 let b 462 while b let t % a b let a b let b t end print a",
        "let n 2 while < n 50 let d 2 let prime 1 while < * d d + n 1 if = % n d 0 let prime 0 end let d + d 1 end if prime print n end let n + n 1 end",
        "let ñ 20 let f 1 while ñ let f * f ñ let ñ - ñ 1 end print f",
        "let x 1 while 1 let x * x 1000 end",
        "print / 1 0",
        "print + 1 y",
        "if 1 print 2",
    ] {
        let mut c = Compiler {
            words: source.split_whitespace().peekable(),
            slots: HashMap::new(),
            code: Vec::new(),
        };
        match c.block(true).and_then(|()| run(&c.code, c.slots.len())) {
            Ok((out, steps)) => println!("{} ops, {steps} steps: {out:?}", c.code.len()),
            Err(e) => println!("error: {e}"),
        }
    }
}
