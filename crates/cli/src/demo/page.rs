//! What the demo prints: plain words, two tables, in colour only on a terminal.

use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, Color};

use super::Played;
use crate::render;

/// The page's width. Terminals are wider as a rule, but a table is not easier to read for it.
const WIDTH: u16 = 100;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();

/// What is about to happen.
pub(super) fn opening(store: &Path) {
    heading("A gate before a tool server");
    anstream::println!(
        "A client calls a small notes server (a real MCP server over stdio). Between the two stands the gate,\n\
         started as anyone would start it, with a store of its own that is gone at the end:\n"
    );
    anstream::println!("    callgate wrap --store {} -- callgate notes-server\n", store.display());
}

/// The table of the calls.
pub(super) fn calls(played: &[Played]) {
    heading("What was sent, and what became of it");
    let mut table = render::table::table(["sent", "about", "decided at", "outcome", "time"]);
    table.set_width(WIDTH);
    if let Some(column) = table.column_mut(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for played in played {
        let Played { play, outcome, taken } = played;
        let as_expected = *outcome == play.expected;
        let colour = match outcome {
            _ if !as_expected => Color::Red,
            _ if outcome.ran() => Color::Green,
            _ => Color::Yellow,
        };
        let mut words = vec![outcome.to_string()];
        words.extend(outcome.reason().map(str::to_owned));
        if !as_expected {
            words.push(format!("EXPECTED {}, at {}", play.expected, play.expected.stage()));
        }
        table.add_row([
            Cell::new(play.shown()),
            Cell::new(play.about),
            Cell::new(outcome.stage()),
            Cell::new(words.join("\n")).fg(colour),
            Cell::new(time(*taken)),
        ]);
    }
    anstream::println!("{table}\n");
    anstream::println!(
        "What was refused never reached the server. What ran had its intent on the disk before a byte was sent.\n"
    );
}

/// The table that `callgate intents list` has written.
pub(super) fn intents(table: &str) {
    heading("The record: callgate intents list");
    anstream::println!("{}\n", table.trim_end());
}

/// Something in the store that should not be so.
pub(super) fn fault(fault: &str) {
    anstream::println!("{}\n", styled(RED, fault));
}

/// How to go on.
pub(super) fn closing(program: &Path) {
    let program = program.display();
    heading("Before your own server");
    anstream::println!("Put the gate before the command that starts it:\n");
    anstream::println!("    {program} wrap -- npx -y @modelcontextprotocol/server-everything\n");
    anstream::println!("In the configuration of an MCP client:\n");
    anstream::println!(
        r#"    {{
      "mcpServers": {{
        "everything": {{
          "command": "{program}",
          "args": ["wrap", "--", "npx", "-y", "@modelcontextprotocol/server-everything"]
        }}
      }}
    }}
"#
    );
    anstream::println!("What ran is then in your own store: {program} intents list");
}

fn heading(text: &str) {
    anstream::println!("{}\n", styled(BOLD, text));
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

fn time(taken: Duration) -> String {
    format!("{:.1} ms", taken.as_secs_f64() * 1000.0)
}
