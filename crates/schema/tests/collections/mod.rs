//! The large public collections, which stand beside the checkout and are no part of it.

use std::path::{Path, PathBuf};

/// The folder of the collections: `../shared/corpus` beside the checkout, or under the folder that `CALLGATE_SHARED`
/// names. Where it is missing, one line says that the test is skipped; with `CI` set to `true` that is a failure.
#[expect(clippy::disallowed_methods, reason = "where the collections are is the machine's matter")]
pub(crate) fn corpus() -> Option<PathBuf> {
    let shared = std::env::var_os("CALLGATE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        |folder| PathBuf::from(&folder),
    );
    let corpus = shared.join("corpus");
    if corpus.is_dir() {
        return Some(corpus);
    }
    let required = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!required, "{} is missing", corpus.display());
    // A list of tests is read by programs.
    if !std::env::args().any(|argument| argument == "--list") {
        println!("skipped: {} is missing", corpus.display());
    }
    None
}
