//! `cargo xtask tidy`: what a reader may rely on in this tree, checked. It reads files and starts nothing.

mod arrows;
mod codes;
mod documents;
mod files;
mod report;

pub(crate) use report::Report;

use crate::tree::Tree;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Reads the whole tree and says what is out of order.
pub(crate) fn inspect(tree: &Tree) -> Result<Report> {
    let mut report = Report::default();
    files::check(tree, &mut report)?;
    arrows::check(tree, &mut report)?;
    codes::check(tree, &mut report)?;
    documents::check(tree, &mut report)?;
    Ok(report)
}

/// Writes again what follows from the code alone.
pub(crate) fn mend(root: &Path) -> Result<()> {
    fs::write(root.join(codes::INDEX), codes::index())
        .with_context(|| format!("cannot write {}", codes::INDEX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_tree_is_tidy() {
        let report = inspect(&Tree::read(&crate::workspace_root().unwrap()).unwrap()).unwrap();
        assert!(report.is_clean(), "\n{report}");
    }
}
