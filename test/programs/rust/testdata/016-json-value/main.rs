//! A JSON value type with a parser, accessors and two printers.
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

struct Parser<'a> {
    rest: &'a str,
}

type Parsed<T> = Result<T, String>;

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn fail<T>(&self, want: &str) -> Parsed<T> {
        Err(format!(
            "want {want} at {:?}",
            self.rest.chars().take(8).collect::<String>()
        ))
    }

    fn value(&mut self) -> Parsed<Json> {
        for (word, v) in [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
        ] {
            if self.eat(word) {
                return Ok(v);
            }
        }
        if self.eat("\"") {
            return self.text().map(Json::Text);
        }
        if self.eat("[") {
            let mut items = vec![];
            while !self.eat("]") {
                if !items.is_empty() && !self.eat(",") {
                    return self.fail(", or ]");
                }
                items.push(self.value()?);
            }
            return Ok(Json::List(items));
        }
        if self.eat("{") {
            let mut map = BTreeMap::new();
            while !self.eat("}") {
                if !map.is_empty() && !self.eat(",") || !self.eat("\"") {
                    return self.fail("a key");
                }
                let key = self.text()?;
                if !self.eat(":") {
                    return self.fail(":");
                }
                map.insert(key, self.value()?);
            }
            return Ok(Json::Object(map));
        }
        let end = self
            .rest
            .find(|c: char| !"+-.eE0123456789".contains(c))
            .unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        match number.parse() {
            Ok(n) => {
                self.rest = rest;
                Ok(Json::Number(n))
            }
            Err(_) => self.fail("a value"),
        }
    }

    fn text(&mut self) -> Parsed<String> {
        let mut out = String::new();
        let mut chars = self.rest.chars();
        loop {
            match chars.next().ok_or("unterminated text")? {
                '"' => break,
                '\\' => match chars.next().ok_or("unterminated escape")? {
                    'n' => out.push('\n'),
                    'u' => {
                        let hex: String = chars.by_ref().take(4).collect();
                        let code = u32::from_str_radix(&hex, 16).map_err(|e| e.to_string())?;
                        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    c => out.push(c),
                },
                c => out.push(c),
            }
        }
        self.rest = chars.as_str();
        Ok(out)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(b) => write!(f, "{b}"),
            Json::Number(n) => write!(f, "{n}"),
            Json::Text(s) => write!(f, "{s:?}"),
            Json::List(items) => {
                let parts: Vec<_> = items.iter().map(Json::to_string).collect();
                write!(f, "[{}]", parts.join(","))
            }
            Json::Object(map) => {
                let parts: Vec<_> = map.iter().map(|(k, v)| format!("{k:?}:{v}")).collect();
                write!(f, "{{{}}}", parts.join(","))
            }
        }
    }
}

impl Json {
    fn at(&self, path: &str) -> Option<&Json> {
        path.split('.').try_fold(self, |v, key| match v {
            Json::Object(m) => m.get(key),
            Json::List(l) => l.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }
}

fn main() {
    let text = r#" {"name": "h\u00e9llo 你好 🦀", "tags": ["a\n", "b\"c", []], "n": [1, -2.5, 3e3], "ok": true, "none": null, "deep": {"x": {"y": [10, 20]}}} "#;
    let v = Parser { rest: text }.value().unwrap();
    println!("{v}");
    println!("{:?} {:?} {:?}", v.at("deep.x.y.1"), v.at("name"), v.at("deep.z"));
    println!(
        "round trip: {}",
        Parser { rest: &v.to_string() }.value().as_ref() == Ok(&v)
    );
    println!("{:#?}", v.at("tags").unwrap());
    for bad in ["[1, 2", "{\"a\" 1}", "\"open", "[1 2]", "nope", "{,}"] {
        println!("{bad:<10} {:?}", Parser { rest: bad }.value());
    }
}
