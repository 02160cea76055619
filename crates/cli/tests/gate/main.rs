//! The gate behind its command line, row by row.

fn main() {}
