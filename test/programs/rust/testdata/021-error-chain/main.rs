//! Error enums, conversions for the question mark, and a chain of sources.
use std::error::Error;
use std::fmt;
use std::num::{ParseFloatError, ParseIntError};

#[derive(Debug)]
enum ConfigError {
    Missing(&'static str),
    Port(ParseIntError),
    Ratio { text: String, source: ParseFloatError },
    Range(f64),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Missing(key) => write!(f, "{key} is missing"),
            ConfigError::Port(_) => write!(f, "the port is not a number"),
            ConfigError::Ratio { text, .. } => write!(f, "the ratio {text:?} is not a number"),
            ConfigError::Range(r) => write!(f, "the ratio {r} is not between 0 and 1"),
        }
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ConfigError::Port(e) => Some(e),
            ConfigError::Ratio { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<ParseIntError> for ConfigError {
    fn from(e: ParseIntError) -> Self {
        ConfigError::Port(e)
    }
}

#[derive(Debug, PartialEq)]
struct Config {
    port: u16,
    ratio: f64,
}

fn parse(text: &str) -> Result<Config, ConfigError> {
    let get = |key: &'static str| {
        text.split(';')
            .filter_map(|p| p.split_once('='))
            .find(|(k, _)| *k == key)
            .map(|(_, v)| v)
            .ok_or(ConfigError::Missing(key))
    };
    let port = get("port")?.parse()?;
    let text = get("ratio")?;
    let ratio = text.parse().map_err(|source| ConfigError::Ratio {
        text: text.to_string(),
        source,
    })?;
    if !(0.0..=1.0).contains(&ratio) {
        return Err(ConfigError::Range(ratio));
    }
    Ok(Config { port, ratio })
}

fn load(text: &str) -> Result<Config, Box<dyn Error>> {
    if text.is_empty() {
        return Err("the configuration is empty".into());
    }
    Ok(parse(text)?)
}

fn main() {
    for text in [
        "port=8080;ratio=0.5",
        "ratio=1",
        "port=99999;ratio=1",
        "port=x",
        "port=1;ratio=½",
        "port=1;ratio=1.5",
        "",
    ] {
        match load(text) {
            Ok(c) => println!("{c:?}"),
            Err(e) => {
                let mut chain = vec![e.to_string()];
                let mut source = e.source();
                while let Some(s) = source {
                    chain.push(s.to_string());
                    source = s.source();
                }
                println!(
                    "{} [{}]",
                    chain.join(": "),
                    e.downcast_ref::<ConfigError>().is_some()
                );
            }
        }
    }
    let all: Result<Vec<i32>, _> = "1 2 three 4".split(' ').map(str::parse::<i32>).collect();
    println!("{all:?}");
    let (good, bad): (Vec<_>, Vec<_>) = "1 2 three 4"
        .split(' ')
        .map(str::parse::<i32>)
        .partition(Result::is_ok);
    println!("{} good, {} bad", good.len(), bad.len());
}
