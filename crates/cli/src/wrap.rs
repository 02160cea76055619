//! Placeholder of the verb.

/// To be written.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args) -> anyhow::Result<crate::ExitCode> {
    Ok(crate::ExitCode::Success)
}
