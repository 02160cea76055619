//! The files of the workspace, as the checks see them: paths relative to its root, and their text.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The files below the workspace's root, without what is built or fetched.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    /// Relative paths with `/` between their parts, in order.
    files: Vec<String>,
}

impl Tree {
    /// Lists the files below `root`.
    pub(crate) fn read(root: &Path) -> Result<Tree> {
        let mut files = Vec::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let place = root.join(&folder);
            for entry in fs::read_dir(&place).with_context(|| format!("cannot list {}", place.display()))? {
                let entry = entry?;
                let name = entry.file_name();
                let path = folder.join(&name);
                if entry.file_type()?.is_dir() {
                    // What is built, fetched or belongs to other tools is nobody's text.
                    let foreign =
                        matches!(name.to_str(), Some("target" | ".git" | "node_modules" | "__pycache__"));
                    if !foreign {
                        open.push(path);
                    }
                } else if let Some(path) = path.to_str() {
                    files.push(path.to_owned());
                }
            }
        }
        files.sort();
        Ok(Tree { root: root.to_path_buf(), files })
    }

    /// The paths that start with `prefix` and end with `suffix`.
    pub(crate) fn list<'a>(&'a self, prefix: &'a str, suffix: &'a str) -> impl Iterator<Item = &'a str> {
        self.files
            .iter()
            .map(String::as_str)
            .filter(move |path| path.starts_with(prefix) && path.ends_with(suffix))
    }

    /// Whether there is a file of that path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok()
    }

    /// The text of a file. Bytes that are no UTF-8 are replaced: the checks look for ASCII.
    pub(crate) fn text(&self, path: &str) -> Result<String> {
        let bytes = fs::read(self.root.join(path)).with_context(|| format!("cannot read {path}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
