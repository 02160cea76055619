//! Tables that fit the terminal.

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};

/// The fewest columns that anything is fitted into.
const WIDTH_MIN: u16 = 40;
/// Columns that a table takes where standard output is no terminal.
const WIDTH: u16 = 100;

/// A table with a header and one line under it, as wide as the terminal at most.
pub(crate) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    if !table.is_tty() {
        table.set_width(columns());
    }
    table
}

/// The columns of standard output: those of the terminal, else what `COLUMNS` says.
pub(crate) fn terminal_width() -> usize {
    Table::new().width().unwrap_or_else(columns).into()
}

/// Columns where standard output is no terminal.
fn columns() -> u16 {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.filter(|columns| *columns >= WIDTH_MIN).unwrap_or(WIDTH)
}
