//! Creates, lists, renames and reads files with names from many scripts.
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn walk(dir: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, out)?;
        } else {
            out.push(path);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let root = Path::new("каталог");
    for (name, text) in [
        ("héllo.txt", "bonjour"),
        ("你好/世界.md", "中文\n"),
        ("🦀/ferris 🦞.rs", "fn main() {}"),
        ("with space/a'b\"c", ""),
        ("😀.tar.gz", "not really"),
    ] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap())?;
        fs::write(&path, text)?;
    }
    let mut files = Vec::new();
    walk(root, &mut files)?;
    files.sort();
    for f in &files {
        println!(
            "{} stem={:?} ext={:?} {} bytes",
            f.display(),
            f.file_stem().unwrap(),
            f.extension(),
            fs::metadata(f)?.len()
        );
    }
    fs::rename(root.join("你好/世界.md"), root.join("мир.md"))?;
    fs::remove_dir(root.join("你好"))?;
    println!("{:?}", fs::read_to_string(root.join("мир.md"))?);
    println!(
        "{:?}",
        fs::remove_dir(root.join("🦀")).map_err(|e| e.kind()).is_err()
    );
    println!("{:?}", fs::read(root.join("nichts")).unwrap_err().kind());
    let text = fs::read_to_string(&files[0])? + " 🦀";
    fs::write(&files[0], &text)?;
    println!(
        "{} {}",
        text,
        root.join("x").strip_prefix(root).unwrap().display()
    );
    fs::remove_dir_all(root)?;
    println!("gone: {}", !root.exists());
    Ok(())
}
