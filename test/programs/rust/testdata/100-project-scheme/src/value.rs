//! What expressions evaluate to.
use crate::eval::Env;
use std::fmt;
use std::rc::Rc;

pub type Builtin = fn(&[Value]) -> Result<Value, String>;

#[derive(Clone)]
pub enum Value {
    Int(i64),
    Bool(bool),
    Symbol(Rc<str>),
    List(Rc<Vec<Value>>),
    Builtin(Builtin),
    Lambda(Rc<Lambda>),
}

pub struct Lambda {
    pub params: Vec<Rc<str>>,
    pub body: Value,
    pub env: Rc<Env>,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(n) => write!(f, "{n}"),
            Value::Bool(b) => write!(f, "{}", if *b { "#t" } else { "#f" }),
            Value::Symbol(s) => write!(f, "{s}"),
            Value::List(items) => {
                let parts: Vec<String> = items.iter().map(Value::to_string).collect();
                write!(f, "({})", parts.join(" "))
            }
            Value::Builtin(_) => write!(f, "#<builtin>"),
            Value::Lambda(l) => write!(f, "#<lambda/{}>", l.params.len()),
        }
    }
}
