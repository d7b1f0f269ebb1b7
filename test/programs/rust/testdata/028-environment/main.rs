//! Settings from the environment: defaults, parsing, expansion.
use std::collections::BTreeMap;
use std::env;
use std::str::FromStr;

fn setting<T: FromStr>(name: &str, default: T) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    match env::var(name) {
        Ok(text) => text.parse().map_err(|e| format!("{name}={text}: {e}")),
        Err(env::VarError::NotPresent) => Ok(default),
        Err(e) => Err(format!("{name}: {e}")),
    }
}

fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, tail) = after.split_once('}').unwrap_or((after, ""));
        let (name, default) = name.split_once(":-").unwrap_or((name, ""));
        out += before;
        out += &env::var(name).unwrap_or_else(|_| default.to_string());
        rest = tail;
    }
    out + rest
}

fn main() {
    println!("{:?}", setting("APP_WORKERS", 4u8));
    println!("{:?}", setting("APP_RATIO", 0.25f32));
    println!("{:?}", setting("APP_BIG", 0u8));
    println!("{:?}", setting("APP_VERBOSE", false));
    println!("{:?}", setting("APP_NAME", String::from("nameless")));
    println!(
        "{}",
        expand("${APP_NAME} has ${APP_WORKERS} workers, ${APP_MODE:-no mode}, ${APP_EMPTY}!")
    );
    let ours: BTreeMap<String, String> = env::vars().filter(|(k, _)| k.starts_with("APP_")).collect();
    for (k, v) in &ours {
        println!("{k} = {v:?} ({} chars)", v.chars().count());
    }
    let paths = env::join_paths(["/a", "/b c", "/你好"]).unwrap();
    println!("{:?}", env::split_paths(&paths).collect::<Vec<_>>());
    println!("{:?} {:?}", env::var("TZ"), env::var("USER").is_ok());
    println!("compile time: {:?}", option_env!("APP_NAME_AT_COMPILE_TIME"));
}
