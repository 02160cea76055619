//! The revisions of the protocol that are spoken here, one file each. All of them begin with `initialize`, and in all
//! of them a caller learns of invalid arguments by a result with `isError`, so that the model can mend them: the older
//! ones leave the place open, and every peer does it so.
//!
//! To add a revision: a file with its row, and its name in [`ALL`].

#[path = "2024-11-05.rs"]
mod r2024_11_05;
#[path = "2025-03-26.rs"]
mod r2025_03_26;
#[path = "2025-06-18.rs"]
mod r2025_06_18;
#[path = "2025-11-25.rs"]
mod r2025_11_25;

/// One revision, by what the gate takes from it and what it does not.
#[derive(Debug, PartialEq, Eq)]
pub struct Revision {
    /// Its name on the wire.
    pub date: &'static str,
    /// Whether it is spoken over HTTP, too. The transport of the first one was another than that of all later ones.
    pub over_http: bool,
    /// What it allows and the gate refuses, to be said aloud when it is agreed on.
    pub refused: &'static [&'static str],
}

/// The revision without `initialize`: each request says for itself what is needed to answer it.
pub const MODERN: &str = "2026-07-28";

/// Every revision with `initialize` that is spoken here, the newest first.
pub const ALL: &[&Revision] =
    &[&r2025_11_25::REVISION, &r2025_06_18::REVISION, &r2025_03_26::REVISION, &r2024_11_05::REVISION];

/// The revision with this name, if it is spoken here.
pub fn find(date: &str) -> Option<&'static Revision> {
    ALL.iter().copied().find(|revision| revision.date == date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_is_found_by_its_name_and_the_newest_comes_first() {
        for (i, revision) in ALL.iter().enumerate() {
            assert_eq!(find(revision.date), Some(*revision));
            assert!(ALL.get(i + 1).is_none_or(|older| older.date < revision.date));
        }
        assert_eq!(find("2026-07-28"), None, "a stateless revision does not begin with `initialize`");
    }
}
