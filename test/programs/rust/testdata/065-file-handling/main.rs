//! Opens, appends, seeks, truncates, copies, renames and reads files.
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};

fn main() -> io::Result<()> {
    fs::create_dir("work")?;
    std::env::set_current_dir("work")?;
    let mut out = BufWriter::new(File::create("notes.txt")?);
    for n in 1..=200 {
        writeln!(out, "line {n:03} 你好")?;
    }
    out.flush()?;
    drop(out);

    let mut file = OpenOptions::new().read(true).write(true).open("notes.txt")?;
    let width = "line 000 你好\n".len() as u64;
    file.seek(SeekFrom::Start(width * 99))?;
    file.write_all(b"LINE")?;
    file.seek(SeekFrom::Current(-4))?;
    let mut record = vec![0; width as usize];
    file.read_exact(&mut record)?;
    println!(
        "{:?} at {}",
        String::from_utf8_lossy(&record),
        file.stream_position()?
    );
    file.set_len(width * 120)?;
    println!("short read: {:?}", {
        file.seek(SeekFrom::End(-5))?;
        file.read_exact(&mut record).map_err(|e| e.kind())
    });

    println!("copied {}", fs::copy("notes.txt", "copy.txt")?);
    writeln!(OpenOptions::new().append(true).open("copy.txt")?, "appended 🦀")?;
    let taken = OpenOptions::new().write(true).create_new(true).open("copy.txt");
    println!(
        "{:?}",
        taken
            .map_err(|e| e.kind() == ErrorKind::AlreadyExists)
            .unwrap_err()
    );
    fs::rename("copy.txt", "renamed.txt")?;
    symlink("renamed.txt", "link")?;
    fs::set_permissions("notes.txt", fs::Permissions::from_mode(0o440))?;
    println!(
        "{:o} {:?}",
        fs::metadata("notes.txt")?.permissions().mode() & 0o777,
        fs::read_link("link")?
    );

    let reader = BufReader::new(File::open("link")?);
    let (mut lines, mut upper, mut last) = (0, Vec::new(), String::new());
    for line in reader.lines() {
        let line = line?;
        lines += 1;
        if line.starts_with("LINE") {
            upper.push(lines);
        }
        last = line;
    }
    println!("{lines} lines, upper {upper:?}, last {last:?}");
    let mut names: Vec<String> = fs::read_dir(".")?
        .map(|e| e.map(|e| e.file_name().into_string().unwrap()))
        .collect::<Result<_, _>>()?;
    names.sort();
    println!("{names:?}");
    fs::remove_file("link")?;
    println!("{:?}", File::open("link").map_err(|e| e.kind()).unwrap_err());
    std::env::set_current_dir("..")?;
    println!("{}", fs::remove_dir("work").is_err());
    fs::remove_dir_all("work")
}
