//! Tables that fit the terminal.

use comfy_table::{ContentArrangement, Table, presets};

/// A table with a header and no lines but the one under it, as wide as the terminal at most.
pub(crate) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    table
}
