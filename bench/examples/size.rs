//! Writes `reports/size`: how many bytes ownership takes, by format, pattern, topics and partitions.
//!
//! ```sh
//! cargo run --release -p tenure-bench --example size [FOLDER]
//! ```

use core::error::Error;
use std::fs;
use std::path::PathBuf;

use tenure_bench::size::{Row, csv, markdown, plot};

fn main() -> Result<(), Box<dyn Error>> {
    let committed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../reports/size");
    let folder = std::env::args_os().nth(1).map_or(committed, PathBuf::from);
    fs::create_dir_all(&folder)?;
    let rows: Vec<Row> = Row::all(u32::MAX).collect();
    fs::write(folder.join("raw.csv"), csv(rows.iter()))?;
    fs::write(folder.join("size.svg"), plot(&rows)?)?;
    fs::write(folder.join("README.md"), markdown(&rows))?;
    println!("{} rows in {}", rows.len(), folder.display());
    Ok(())
}
