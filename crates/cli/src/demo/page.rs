//! What the demo prints: plain words and two tables, with colours that only a terminal gets to see.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use super::Played;
use super::outcome::Outcome;

/// The columns' widths: 100 with the blanks in between, which fits most terminals.
const SENT: usize = 46;
const STAGE: usize = 10;
const OUTCOME: usize = 33;
const TIME: usize = 8;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const RED: Style = AnsiColor::Red.on_default().bold();

/// What is about to happen.
pub(super) fn opening(store: &Path) -> String {
    format!(
        "{}A client calls a small notes server (a real MCP server over stdio). Between the two stands the gate,\n\
         started as anyone would start it, with a store of its own that is gone at the end:\n\n    \
         callgate wrap --store {} -- callgate notes-server\n\n",
        heading("A gate before a tool server"),
        store.display()
    )
}

/// The table of the calls: what was sent, the stage that decided, the outcome, the time.
pub(super) fn calls(played: &[Played]) -> String {
    let mut out = heading("What was sent, and what became of it");
    let header = row(["sent", "decided at", "outcome", "time"].map(str::to_owned), Style::new());
    let _ = writeln!(out, "{header}\n{}", "─".repeat(SENT + STAGE + OUTCOME + TIME + 3));
    for played in played {
        call(&mut out, played);
    }
    out.push_str(
        "\nWhat was refused never reached the server. What ran was on record, on the disk, before it was sent.\n\n",
    );
    out
}

/// One call: its row, then the line that was sent beside the reason.
fn call(out: &mut String, Played { play, outcome, taken }: &Played) {
    let as_expected = *outcome == play.expected;
    let style = match outcome {
        _ if !as_expected => RED,
        Outcome::Refused { .. } => YELLOW,
        _ => GREEN,
    };
    let cells = [play.about.to_owned(), outcome.stage().to_owned(), outcome.to_string(), time(*taken)];
    let _ = writeln!(out, "{}", row(cells, style));
    let before = SENT - 2;
    let sent = pieces(&play.shown(), before);
    let mut reason = outcome.reason().map(|reason| words(reason, OUTCOME)).unwrap_or_default();
    if !as_expected {
        reason.extend(words(&format!("EXPECTED {} at {}", play.expected, play.expected.stage()), OUTCOME));
    }
    for index in 0..sent.len().max(reason.len()) {
        let line = |lines: &[String]| lines.get(index).cloned().unwrap_or_default();
        let (sent, reason) = (line(&sent), line(&reason));
        let between = match reason.as_str() {
            "" => 0,
            _ => before - sent.chars().count() + STAGE + 2,
        };
        let _ = writeln!(out, "  {}{:between$}{reason}", styled(DIM, &sent), "");
    }
}

/// One line of the table, the outcome in this style.
fn row([sent, stage, outcome, time]: [String; 4], style: Style) -> String {
    let outcome = styled(style, &format!("{outcome:OUTCOME$}"));
    format!("{sent:SENT$} {stage:STAGE$} {outcome} {time:>TIME$}")
}

/// A text cut after every so many characters: JSON has no better place.
fn pieces(text: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(width).map(|piece| piece.iter().collect()).collect()
}

/// A text broken between words. A word that is longer than a line stands alone.
fn words(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The table that `callgate intents list` has written.
pub(super) fn intents(table: &str) -> String {
    format!("{}{}\n\n", heading("The record: callgate intents list"), table.trim_end())
}

/// Something in the store that should not be so.
pub(super) fn fault(fault: &str) -> String {
    format!("{}\n\n", styled(RED, fault))
}

/// How to go on.
pub(super) fn closing(program: &Path) -> String {
    let program = program.display();
    let heading = heading("Before your own server");
    format!(
        r#"{heading}Put the gate before the command that starts it:

    {program} wrap -- npx -y @modelcontextprotocol/server-everything

In the configuration of an MCP client:

    {{
      "mcpServers": {{
        "everything": {{
          "command": "{program}",
          "args": ["wrap", "--", "npx", "-y", "@modelcontextprotocol/server-everything"]
        }}
      }}
    }}

What ran is then in your own store: {program} intents list
"#
    )
}

fn heading(text: &str) -> String {
    format!("{}\n\n", styled(BOLD, text))
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

fn time(taken: Duration) -> String {
    format!("{:.1} ms", taken.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_broken_between_words_and_a_long_frame_anywhere() {
        assert_eq!(words("expected integer, found string", 17), ["expected integer,", "found string"]);
        assert_eq!(words("a_word_that_is_too_long x", 5), ["a_word_that_is_too_long", "x"]);
        assert_eq!(pieces("{\"a\":[1,2]}", 5), ["{\"a\":", "[1,2]", "}"]);
        assert_eq!(SENT + STAGE + OUTCOME + TIME + 3, 100);
    }
}
