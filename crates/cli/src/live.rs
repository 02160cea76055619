//! A tool server as the command line names it: a command to start, or the URL of one that runs. Its tools are listed and
//! nothing else is done.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use anyhow::Context as _;
use callgate_mcp::FrameLimits;
use callgate_server::{Visit, VisitError, VisitSettings};

use crate::exit_code::Failure;
use crate::render::escape::one_line;
use crate::wrap::upstream_name;

/// How a live server is reached.
#[derive(Debug, clap::Args)]
pub(crate) struct LiveArgs {
    /// List the tools of the server at URL, by Streamable HTTP
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    pub(crate) url: Option<String>,
    /// Send this header with every request, such as `Authorization: Bearer …`
    #[arg(long, value_name = "NAME: VALUE", requires = "url", value_parser = parse_header)]
    header: Vec<(String, String)>,
    /// How long the server may take to list its tools, in milliseconds
    #[arg(long, value_name = "N", default_value_t = 60_000, value_parser = clap::value_parser!(u64).range(1..))]
    timeout_ms: u64,
}

impl LiveArgs {
    fn settings(&self) -> VisitSettings {
        settings(self.timeout_ms)
    }

    /// Lists the tools of the server at the URL.
    pub(crate) fn visit_url(&self, url: &str) -> anyhow::Result<Visit> {
        callgate_server::visit_url(url, &self.header, &self.settings())
            .map_err(|error| failed("list the tools of", &url_name(url), error))
    }

    /// Lists the tools of the server that this command starts.
    pub(crate) fn visit_command(&self, command: &OsStr, words: &[OsString]) -> anyhow::Result<Visit> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("failed to start the runtime")?;
        let visit = runtime.block_on(callgate_server::visit_command(command, words, &self.settings()));
        visit.map_err(|error| failed("list the tools of", &upstream_name(command, words), error))
    }
}

/// How a visit is made that may take so many milliseconds.
pub(crate) fn settings(timeout_ms: u64) -> VisitSettings {
    VisitSettings {
        timeout: Duration::from_millis(timeout_ms),
        limits: FrameLimits::default(),
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// What comes from the server is in one line and can be seen. `what` is what was to be done with it.
pub(crate) fn failed(what: &str, name: &str, error: VisitError) -> anyhow::Error {
    let error = format!("{:#}", anyhow::Error::new(error));
    Failure::upstream(format!("failed to {what} `{}`: {}", one_line(name), one_line(&error)))
}

/// A URL without what can be a secret: the user, the query and the fragment.
pub(crate) fn url_name(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = url.get(..end).unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host_end = rest.find('/').unwrap_or(rest.len());
    let host_start = rest.get(..host_end).and_then(|host| host.rfind('@')).map_or(0, |at| at + 1);
    format!("{scheme}://{}", rest.get(host_start..).unwrap_or(rest))
}

pub(crate) fn parse_url(url: &str) -> Result<String, String> {
    let lower = url.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        Ok(url.to_owned())
    } else {
        Err("expected an address that begins with `http://` or `https://`".to_owned())
    }
}

pub(crate) fn parse_header(header: &str) -> Result<(String, String), String> {
    let (name, value) = header.split_once(':').ok_or("expected `NAME: VALUE`")?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let value = value.trim();
    if name.is_empty() || !name.bytes().all(is_token) || value.chars().any(char::is_control) {
        return Err("expected a name and a value that a header can have".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_no_secret() {
        for (url, name) in [
            ("https://user:secret@example.test/mcp?key=secret#x", "https://example.test/mcp"),
            ("http://example.test?key=a@b/c", "http://example.test"),
            ("http://example.test/a@b", "http://example.test/a@b"),
        ] {
            assert_eq!(url_name(url), name);
        }
    }

    #[test]
    fn a_header_is_a_name_and_a_value() {
        assert_eq!(parse_header("X-Key:  a: b "), Ok(("X-Key".into(), "a: b".into())));
        for bad in ["X-Key", ": a", "X Key: a", "X-Key: a\r\nY: b"] {
            assert!(parse_header(bad).is_err(), "{bad}");
        }
    }
}
