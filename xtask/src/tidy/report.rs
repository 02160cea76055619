//! What the checks found, in the order in which they looked.

use std::fmt;

/// One thing out of order.
#[derive(Debug)]
struct Remark {
    file: String,
    line: Option<usize>,
    what: String,
    mend: String,
}

/// What the checks found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    faults: Vec<Remark>,
    warnings: Vec<Remark>,
}

impl Report {
    /// Something that must be mended.
    pub(crate) fn fault(&mut self, file: &str, what: impl Into<String>, mend: impl Into<String>) {
        self.faults.push(Remark { file: file.to_owned(), line: None, what: what.into(), mend: mend.into() });
    }

    /// Something on one line that must be mended.
    pub(crate) fn fault_at(
        &mut self,
        file: &str,
        line: usize,
        what: impl Into<String>,
        mend: impl Into<String>,
    ) {
        self.faults.push(Remark {
            file: file.to_owned(),
            line: Some(line),
            what: what.into(),
            mend: mend.into(),
        });
    }

    /// Something to think about.
    pub(crate) fn warning(&mut self, file: &str, what: impl Into<String>, mend: impl Into<String>) {
        self.warnings.push(Remark {
            file: file.to_owned(),
            line: None,
            what: what.into(),
            mend: mend.into(),
        });
    }

    /// Whether nothing must be mended.
    pub(crate) fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    /// How many things must be mended.
    pub(crate) fn faults(&self) -> usize {
        self.faults.len()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, remarks) in [("warning", &self.warnings), ("fault", &self.faults)] {
            for Remark { file, line, what, mend } in remarks {
                let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                writeln!(f, "{kind}: {file}{line}: {what}\n    mend: {mend}")?;
            }
        }
        writeln!(f, "tidy: {} faults, {} warnings", self.faults.len(), self.warnings.len())
    }
}
