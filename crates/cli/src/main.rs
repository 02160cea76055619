//! The binary `callgate`: one file a verb; parses arguments, calls the crates below, prints.
#![expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment, files and clocks are read"
)]

mod approvals;
mod budgets;
mod call;
mod capture;
mod catalog;
mod check;
mod coerce;
mod config;
mod demo;
mod exit_code;
mod explain;
mod explain_call;
mod import;
mod intents;
mod live;
mod log;
mod notes_server;
mod operator;
mod pages;
mod policy;
mod project;
mod receivers;
mod render;
mod serve;
mod store;
mod store_path;
mod tokens;
mod validate;
mod worker;
mod wrap;

use clap::{Parser, Subcommand};
use exit_code::ExitCode;

/// A gate between an agent and its tools.
///
/// It admits only tools whose input schema can be enforced, checks the exact bytes of every call, and lets a call
/// run only after a durable record says so.
#[derive(Debug, Parser)]
#[command(name = "callgate", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Args),
    Explain(explain::Args),
    Project(project::Args),
    Coerce(coerce::Args),
    Capture(capture::Args),
    Validate(validate::Args),
    Wrap(wrap::Args),
    Serve(serve::Args),
    Intents(intents::Args),
    Approvals(approvals::Args),
    Budgets(budgets::Args),
    Catalog(catalog::Args),
    Store(store::Args),
    Tokens(tokens::Args),
    Import(import::Args),
    Call(call::Args),
    Demo(demo::Args),
    Config(config::Args),
    Policy(policy::Args),
    ExplainCall(explain_call::Args),
    Worker(worker::Args),
    #[command(hide = true)]
    NotesServer(notes_server::Args),
}

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.verb {
        Verb::Check(args) => check::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Project(args) => project::run(&args),
        Verb::Coerce(args) => coerce::run(&args),
        Verb::Capture(args) => capture::run(&args),
        Verb::Validate(args) => validate::run(&args),
        Verb::Wrap(args) => wrap::run(args),
        Verb::Serve(args) => serve::run(&args),
        Verb::Intents(args) => intents::run(&args),
        Verb::Approvals(args) => approvals::run(&args),
        Verb::Budgets(args) => budgets::run(&args),
        Verb::Catalog(args) => catalog::run(&args),
        Verb::Store(args) => store::run(&args),
        Verb::Tokens(args) => tokens::run(&args),
        Verb::Import(args) => import::run(&args),
        Verb::Call(args) => call::run(&args),
        Verb::Demo(args) => demo::run(&args),
        Verb::Config(args) => config::run(&args),
        Verb::Policy(args) => policy::run(&args),
        Verb::ExplainCall(args) => explain_call::run(&args),
        Verb::Worker(args) => worker::run(&args),
        Verb::NotesServer(args) => notes_server::run(&args),
    };
    outcome
        .unwrap_or_else(|error| {
            render::output::complain(&format!("{error:#}"));
            error.downcast_ref::<exit_code::Failure>().map_or(ExitCode::Internal, |failure| failure.code)
        })
        .into()
}
