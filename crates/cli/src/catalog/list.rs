//! The pins, as a table.

use std::fmt::Write as _;

use callgate_gateway::journal::PinRecord;
use comfy_table::{Cell, Color};

use crate::render::escape::one_line;
use crate::render::record::{beginning, short_time};
use crate::render::table::table;

/// A table.
pub(super) fn text(pins: &[PinRecord]) -> String {
    if pins.is_empty() {
        return "No tool is pinned yet: that happens when a gate lists it first.\n".to_owned();
    }
    let mut table = table(["upstream", "tool", "definition", "pinned (UTC)", "by", "state"]);
    for PinRecord { upstream, pin } in pins {
        let state = match &pin.held {
            Some(held) => Cell::new(format!("changed {}", short_time(held.at))).fg(Color::Yellow),
            None => Cell::new("good"),
        };
        table.add_row([
            Cell::new(one_line(upstream)),
            Cell::new(one_line(&pin.tool)),
            Cell::new(beginning(&pin.digest.to_string())),
            Cell::new(short_time(pin.pinned_at)),
            Cell::new(pin.accepted_by.as_deref().map_or_else(|| "first seen".to_owned(), one_line)),
            state,
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    let held = pins.iter().filter(|record| record.pin.held.is_some()).count();
    if held > 0 {
        let tools = if held == 1 { "tool is" } else { "tools are" };
        let _ = writeln!(
            text,
            "\n{held} {tools} held until somebody accepts the change: `callgate catalog diff` shows it."
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use callgate_gateway::journal::{Held, Pin};
    use callgate_schema::json::Digest;
    use callgate_wire::Timestamp;

    use callgate_server::records::catalog::list as json;

    use super::*;

    #[test]
    fn the_table_fits_and_marks_what_is_held() {
        let digest = |byte: &str| byte.repeat(32).parse::<Digest>().unwrap();
        let held =
            Held { digest: digest("d1"), definition: Box::default(), at: Timestamp(1_764_100_000_000) };
        let pin = |tool: &str, by: Option<&str>, held| PinRecord {
            upstream: "notes".to_owned(),
            pin: Pin {
                tool: tool.to_owned(),
                digest: digest("c0"),
                definition: Box::default(),
                pinned_at: Timestamp(1_764_000_000_005),
                accepted_by: by.map(str::to_owned),
                held,
            },
        };
        let pins = [pin("read_note", None, Some(held)), pin("wr\u{1b}ite", Some("operator:ada"), None)];
        insta::assert_snapshot!(anstream::adapter::strip_str(&text(&pins)).to_string(), @r#"
        upstream  tool         definition    pinned (UTC)    by            state
        ──────────────────────────────────────────────────────────────────────────────────────────
        notes     read_note    c0c0c0c0c0c0  11-24 16:00:00  first seen    changed 11-25 19:46:40
        notes     wr\u001bite  c0c0c0c0c0c0  11-24 16:00:00  operator:ada  good

        1 tool is held until somebody accepts the change: `callgate catalog diff` shows it.
        "#);
        insta::assert_snapshot!(json(&pins), @r#"
        [
        {"upstream":"notes","tool":"read_note","digest":"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0","pinned_time":"2025-11-24T16:00:00.005Z","accepted_by":null,"held_digest":"d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1","held_time":"2025-11-25T19:46:40.000Z"},
        {"upstream":"notes","tool":"wr\u001bite","digest":"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0","pinned_time":"2025-11-24T16:00:00.005Z","accepted_by":"operator:ada","held_digest":null,"held_time":null}
        ]
        "#);
        assert_eq!(json(&[]), "[]\n");
    }
}
