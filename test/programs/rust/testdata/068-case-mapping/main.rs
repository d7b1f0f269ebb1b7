//! Case mapping of whole blocks, with the letters that change their length.
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let blocks = [
        ("Latin", 0xc0, 0x17f),
        ("Greek", 0x386, 0x3ce),
        ("Cyrillic", 0x400, 0x45f),
        ("Armenian", 0x531, 0x587),
        ("Kana", 0x3041, 0x30ff),
        ("Han", 0x4e00, 0x55ff),
    ];
    for (name, from, to) in blocks {
        let chars: Vec<char> = (from..=to)
            .filter_map(char::from_u32)
            .filter(|c| c.is_alphabetic())
            .collect();
        writeln!(
            out,
            "{name}: {} letters, {} upper, {} lower",
            chars.len(),
            chars.iter().filter(|c| c.is_uppercase()).count(),
            chars.iter().filter(|c| c.is_lowercase()).count()
        )?;
        for line in chars.chunks(48) {
            let text: String = line.iter().collect();
            writeln!(out, "  {text}")?;
            let upper = text.to_uppercase();
            if upper != text {
                writeln!(out, "  {upper}")?;
            }
        }
        for c in &chars {
            let upper: String = c.to_uppercase().collect();
            if upper.chars().count() > 1 {
                writeln!(
                    out,
                    "  {c} becomes {upper}, {} bytes instead of {}",
                    upper.len(),
                    c.len_utf8()
                )?;
            }
        }
    }
    writeln!(out, "{}", "héllo 你好 🦀 straße ŉ".to_uppercase())?;
    out.flush()
}
