//! From text to forms.
use crate::value::Value;
use std::iter::Peekable;
use std::rc::Rc;

pub fn forms(text: &str) -> Vec<Result<Value, String>> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('\'', " ' ");
    let mut tokens = spaced.split_whitespace().peekable();
    let mut out = Vec::new();
    while tokens.peek().is_some() {
        out.push(form(&mut tokens));
    }
    out
}

fn form<'a>(tokens: &mut Peekable<impl Iterator<Item = &'a str>>) -> Result<Value, String> {
    match tokens.next().ok_or("unexpected end")? {
        "'" => Ok(Value::List(Rc::new(vec![
            Value::Symbol("quote".into()),
            form(tokens)?,
        ]))),
        "(" => {
            let mut items = Vec::new();
            while tokens.next_if_eq(&")").is_none() {
                items.push(form(tokens)?);
            }
            Ok(Value::List(Rc::new(items)))
        }
        ")" => Err("unexpected )".into()),
        "#t" => Ok(Value::Bool(true)),
        "#f" => Ok(Value::Bool(false)),
        word => Ok(word
            .parse()
            .map(Value::Int)
            .unwrap_or_else(|_| Value::Symbol(word.into()))),
    }
}
