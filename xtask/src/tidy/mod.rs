//! `cargo xtask tidy`: what a reader may rely on in this tree, checked. It reads files and starts nothing.

mod arrows;
mod codes;
mod documents;
mod files;
mod report;

pub(crate) use report::Report;

use crate::tree::Tree;
use anyhow::Result;

/// Reads the whole tree and says what is out of order.
pub(crate) fn inspect(tree: &Tree) -> Result<Report> {
    let mut report = Report::default();
    files::check(tree, &mut report)?;
    arrows::check(tree, &mut report)?;
    codes::check(tree, &mut report)?;
    documents::check(tree, &mut report)?;
    Ok(report)
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
