//! A hand-written parser for options, flags and positional arguments.
use std::env;
use std::process;

#[derive(Debug, Default)]
struct Options {
    verbose: u8,
    output: Option<String>,
    jobs: Option<usize>,
    defines: Vec<(String, String)>,
    files: Vec<String>,
}

fn parse(args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut opts = Options::default();
    let mut args = args;
    while let Some(arg) = args.next() {
        let (name, inline) = match arg.split_once('=') {
            Some((n, v)) if n.starts_with("--") => (n.to_string(), Some(v.to_string())),
            _ => (arg.clone(), None),
        };
        let mut value = || {
            inline
                .clone()
                .or_else(|| args.next())
                .ok_or(format!("{name} needs a value"))
        };
        match name.as_str() {
            "--" => {
                opts.files.extend(args);
                break;
            }
            "-o" | "--output" => opts.output = Some(value()?),
            "-j" | "--jobs" => opts.jobs = Some(value()?.parse().map_err(|e| format!("{name}: {e}"))?),
            "-D" | "--define" => {
                let v = value()?;
                let (k, v) = v.split_once('=').unwrap_or((&v, "1"));
                opts.defines.push((k.into(), v.into()));
            }
            n if n.starts_with("-v") && n[1..].chars().all(|c| c == 'v') => {
                opts.verbose += (n.len() - 1) as u8
            }
            n if n.starts_with('-') && n.len() > 1 => return Err(format!("unknown option {n}")),
            _ => opts.files.push(arg),
        }
    }
    Ok(opts)
}

fn main() {
    println!("{:#?}", parse(env::args().skip(1)));
    for line in ["-j four", "--output", "--bogus", "a - b", "-v --jobs=3 -Dx", ""] {
        println!("{line:?}: {:?}", parse(line.split_whitespace().map(String::from)));
    }
    if let Err(e) = parse(["-j", "-1"].into_iter().map(String::from)) {
        println!("usage error: {e}");
        process::exit(64);
    }
}
