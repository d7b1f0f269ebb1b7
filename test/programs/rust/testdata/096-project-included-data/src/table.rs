//! Reads the semicolon-separated table.

#[derive(Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub legs: u32,
    pub sea: bool,
}

pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    text.lines()
        .enumerate()
        .skip(1)
        .map(|(n, line)| {
            let fields: Vec<&str> = line.split(';').collect();
            let [name, legs, sea] = fields[..] else {
                return Err(format!("line {}: {} fields", n + 1, fields.len()));
            };
            let legs = legs
                .parse()
                .map_err(|e| format!("line {}: {legs:?}: {e}", n + 1))?;
            Ok(Row {
                name: name.to_string(),
                legs,
                sea: sea == "yes",
            })
        })
        .collect()
}
