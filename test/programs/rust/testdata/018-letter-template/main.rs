//! A small template language: variables, filters, conditions and loops.
use std::collections::BTreeMap;

enum Value {
    Text(&'static str),
    List(Vec<BTreeMap<&'static str, Value>>),
}

type Scope = BTreeMap<&'static str, Value>;

fn filtered(text: &str, filter: &str) -> String {
    match filter.split_once(':').unwrap_or((filter, "")) {
        ("upper", _) => text.to_uppercase(),
        ("title", _) => {
            let mut chars = text.chars();
            chars
                .next()
                .map_or(String::new(), |c| c.to_uppercase().chain(chars).collect())
        }
        ("pad", n) => format!("{text:<width$}", width = n.parse().unwrap_or(0)),
        ("reverse", _) => text.chars().rev().collect(),
        _ => format!("{text}<unknown filter {filter}>"),
    }
}

/// Renders up to the closing tag of the block and returns what follows it.
fn render<'t>(mut rest: &'t str, scopes: &mut Vec<&Scope>, out: &mut String, active: bool) -> &'t str {
    while let Some((before, after)) = rest.split_once("{{") {
        let (tag, after) = after.split_once("}}").expect("an end of the tag");
        if active {
            out.push_str(before);
        }
        rest = after;
        let tag = tag.trim();
        let known = |name: &str| scopes.iter().any(|s| s.contains_key(name));
        if tag == "end" {
            return rest;
        } else if let Some(name) = tag.strip_prefix("if ") {
            rest = render(rest, scopes, out, active && known(name));
        } else if let Some(name) = tag.strip_prefix("each ") {
            let found = scopes.iter().rev().find_map(|s| s.get(name));
            let body = rest;
            rest = render(body, scopes, &mut String::new(), false);
            if let (true, Some(Value::List(items))) = (active, found) {
                for item in items {
                    scopes.push(item);
                    render(body, scopes, out, true);
                    scopes.pop();
                }
            }
        } else if active {
            let mut parts = tag.split('|').map(str::trim);
            let name = parts.next().unwrap_or("");
            match scopes.iter().rev().find_map(|s| s.get(name)) {
                Some(Value::Text(t)) => out.push_str(&parts.fold(t.to_string(), |t, f| filtered(&t, f))),
                _ => out.push_str(&format!("<no {name}>")),
            }
        }
    }
    if active {
        out.push_str(rest);
    }
    ""
}

fn main() {
    let row = |name, qty| BTreeMap::from([("name", Value::Text(name)), ("qty", Value::Text(qty))]);
    let scope = BTreeMap::from([
        ("who", Value::Text("émile")),
        ("sign", Value::Text("你好 🦀")),
        ("vip", Value::Text("yes")),
        (
            "items",
            Value::List(vec![row("lamp", "2"), row("çay", "40"), row("crab 🦀", "1")]),
        ),
    ]);
    let template = "Dear {{ who | title }},\n{{if vip}}You are special. {{end}}{{if debt}}You owe us {{debt}}. {{end}}You bought:\n\
        {{each items}}  * {{ name | pad:9 | upper }} x {{qty}} ({{who}})\n{{end}}Yours, {{ sign | reverse }} {{nobody}} {{who|shout}}\n";
    let mut out = String::new();
    render(template, &mut vec![&scope], &mut out, true);
    print!("{out}");
}
