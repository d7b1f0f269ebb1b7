//! A TOML-like configuration read from standard input.
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    List(Vec<Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(s) => write!(f, "text {s:?}"),
            Value::Int(n) => write!(f, "int {n}"),
            Value::Float(x) => write!(f, "float {x}"),
            Value::Bool(b) => write!(f, "bool {b}"),
            Value::List(v) => write!(f, "list of {}: {v:?}", v.len()),
        }
    }
}

fn value(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        return inner
            .split(',')
            .filter(|p| !p.trim().is_empty())
            .map(value)
            .collect::<Result<_, _>>()
            .map(Value::List);
    }
    if let Some(inner) = text.strip_prefix('"') {
        return inner
            .strip_suffix('"')
            .map(|s| Value::Text(s.to_string()))
            .ok_or_else(|| format!("open text {text}"));
    }
    if let Ok(b) = text.parse() {
        return Ok(Value::Bool(b));
    }
    let plain = text.replace('_', "");
    if let Some(hex) = plain.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16)
            .map(Value::Int)
            .map_err(|e| format!("{text}: {e}"));
    }
    plain
        .parse()
        .map(Value::Int)
        .or_else(|_| plain.parse().map(Value::Float))
        .map_err(|_| format!("{text:?} is no value"))
}

fn parse(text: &str) -> (BTreeMap<String, Value>, Vec<String>) {
    let (mut out, mut problems, mut section) = (BTreeMap::new(), Vec::new(), String::new());
    for (n, line) in text.lines().enumerate() {
        let line = line.split_once(" #").map_or(line, |(code, _)| code).trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = format!("{name}.");
            continue;
        }
        let parsed = line
            .split_once('=')
            .ok_or_else(|| "no =".to_string())
            .and_then(|(k, v)| value(v).map(|v| (k.trim(), v)));
        match parsed {
            Ok((key, v)) => {
                if let Some(old) = out.insert(format!("{section}{key}"), v) {
                    problems.push(format!("line {}: {key} was {old} before", n + 1));
                }
            }
            Err(e) => problems.push(format!("line {}: {e}", n + 1)),
        }
    }
    (out, problems)
}

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let (config, problems) = parse(&text);
    for (key, v) in &config {
        println!("{key:<16} {v}");
    }
    problems.iter().for_each(|p| println!("! {p}"));
    let port = config.get("server.port").and_then(|v| {
        if let Value::Int(n) = v {
            u16::try_from(*n).ok()
        } else {
            None
        }
    });
    println!("port {port:?}");
    Ok(())
}
