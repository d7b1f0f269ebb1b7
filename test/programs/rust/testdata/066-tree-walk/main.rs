//! Builds a tree of folders, walks it and totals sizes.
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

#[derive(Default)]
struct Report {
    files: usize,
    folders: usize,
    by_extension: BTreeMap<String, (usize, u64)>,
    deepest: usize,
}

fn walk(dir: &Path, depth: usize, report: &mut Report) -> io::Result<u64> {
    let mut entries: Vec<_> = fs::read_dir(dir)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(|e| e.file_name());
    report.deepest = report.deepest.max(depth);
    let mut total = 0;
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            report.folders += 1;
            let size = walk(&path, depth + 1, report)?;
            println!(
                "{}{}/ {size}",
                "  ".repeat(depth),
                entry.file_name().to_string_lossy()
            );
            total += size;
        } else if kind.is_file() {
            let size = entry.metadata()?.len();
            report.files += 1;
            let ext = path
                .extension()
                .map_or("-".into(), |e| e.to_string_lossy().into_owned());
            let slot = report.by_extension.entry(ext).or_default();
            slot.0 += 1;
            slot.1 += size;
            total += size;
        }
    }
    Ok(total)
}

fn main() -> io::Result<()> {
    let root = Path::new("tree");
    for i in 0..60u32 {
        let dir = (0..i % 4).fold(root.to_path_buf(), |p, level| {
            p.join(format!("{}{}", ["été", "b", "你好"][level as usize], i % 3))
        });
        fs::create_dir_all(&dir)?;
        let name = format!("f{i:02}.{}", ["rs", "txt", "md", "🦀"][(i % 7 % 4) as usize]);
        fs::write(dir.join(name), vec![b'x'; (i * i % 997) as usize])?;
    }
    std::os::unix::fs::symlink("..", root.join("loop"))?;
    let mut report = Report::default();
    let total = walk(root, 0, &mut report)?;
    println!(
        "{} files in {} folders, {total} bytes, depth {}",
        report.files, report.folders, report.deepest
    );
    for (ext, (n, size)) in &report.by_extension {
        println!("{ext:<4} {n:3} files {size:6} bytes");
    }
    match walk(Path::new("nowhere"), 0, &mut report) {
        Err(e) => println!("{:?}", e.kind()),
        Ok(_) => println!("unexpected"),
    }
    Ok(())
}
