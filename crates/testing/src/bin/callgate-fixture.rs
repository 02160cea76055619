//! The scripted tool server as a program of its own; see `callgate_testing::fixture`.

fn main() -> anyhow::Result<std::process::ExitCode> {
    let settings = <callgate_testing::fixture::Settings as clap::Parser>::parse();
    callgate_testing::fixture::run(&settings).map(std::process::ExitCode::from)
}
