//! A tiny XML reader: elements, attributes, entities, errors, an outline.

#[derive(Debug)]
enum Node {
    Element {
        name: String,
        attributes: Vec<(String, String)>,
        children: Vec<Node>,
    },
    Text(String),
}

struct Reader<'a> {
    rest: &'a str,
    total: usize,
}

fn unescape(s: &str) -> String {
    let mut out = String::new();
    let mut parts = s.split('&');
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let (entity, tail) = part.split_once(';').unwrap_or(("", part));
        let c = match entity {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            e => e
                .strip_prefix("#x")
                .and_then(|h| u32::from_str_radix(h, 16).ok())
                .and_then(char::from_u32),
        };
        out.push(c.unwrap_or('\u{fffd}'));
        out.push_str(tail);
    }
    out
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("{what} at byte {}", self.total - self.rest.len()))
    }

    fn until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(stop).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn element(&mut self) -> Result<Node, String> {
        let name = self.until(|c| c.is_whitespace() || "/>=".contains(c)).to_string();
        let mut attributes = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.eat("/>") {
                return Ok(Node::Element {
                    name,
                    attributes,
                    children: vec![],
                });
            }
            if self.eat(">") {
                break;
            }
            let key = self.until(|c| c == '=' || c == '>').trim().to_string();
            if !self.eat("=\"") {
                return self.fail("an attribute without a value");
            }
            let value = unescape(self.until(|c| c == '"'));
            self.eat("\"");
            attributes.push((key, value));
        }
        let children = self.nodes()?;
        if !self.eat("</") {
            return self.fail(&format!("<{name}> is not closed"));
        }
        let closing = self.until(|c| c == '>');
        if closing != name {
            return self.fail(&format!("<{name}> is closed by </{closing}>"));
        }
        self.eat(">");
        Ok(Node::Element {
            name,
            attributes,
            children,
        })
    }

    fn nodes(&mut self) -> Result<Vec<Node>, String> {
        let mut out = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with("</") {
            if self.eat("<!--") {
                let end = self.rest.find("-->").map_or(self.rest.len(), |i| i + 3);
                self.rest = &self.rest[end..];
            } else if self.eat("<") {
                out.push(self.element()?);
            } else {
                let text = unescape(self.until(|c| c == '<'));
                if !text.trim().is_empty() {
                    out.push(Node::Text(text.split_whitespace().collect::<Vec<_>>().join(" ")));
                }
            }
        }
        Ok(out)
    }
}

fn outline(nodes: &[Node], depth: usize) {
    for node in nodes {
        match node {
            Node::Text(t) => println!("{}{t:?}", "  ".repeat(depth)),
            Node::Element {
                name,
                attributes,
                children,
            } => {
                let attrs: String = attributes.iter().map(|(k, v)| format!(" {k}={v:?}")).collect();
                println!("{}{name}{attrs}", "  ".repeat(depth));
                outline(children, depth + 1);
            }
        }
    }
}

fn parse(text: &str) -> Result<Vec<Node>, String> {
    let mut r = Reader {
        rest: text,
        total: text.len(),
    };
    let nodes = r.nodes()?;
    if r.rest.is_empty() {
        Ok(nodes)
    } else {
        r.fail("something is left")
    }
}

fn main() {
    let doc = r#"<!-- menu --><menü lang="zh&amp;en"><dish price="12.50"><name>麻婆豆腐</name> hot &#x1F336; </dish>
      <dish price="&quot;ask&quot;" new="yes"><name>héllo &lt;crab&gt; 🦀</name><sold-out/></dish></menü>"#;
    match parse(doc) {
        Ok(nodes) => outline(&nodes, 0),
        Err(e) => println!("error: {e}"),
    }
    for bad in ["<a><b></a>", "<a", "<a x></a>", "<a>text", "</a>", "ok"] {
        println!(
            "{bad:<12} {}",
            parse(bad).map_or_else(|e| e, |n| format!("{n:?}"))
        );
    }
}
