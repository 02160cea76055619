//! Messages for a client's log: how much of them a request asks for, and which of them that admits.
//!
//! SPEC: 2026-07-28, server/utilities/logging: a server sends none for a request that does not ask.

use callgate_schema::json::{Node, Tape};

use super::era::META_PREFIX;
use crate::FrameLimits;

/// The notification with a message.
const MESSAGE: &str = "notifications/message";

/// How grave a message is, from the most talkative level on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For whoever looks for a fault.
    Debug,
    /// What usually happens.
    Info,
    /// What usually happens and matters.
    Notice,
    /// What may become a fault.
    Warning,
    /// Something failed.
    Error,
    /// A part failed.
    Critical,
    /// Somebody has to act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LogLevel {
    /// The level of this name.
    pub fn named(name: &str) -> Option<LogLevel> {
        Some(match name {
            "debug" => LogLevel::Debug,
            "info" => LogLevel::Info,
            "notice" => LogLevel::Notice,
            "warning" => LogLevel::Warning,
            "error" => LogLevel::Error,
            "critical" => LogLevel::Critical,
            "alert" => LogLevel::Alert,
            "emergency" => LogLevel::Emergency,
            _ => return None,
        })
    }

    /// What a request of the newer era asks for; `None` if it wants no messages, or none of a level that there is.
    pub fn asked_by(frame: &[u8], limits: &FrameLimits) -> Option<LogLevel> {
        let mut tape = Tape::new();
        let root = tape.read(frame, &limits.frame_text()).ok()?;
        let meta = root.member("params")?.member("_meta")?;
        LogLevel::named(&meta.member(&format!("{META_PREFIX}logLevel"))?.as_str()?)
    }
}

/// Whether a notification may go to a client of the newer era whose request asks for this level. What is no message always
/// may, and a message of no level that there is never.
pub fn admits(asked: Option<LogLevel>, notification: &[u8], limits: &FrameLimits) -> bool {
    let mut tape = Tape::new();
    let Ok(root) = tape.read(notification, &limits.frame_text()) else { return false };
    if root.member("method").and_then(Node::as_str).as_deref() != Some(MESSAGE) {
        return true;
    }
    let level = root.member("params").and_then(|params| params.member("level")).and_then(Node::as_str);
    let level = level.and_then(|level| LogLevel::named(&level));
    matches!((asked, level), (Some(asked), Some(level)) if level >= asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_hears_what_it_asks_for_and_nothing_below() {
        let limits = FrameLimits::default();
        let asked = |meta: &str| {
            LogLevel::asked_by(format!(r#"{{"params":{{"_meta":{meta}}}}}"#).as_bytes(), &limits)
        };
        let wanted = asked(r#"{"io.modelcontextprotocol/logLevel":"warning"}"#);
        assert_eq!(wanted, Some(LogLevel::Warning));
        for none in ["{}", r#"{"io.modelcontextprotocol/logLevel":"loud"}"#, r#"{"logLevel":"debug"}"#, "7"] {
            assert_eq!(asked(none), None, "{none}");
        }
        let message = |level: &str| {
            format!(r#"{{"method":"notifications/message","params":{{"level":{level},"data":"x"}}}}"#)
        };
        for (level, expected) in [
            (r#""debug""#, false),
            (r#""notice""#, false),
            (r#""warning""#, true),
            (r#""emergency""#, true),
            (r#""loud""#, false),
            ("7", false),
        ] {
            assert_eq!(admits(wanted, message(level).as_bytes(), &limits), expected, "{level}");
            assert!(!admits(None, message(level).as_bytes(), &limits), "{level}");
        }
        let progress = br#"{"method":"notifications/progress","params":{"progressToken":1}}"#;
        assert!(admits(None, progress, &limits));
    }
}
