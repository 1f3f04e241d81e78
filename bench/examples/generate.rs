//! Writes a named group as a snapshot file.
//!
//! ```text
//! cargo run -p tenure-bench --example generate -- SHAPE EVENT [--small] [--seed N] > group.json
//! cargo run -p tenure-bench --example generate -- --committed datasets/workloads
//! ```

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use tenure_bench::workloads::{COMMITTED, Event, READABLE, SHAPES, Shape};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {error}");
            eprintln!("usage: generate SHAPE[+racks3|+racks5] EVENT [--small] [--seed N]");
            eprintln!("       generate --committed FOLDER");
            let names: Vec<&str> = SHAPES.iter().chain(READABLE).map(|shape| shape.name).collect();
            eprintln!("shapes: {}", names.join(", "));
            let names: Vec<&str> = Event::ALL.iter().map(|event| event.name()).collect();
            eprintln!("events: {}", names.join(", "));
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let (mut names, mut small, mut seed) = (Vec::new(), false, 429);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--small" => small = true,
            "--seed" => {
                let number = arguments.next().ok_or("--seed needs a number")?;
                seed = number.parse().map_err(|error| format!("--seed {number}: {error}"))?;
            }
            "--committed" => {
                let folder = arguments.next().ok_or("--committed needs a folder")?;
                return committed(Path::new(&folder)).map_err(|error| format!("{folder}: {error}"));
            }
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            _ => names.push(argument),
        }
    }
    let [shape, event] = &names[..] else { return Err("a shape and an event are needed".to_string()) };
    let mut shape = Shape::find(shape).ok_or_else(|| format!("no shape {shape:?}"))?;
    let event: Event = event.parse()?;
    if small {
        shape = shape.small();
    }
    let group = event.apply(&shape, &shape.fresh(seed).settled(), seed);
    let mut out = BufWriter::new(std::io::stdout().lock());
    group.write_snapshot(&mut out).and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// Writes the small groups that are kept in the repository.
fn committed(folder: &Path) -> std::io::Result<()> {
    for kept in COMMITTED {
        let mut out = BufWriter::new(File::create(folder.join(kept.file))?);
        kept.workload().write_snapshot(&mut out)?;
        out.flush()?;
    }
    Ok(())
}
