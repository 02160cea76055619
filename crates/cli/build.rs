//! Puts the pages of `docs/errors` into the program, so that `callgate explain` and the reports of `check` need no files.
#![expect(clippy::disallowed_methods, reason = "a build script reads files")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../docs/errors");
    println_cargo(&format!("rerun-if-changed={}", folder.display()))?;
    let mut pages: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let is_index = path.file_stem().is_some_and(|stem| stem == "README");
        if path.extension().is_some_and(|extension| extension == "md") && !is_index {
            pages.push(path);
        }
    }
    // By name and not by file: `-` comes before the dot, but not before the end of a name.
    pages.sort_by_key(|page| page.file_stem().map(std::ffi::OsStr::to_owned));
    let mut table = String::from("pub(crate) static PAGES: &[(&str, &str)] = &[\n");
    for page in &pages {
        let code = page.file_stem().unwrap_or_default().to_string_lossy();
        let path = page.canonicalize()?.to_string_lossy().into_owned();
        writeln!(table, "    ({code:?}, include_str!({path:?})),")?;
    }
    table.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("pages.rs"), table)?;
    Ok(())
}

/// An instruction to Cargo.
fn println_cargo(instruction: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "cargo::{instruction}")
}
