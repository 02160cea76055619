//! `callgate tokens`: the API tokens by which clients show who they are, given out and taken back beside a gate that runs.

use callgate_server::{ApiToken, ApiTokenError, ApiTokens};
use callgate_wire::{Principal, Timestamp};
use clap::Subcommand;
use comfy_table::{Cell, Color};

use crate::ExitCode;
use crate::check::Format;
use crate::exit_code::Failure;
use crate::operator::OperatorArgs;
use crate::render::escape::one_line;
use crate::render::output::{print, print_exact, remark};
use crate::render::record::{array, distance, object, quoted, time};
use crate::render::table::table;
use crate::store_path::RecordsArg;

/// Give out the tokens by which clients of `callgate serve` show who they are, and take them back.
///
/// Whoever sends a token in the header `Authorization: Bearer TOKEN` calls as the principal `token:NAME`, by which rules
/// and budgets know them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  callgate tokens add build-agent --expires 2027-01-31\n  callgate tokens list\n  \
                        callgate tokens revoke build-agent\n\n\
                        Exit codes: 0 it is done, 1 there is no such token, 2 the name or the time is none, 3 it was \
                        declined: the name is taken, or the operator's token is wrong, 5 the tokens cannot be read or \
                        written."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a token and print it, this one time
    Add(Add),
    /// List the tokens by their names
    List(List),
    /// Have a token not taken any more
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
struct Add {
    /// Its name: letters, digits, `-`, `_` and `.`
    name: String,
    /// From when on it is not taken: a day, which begins in UTC, or a time such as 2027-01-31T18:00:00Z [default: never]
    #[arg(long, value_name = "DATE", value_parser = moment)]
    expires: Option<Timestamp>,
    #[command(flatten)]
    operator: OperatorArgs,
}

#[derive(Debug, clap::Args)]
struct List {
    /// How to print them; for programs: an array of objects
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    store: RecordsArg,
}

#[derive(Debug, clap::Args)]
struct Revoke {
    /// The token's name
    name: String,
    #[command(flatten)]
    operator: OperatorArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.verb {
        Verb::Add(args) => add(args),
        Verb::List(args) => list(args),
        Verb::Revoke(args) => revoke(args),
    }
}

fn add(args: &Add) -> anyhow::Result<ExitCode> {
    let tokens = ApiTokens::beside(&args.operator.beside()?);
    let fresh = tokens.add(&args.name, args.expires, callgate_server::now()).map_err(told)?;
    // Alone on standard output, so that a program can take it from there.
    print_exact(format!("{}\n", fresh.expose()).as_bytes())?;
    let until =
        args.expires.map_or_else(|| "until it is revoked".to_owned(), |at| format!("until {}", time(at)));
    remark(&format!(
        "This is the token of {}, good {until}. It is kept nowhere: whoever needs it has to take it from here.\n",
        Principal::token(&args.name)
    ));
    Ok(ExitCode::Success)
}

fn list(args: &List) -> anyhow::Result<ExitCode> {
    let tokens = ApiTokens::beside(&args.store.place()?.beside()?).list().map_err(told)?;
    match args.format {
        Format::Text => print(&text(&tokens, callgate_server::now()))?,
        Format::Json => print_exact(json(&tokens, callgate_server::now()).as_bytes())?,
    }
    Ok(ExitCode::Success)
}

fn revoke(args: &Revoke) -> anyhow::Result<ExitCode> {
    ApiTokens::beside(&args.operator.beside()?).revoke(&args.name).map_err(told)?;
    print(&format!(
        "revoked: the token of {} is not taken any more\n",
        Principal::token(&one_line(&args.name))
    ))?;
    Ok(ExitCode::Success)
}

fn told(error: ApiTokenError) -> anyhow::Error {
    let code = match &error {
        ApiTokenError::Name | ApiTokenError::Expired => ExitCode::Usage,
        ApiTokenError::Taken(_) | ApiTokenError::TooMany => ExitCode::Refused,
        ApiTokenError::Unknown(_) => ExitCode::Findings,
        ApiTokenError::File { .. } => return error.into(),
    };
    Failure::with(code, one_line(&error.to_string()))
}

/// A day, or a time with its offset.
fn moment(text: &str) -> Result<Timestamp, String> {
    let day = || {
        let day: jiff::civil::Date = text.parse().ok()?;
        Some(day.to_zoned_datetime(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    // A time without an offset would be read as a day, and lose its hours.
    let read = if text.contains(['T', 't', ' ', ':']) { text.parse().ok() } else { day() };
    read.map(|at: jiff::Timestamp| Timestamp(at.as_millisecond())).ok_or_else(|| {
        "expected a day such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z, found another text"
            .to_owned()
    })
}

fn text(tokens: &[ApiToken], now: Timestamp) -> String {
    if tokens.is_empty() {
        return "There is no token; `callgate tokens add NAME` makes one.\n".to_owned();
    }
    let mut table = table(["name", "principal", "made (UTC)", "expires"]);
    for token in tokens {
        let expires = match token.expires_at {
            None => Cell::new("never"),
            Some(at) if token.is_good(now) => Cell::new(distance(now, at)),
            Some(at) => Cell::new(distance(now, at)).fg(Color::Yellow),
        };
        let (name, made) = (one_line(&token.name), time(token.created_at));
        table.add_row([Cell::new(&name), Cell::new(Principal::token(&name)), Cell::new(made), expires]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table.trim_fmt() + "\n"
}

fn json(tokens: &[ApiToken], now: Timestamp) -> String {
    let one = |token: &ApiToken| {
        object(&[
            ("name", Some(quoted(&token.name))),
            ("principal", Some(quoted(Principal::token(&token.name).as_str()))),
            ("created_time", Some(quoted(&time(token.created_at)))),
            ("expires_time", token.expires_at.map(|at| quoted(&time(at)))),
            ("good", Some(token.is_good(now).to_string())),
        ])
    };
    array(&tokens.iter().map(one).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_in_utc_and_a_time_has_its_offset() {
        assert_eq!(moment("2027-01-31"), Ok(Timestamp(1_801_353_600_000)));
        assert_eq!(moment("2027-01-31T01:00:00+01:00"), Ok(Timestamp(1_801_353_600_000)));
        for other in ["", "tomorrow", "2027-02-30", "2027-01-31T18:00", "2027-01-31 18:00:00", "31.1.2027"] {
            assert!(moment(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_token_is_a_line_and_one_that_has_expired_is_seen() {
        let token = |name: &str, expires_at: Option<i64>| ApiToken {
            name: name.to_owned(),
            created_at: Timestamp(1_764_000_000_000),
            expires_at: expires_at.map(Timestamp),
        };
        let tokens = [token("build", None), token("old", Some(1_764_000_000_000))];
        let now = Timestamp(1_764_000_060_000);
        let shown = anstream::adapter::strip_str(&text(&tokens, now)).to_string();
        insta::assert_snapshot!(shown, @r"
        name   principal    made (UTC)                expires
        ───────────────────────────────────────────────────────
        build  token:build  2025-11-24T16:00:00.000Z  never
        old    token:old    2025-11-24T16:00:00.000Z  60 s ago
        ");
        insta::assert_snapshot!(json(&tokens, now), @r#"
        [
        {"name":"build","principal":"token:build","created_time":"2025-11-24T16:00:00.000Z","expires_time":null,"good":true},
        {"name":"old","principal":"token:old","created_time":"2025-11-24T16:00:00.000Z","expires_time":"2025-11-24T16:00:00.000Z","good":false}
        ]
        "#);
    }
}
