//! A small binary container: header, records, checksum, and its reader.
use std::fs;
use std::io::{self, Cursor, Read, Write};

#[derive(Debug, PartialEq, Clone)]
struct Sample {
    id: u32,
    name: String,
    values: Vec<f32>,
}

fn checksum(data: &[u8]) -> u16 {
    let (a, b) = data
        .iter()
        .fold((1u32, 0u32), |(a, b), &x| ((a + x as u32) % 251, (b + a) % 251));
    (b << 8 | a) as u16
}

fn encode(samples: &[Sample]) -> io::Result<Vec<u8>> {
    let mut out = b"SMPL".to_vec();
    out.write_all(&(samples.len() as u16).to_be_bytes())?;
    for s in samples {
        out.write_all(&s.id.to_le_bytes())?;
        out.write_all(&[s.name.len() as u8, s.values.len() as u8])?;
        out.write_all(s.name.as_bytes())?;
        for v in &s.values {
            out.write_all(&v.to_le_bytes())?;
        }
    }
    let sum = checksum(&out);
    out.write_all(&sum.to_be_bytes())?;
    Ok(out)
}

fn bytes<const N: usize>(r: &mut impl Read) -> Result<[u8; N], String> {
    let mut buf = [0; N];
    r.read_exact(&mut buf)
        .map_err(|e| format!("truncated: {:?}", e.kind()))?;
    Ok(buf)
}

fn decode(data: &[u8]) -> Result<Vec<Sample>, String> {
    let (body, sum) = data.split_at(data.len().saturating_sub(2));
    let mut r = Cursor::new(body);
    if bytes::<4>(&mut r)? != *b"SMPL" {
        return Err("not a sample file".into());
    }
    if checksum(body).to_be_bytes() != sum {
        return Err(format!("checksum {:02x?}, want {:04x}", sum, checksum(body)));
    }
    (0..u16::from_be_bytes(bytes(&mut r)?))
        .map(|_| {
            let id = u32::from_le_bytes(bytes(&mut r)?);
            let [name_len, values] = bytes(&mut r)?;
            let mut name = vec![0; name_len as usize];
            r.read_exact(&mut name).map_err(|e| e.to_string())?;
            let name = String::from_utf8(name).map_err(|e| e.to_string())?;
            let values = (0..values)
                .map(|_| bytes(&mut r).map(f32::from_le_bytes))
                .collect::<Result<_, _>>()?;
            Ok(Sample { id, name, values })
        })
        .collect()
}

fn main() -> io::Result<()> {
    let samples = vec![
        Sample {
            id: 1,
            name: "héllo".into(),
            values: vec![1.5, -0.25],
        },
        Sample {
            id: 0xdead_beef,
            name: "你好 🦀".into(),
            values: vec![],
        },
        Sample {
            id: 3,
            name: String::new(),
            values: vec![f32::INFINITY, f32::MIN_POSITIVE, -0.0],
        },
    ];
    fs::write("samples.bin", encode(&samples)?)?;
    let mut data = fs::read("samples.bin")?;
    println!("{} bytes", data.len());
    for line in data.chunks(16) {
        let hex: Vec<String> = line.iter().map(|b| format!("{b:02x}")).collect();
        let text: String = line
            .iter()
            .map(|&b| if b.is_ascii_graphic() { b as char } else { '.' })
            .collect();
        println!("{:<48}{text}", hex.join(" "));
    }
    let back = decode(&data).unwrap();
    println!("{back:?}\nsame: {}", back == samples);
    data[7] ^= 1;
    println!("{:?}", decode(&data));
    println!("{:?} {:?}", decode(b"PNG\x01xx"), decode(b""));
    Ok(())
}
