//! Turing machines from rule tables: increment, palindromes, busy beavers.
use std::collections::{HashMap, VecDeque};

struct Machine<'a> {
    rules: HashMap<(&'a str, char), (char, char, &'a str)>,
}

impl<'a> Machine<'a> {
    /// Rules are "state read write move next", separated by semicolons.
    fn parse(text: &'a str) -> Self {
        let rules = text.split(';').map(str::split_whitespace).filter_map(|mut f| {
            let state = f.next()?;
            let mut symbol = || f.next().and_then(|s| s.chars().next());
            let (read, write, step) = (symbol()?, symbol()?, symbol()?);
            Some(((state, read), (write, step, f.next()?)))
        });
        Machine {
            rules: rules.collect(),
        }
    }

    fn run(&self, input: &str, limit: usize) -> (String, usize, &'a str) {
        let mut tape: VecDeque<char> = input.chars().collect();
        let (mut head, mut state, mut steps) = (0usize, "start", 0);
        if tape.is_empty() {
            tape.push_back('_');
        }
        while steps < limit {
            let Some(&(write, step, next)) = self.rules.get(&(state, tape[head])) else {
                break;
            };
            tape[head] = write;
            match step {
                'L' if head == 0 => tape.push_front('_'),
                'L' => head -= 1,
                'R' => {
                    head += 1;
                    if head == tape.len() {
                        tape.push_back('_');
                    }
                }
                _ => {}
            }
            state = next;
            steps += 1;
        }
        (
            tape.iter().collect::<String>().trim_matches('_').to_string(),
            steps,
            state,
        )
    }
}

fn main() {
    let increment = Machine::parse(
        "start 0 0 R start; start 1 1 R start; start _ _ L carry; carry 1 0 L carry; carry 0 1 S done; carry _ 1 S done",
    );
    for n in ["0", "1011", "1111"] {
        println!("{n} + 1 = {:?}", increment.run(n, 100));
    }
    let palindrome = Machine::parse(
        "start a _ R hasa; start b _ R hasb; start _ _ S yes; hasa a a R hasa; hasa b b R hasa; hasa _ _ L checka; \
         hasb a a R hasb; hasb b b R hasb; hasb _ _ L checkb; checka a _ L back; checka _ _ S yes; checkb b _ L back; \
         checkb _ _ S yes; checka b b S no; checkb a a S no; back a a L back; back b b L back; back _ _ R start",
    );
    for w in ["abba", "aba", "ab", "", "abbabba", "aabab"] {
        let (_, steps, verdict) = palindrome.run(w, 1000);
        println!("{w:?}: {verdict} after {steps} steps");
    }
    for (name, rules) in [
        (
            "two states",
            "start _ 1 R b; start 1 1 L b; b _ 1 L start; b 1 1 R halt",
        ),
        (
            "three states",
            "start _ 1 R b; start 1 1 R halt; b _ _ R c; b 1 1 R b; c _ 1 L c; c 1 1 L start",
        ),
        (
            "four states",
            "start _ 1 R b; start 1 1 L b; b _ 1 L start; b 1 _ L c; c _ 1 R halt; c 1 1 L d; d _ 1 R d; d 1 _ R start",
        ),
        ("never", "start _ 🦀 R start"),
    ] {
        let (tape, steps, state) = Machine::parse(rules).run("", 150);
        println!(
            "busy beaver, {name}: {} marks, {steps} steps, {state}",
            tape.chars().filter(|c| *c != '_').count()
        );
    }
}
