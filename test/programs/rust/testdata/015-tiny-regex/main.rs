//! A backtracking matcher for a small regular-expression language.

#[derive(Debug, Clone)]
enum Node {
    Char(char),
    Any,
    Class(Vec<(char, char)>, bool),
    Start,
    End,
    Repeat(Box<Node>, usize, usize),
}

fn compile(pattern: &str) -> Result<Vec<Node>, String> {
    let mut out: Vec<Node> = Vec::new();
    let mut it = pattern.chars().peekable();
    while let Some(c) = it.next() {
        let node = match c {
            '.' => Node::Any,
            '^' => Node::Start,
            '$' => Node::End,
            '\\' => match it.next().ok_or("trailing backslash")? {
                'd' => Node::Class(vec![('0', '9')], false),
                'w' => Node::Class(vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')], false),
                's' => Node::Class(vec![(' ', ' '), ('\t', '\n')], false),
                other => Node::Char(other),
            },
            '[' => {
                let negated = it.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                loop {
                    let lo = it.next().ok_or("unclosed [")?;
                    if lo == ']' {
                        break;
                    }
                    let hi = if it.next_if_eq(&'-').is_some() {
                        it.next().ok_or("unclosed [")?
                    } else {
                        lo
                    };
                    ranges.push((lo, hi));
                }
                Node::Class(ranges, negated)
            }
            '*' | '+' | '?' => {
                let inner = out.pop().ok_or(format!("nothing before {c}"))?;
                let (min, max) = match c {
                    '*' => (0, usize::MAX),
                    '+' => (1, usize::MAX),
                    _ => (0, 1),
                };
                Node::Repeat(Box::new(inner), min, max)
            }
            c => Node::Char(c),
        };
        out.push(node);
    }
    Ok(out)
}

fn one(node: &Node, c: char) -> bool {
    match node {
        Node::Char(x) => *x == c,
        Node::Any => true,
        Node::Class(ranges, negated) => ranges.iter().any(|&(lo, hi)| lo <= c && c <= hi) != *negated,
        _ => false,
    }
}

fn match_at(nodes: &[Node], text: &[char], at: usize) -> Option<usize> {
    let Some(first) = nodes.first() else {
        return Some(at);
    };
    match first {
        Node::Start => (at == 0).then(|| match_at(&nodes[1..], text, at)).flatten(),
        Node::End => (at == text.len())
            .then(|| match_at(&nodes[1..], text, at))
            .flatten(),
        Node::Repeat(inner, min, max) => {
            let most = text[at..]
                .iter()
                .take(*max)
                .take_while(|&&c| one(inner, c))
                .count();
            (*min..=most)
                .rev()
                .find_map(|n| match_at(&nodes[1..], text, at + n))
        }
        node => text
            .get(at)
            .filter(|&&c| one(node, c))
            .and_then(|_| match_at(&nodes[1..], text, at + 1)),
    }
}

fn find(pattern: &str, text: &str) -> Result<Option<String>, String> {
    let nodes = compile(pattern)?;
    let chars: Vec<char> = text.chars().collect();
    Ok((0..=chars.len()).find_map(|i| match_at(&nodes, &chars, i).map(|end| chars[i..end].iter().collect())))
}

fn main() {
    for (pattern, text) in [
        ("b+a*", "xxbbbaaay"),
        ("^h.llo", "héllo 你好"),
        ("[^ ]+$", "héllo 你好 🦀"),
        (r"\d+\.\d\d?", "price: 12.50 or 3.1"),
        ("colou?r", "the color"),
        ("^abc$", "abcd"),
        ("[a-f0-9]+-[你-好]*", "id deadbeef-好你!"),
        (r"\w+@\w+\.com", "mail me@host.com now"),
        ("*x", ""),
        ("[ab", ""),
        ("q*", "zzz"),
    ] {
        println!("{pattern:<20} {text:<24} {:?}", find(pattern, text));
    }
}
