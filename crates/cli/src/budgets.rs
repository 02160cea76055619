//! `callgate budgets`: what stands on the counters of the budgets. Looks and changes nothing.

use callgate_gateway::journal::Counter;
use callgate_server::records::budgets::list as json;
use callgate_wire::Timestamp;
use comfy_table::{Cell, CellAlignment, Color};

use crate::ExitCode;
use crate::check::Format;
use crate::operator::reader;
use crate::render::escape::one_line;
use crate::render::output::{print, print_exact};
use crate::render::record::{distance, short_time};
use crate::render::table::table;
use crate::store_path::RecordsArg;

/// Show what is taken and reserved of the budgets.
///
/// A counter is there from its first charge on. What calls reserve whose outcome is not known stays reserved until
/// that is decided (callgate intents list --in-doubt).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  callgate budgets\n  callgate budgets --format json\n\n\
                        Exit codes: 0 they are shown, 2 there is no such store, 5 the store cannot be read.")]
pub(crate) struct Args {
    /// How to print them; for programs: an array of objects
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    store: RecordsArg,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let counters = reader(&args.store)?.counters()?;
    match args.format {
        Format::Text => print(&text(&counters, callgate_server::now()))?,
        Format::Json => print_exact(json(&counters).as_bytes())?,
    }
    Ok(ExitCode::Success)
}

fn text(counters: &[Counter], now: Timestamp) -> String {
    if counters.is_empty() {
        return "No call was charged to a budget yet.\n".to_owned();
    }
    let mut table = table(["budget", "scope", "since (UTC)", "taken", "reserved", "limit", "resets"]);
    for Counter { charge, committed, reserved } in counters {
        let used = committed.saturating_add(*reserved);
        let over = charge.resets_at.is_some_and(|at| at <= now);
        let number = |number: u64| Cell::new(number).set_alignment(CellAlignment::Right);
        let taken = number(*committed);
        table.add_row([
            Cell::new(one_line(&charge.budget)),
            Cell::new(if charge.scope.is_empty() { "all".to_owned() } else { one_line(&charge.scope) }),
            Cell::new(charge.window.map_or_else(|| "ever".to_owned(), short_time)),
            if used >= charge.limit && !over { taken.fg(Color::Yellow) } else { taken },
            number(*reserved),
            number(charge.limit),
            Cell::new(charge.resets_at.map_or_else(|| "never".to_owned(), |at| distance(now, at))),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table.trim_fmt() + "\n"
}

#[cfg(test)]
mod tests {
    use callgate_wire::Charge;

    use super::*;

    #[test]
    fn a_counter_is_a_line_with_what_is_taken_reserved_and_left() {
        let counter = |scope: &str, window: Option<i64>, committed, reserved| Counter {
            charge: Charge {
                budget: "pay\u{7}ments".to_owned(),
                scope: scope.to_owned(),
                window: window.map(Timestamp),
                resets_at: window.map(|at| Timestamp(at + 86_400_000)),
                amount: 20,
                limit: 1_000,
            },
            committed,
            reserved,
        };
        let now = Timestamp(1_764_000_060_000);
        let counters = [
            counter("principal=local:ada", Some(1_763_942_400_000), 750, 250),
            counter("principal=local:bob", Some(1_763_856_000_000), 1_000, 0),
            counter("", None, 0, u64::MAX),
        ];
        let shown = anstream::adapter::strip_str(&text(&counters, now)).to_string();
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        insta::assert_snapshot!(shown, @r#"
        budget          scope                since (UTC)     taken  reserved              limit  resets
        ──────────────────────────────────────────────────────────────────────────────────────────────────
        pay\u0007ments  principal=local:ada  11-24 00:00:00    750                   250   1000  in 7 h
        pay\u0007ments  principal=local:bob  11-23 00:00:00   1000                     0   1000  16 h ago
        pay\u0007ments  all                  ever                0  18446744073709551615   1000  never
        "#);
        insta::assert_snapshot!(json(&counters), @r#"
        [
        {"budget":"pay\u0007ments","scope":"principal=local:ada","window_time":"2025-11-24T00:00:00.000Z","committed":750,"reserved":250,"limit":1000,"resets_time":"2025-11-25T00:00:00.000Z"},
        {"budget":"pay\u0007ments","scope":"principal=local:bob","window_time":"2025-11-23T00:00:00.000Z","committed":1000,"reserved":0,"limit":1000,"resets_time":"2025-11-24T00:00:00.000Z"},
        {"budget":"pay\u0007ments","scope":"","window_time":null,"committed":0,"reserved":18446744073709551615,"limit":1000,"resets_time":null}
        ]
        "#);
        assert_eq!(
            (text(&[], now).as_str(), json(&[]).as_str()),
            ("No call was charged to a budget yet.\n", "[]\n")
        );
    }
}
