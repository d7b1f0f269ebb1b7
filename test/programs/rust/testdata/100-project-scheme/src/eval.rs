//! The evaluator and its environments.
use crate::value::{Builtin, Lambda, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub struct Env {
    vars: RefCell<HashMap<Rc<str>, Value>>,
    outer: Option<Rc<Env>>,
}

impl Env {
    pub fn global() -> Rc<Env> {
        let builtins: [(&str, Builtin); 8] = [
            ("+", |a| Ok(Value::Int(ints(a)?.iter().sum()))),
            ("*", |a| Ok(Value::Int(ints(a)?.iter().product()))),
            ("-", |a| {
                Ok(Value::Int(ints(a)?.into_iter().reduce(|x, y| x - y).unwrap_or(0)))
            }),
            ("<", |a| Ok(Value::Bool(ints(a)?.windows(2).all(|w| w[0] < w[1])))),
            ("car", |a| {
                list(a, 0)?
                    .first()
                    .cloned()
                    .ok_or_else(|| "car of an empty list".to_string())
            }),
            ("cdr", |a| {
                Ok(Value::List(Rc::new(
                    list(a, 0)?.iter().skip(1).cloned().collect(),
                )))
            }),
            ("cons", |a| {
                Ok(Value::List(Rc::new(
                    a[..1].iter().chain(list(a, 1)?).cloned().collect(),
                )))
            }),
            ("null?", |a| Ok(Value::Bool(list(a, 0)?.is_empty()))),
        ];
        let vars = builtins
            .into_iter()
            .map(|(name, f)| (name.into(), Value::Builtin(f)))
            .collect();
        Rc::new(Env {
            vars: RefCell::new(vars),
            outer: None,
        })
    }

    fn get(&self, name: &str) -> Option<Value> {
        let found = self.vars.borrow().get(name).cloned();
        found.or_else(|| self.outer.as_ref()?.get(name))
    }
}

fn ints(args: &[Value]) -> Result<Vec<i64>, String> {
    args.iter()
        .map(|a| {
            if let Value::Int(n) = a {
                Ok(*n)
            } else {
                Err(format!("{a} is not a number"))
            }
        })
        .collect()
}

fn list(args: &[Value], i: usize) -> Result<&Vec<Value>, String> {
    match args.get(i) {
        Some(Value::List(items)) => Ok(items),
        other => Err(format!(
            "{} is not a list",
            other.map_or("nothing".into(), Value::to_string)
        )),
    }
}

fn symbol(v: &Value) -> Result<Rc<str>, String> {
    if let Value::Symbol(s) = v {
        Ok(s.clone())
    } else {
        Err(format!("{v} is not a name"))
    }
}

fn lambda(params: &[Value], body: &Value, env: &Rc<Env>) -> Result<Value, String> {
    let params = params.iter().map(symbol).collect::<Result<_, _>>()?;
    Ok(Value::Lambda(Rc::new(Lambda {
        params,
        body: body.clone(),
        env: env.clone(),
    })))
}

pub fn eval(form: &Value, env: &Rc<Env>) -> Result<Value, String> {
    let items = match form {
        Value::Symbol(s) => return env.get(s).ok_or_else(|| format!("{s} is not defined")),
        Value::List(items) => items,
        other => return Ok(other.clone()),
    };
    let head = items.first().map(Value::to_string).unwrap_or_default();
    match (head.as_str(), &items[..]) {
        ("quote", [_, v]) => Ok(v.clone()),
        ("if", [_, test, yes, no]) => match eval(test, env)? {
            Value::Bool(false) => eval(no, env),
            _ => eval(yes, env),
        },
        ("lambda", [_, Value::List(params), body]) => lambda(params, body, env),
        ("define", [_, target, body]) => {
            let (name, value) = match target {
                Value::List(sig) => (symbol(&sig[0])?, lambda(&sig[1..], body, env)?),
                name => (symbol(name)?, eval(body, env)?),
            };
            env.vars.borrow_mut().insert(name.clone(), value);
            Ok(Value::Symbol(name))
        }
        _ => {
            let f = eval(items.first().ok_or("an empty form")?, env)?;
            let args = items[1..]
                .iter()
                .map(|a| eval(a, env))
                .collect::<Result<Vec<_>, _>>()?;
            apply(&f, args)
        }
    }
}

fn apply(f: &Value, args: Vec<Value>) -> Result<Value, String> {
    match f {
        Value::Builtin(f) => f(&args),
        Value::Lambda(l) if l.params.len() == args.len() => {
            let vars = l.params.iter().cloned().zip(args).collect();
            eval(
                &l.body,
                &Rc::new(Env {
                    vars: RefCell::new(vars),
                    outer: Some(l.env.clone()),
                }),
            )
        }
        other => Err(format!("{other} cannot be called with {} arguments", args.len())),
    }
}
