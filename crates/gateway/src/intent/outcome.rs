//! The outcome table: what an observation means. Total, in one `match`.

use std::fmt::Write as _;

use callgate_wire::{Code, IntentState, Pinned, Settlement, SideEffect, Timestamp};

/// What was seen of a call after its intent was durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// A result, of which the tool says whether it is an error.
    Result {
        /// What the tool says.
        is_error: bool,
        /// Bytes of the result.
        bytes: u64,
        /// Whether it breaks the tool's own output schema.
        breaks_output: bool,
    },
    /// A result over the bound: dropped, its size kept.
    ResultTooLarge {
        /// Bytes of the result.
        bytes: u64,
    },
    /// A result that asks for something which its caller cannot be asked, or has not given: all that comes of the call.
    InputUnavailable,
    /// An error of the protocol.
    RpcError,
    /// No answer in time.
    Timeout,
    /// The upstream ended after the call had left for it.
    UpstreamGone,
    /// An answer that cannot be read.
    AnswerUnreadable,
    /// The caller withdrew the call after it had left.
    CancelledAfterDispatch,
    /// The gate stops while the call is with the upstream.
    GateStopped,
    /// The gate that opened the intent ended without a word.
    GateGone,
    /// The caller withdrew the call before a byte of it had left.
    CancelledBeforeDispatch,
    /// The upstream was gone before a byte of the call had left.
    UpstreamGoneBeforeDispatch,
    /// The backend proves that it did not take the call up: see [`Rejection`](crate::call::Rejection).
    RejectedBeforeDispatch,
}

/// What an observation means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The state.
    pub state: IntentState,
    /// Whether the call changed the world.
    pub side_effect: SideEffect,
    /// Whether a person has to find out what happened.
    pub in_doubt: bool,
    /// What went other than well, if something did.
    pub code: Option<Code>,
}

/// The outcome table. A tool that an operator has pinned as read-only has no effect, whatever came back or did not.
pub fn outcome(observation: Observation, pinned: Pinned) -> Outcome {
    let known = of_any_tool(observation);
    match known.side_effect {
        SideEffect::Unknown if pinned.read_only => {
            Outcome { side_effect: SideEffect::None, in_doubt: false, ..known }
        }
        SideEffect::None | SideEffect::Done | SideEffect::Unknown => known,
    }
}

fn of_any_tool(observation: Observation) -> Outcome {
    use Observation as O;
    match observation {
        O::Result { breaks_output: false, .. } => done(None),
        O::Result { breaks_output: true, .. } => done(Some(Code::ResultBreaksOutputSchema)),
        O::ResultTooLarge { .. } => done(Some(Code::ResultTooLarge)),
        O::InputUnavailable => done(Some(Code::CallInputUnavailable)),
        O::RpcError => Outcome {
            state: IntentState::Failed,
            side_effect: SideEffect::Unknown,
            in_doubt: false,
            code: Some(Code::UpstreamError),
        },
        O::Timeout => doubtful(Code::UpstreamTimeout),
        O::UpstreamGone => doubtful(Code::UpstreamGone),
        O::AnswerUnreadable => doubtful(Code::UpstreamAnswerUnreadable),
        O::CancelledAfterDispatch => doubtful(Code::CallCancelled),
        O::GateStopped => doubtful(Code::GateStopped),
        O::GateGone => doubtful(Code::GateGone),
        O::CancelledBeforeDispatch => never_left(Code::CallCancelled),
        O::UpstreamGoneBeforeDispatch => never_left(Code::UpstreamGone),
        O::RejectedBeforeDispatch => never_left(Code::CallRejected),
    }
}

const fn done(code: Option<Code>) -> Outcome {
    Outcome { state: IntentState::Settled, side_effect: SideEffect::Done, in_doubt: false, code }
}

const fn doubtful(code: Code) -> Outcome {
    Outcome { state: IntentState::Open, side_effect: SideEffect::Unknown, in_doubt: true, code: Some(code) }
}

const fn never_left(code: Code) -> Outcome {
    Outcome { state: IntentState::Refused, side_effect: SideEffect::None, in_doubt: false, code: Some(code) }
}

impl Observation {
    /// The settlement that this observation leads to.
    pub fn settlement(self, pinned: Pinned, at: Timestamp) -> Settlement {
        let Outcome { state, side_effect, in_doubt, code } = outcome(self, pinned);
        let (result_bytes, is_error) = match self {
            Observation::Result { is_error, bytes, .. } => (Some(bytes), Some(is_error)),
            Observation::ResultTooLarge { bytes } => (Some(bytes), None),
            _ => (None, None),
        };
        Settlement { state, side_effect, in_doubt, code, result_bytes, is_error, at }
    }

    /// The observation in words.
    pub const fn description(self) -> &'static str {
        match self {
            Observation::Result { breaks_output: true, .. } => {
                "a result that breaks the tool's output schema"
            }
            Observation::Result { is_error: false, .. } => "a result",
            Observation::Result { is_error: true, .. } => "a result that the tool calls an error",
            Observation::ResultTooLarge { .. } => "a result over the bound",
            Observation::InputUnavailable => "a question that was not answered",
            Observation::RpcError => "an error of the protocol",
            Observation::Timeout => "no answer in time",
            Observation::UpstreamGone => "the upstream ended after the call had left",
            Observation::AnswerUnreadable => "an answer that cannot be read",
            Observation::CancelledAfterDispatch => "withdrawn by the caller after it had left",
            Observation::GateStopped => "the gate stops while the call is with the upstream",
            Observation::GateGone => "the gate ended without a word",
            Observation::CancelledBeforeDispatch => "withdrawn by the caller before it had left",
            Observation::UpstreamGoneBeforeDispatch => "the upstream was gone before the call had left",
            Observation::RejectedBeforeDispatch => {
                "rejected by the backend, with proof that it was not taken up"
            }
        }
    }

    /// One of each kind, in the order of the table.
    const SAMPLES: [Observation; 15] = [
        Observation::Result { is_error: false, bytes: 0, breaks_output: false },
        Observation::Result { is_error: true, bytes: 0, breaks_output: false },
        Observation::Result { is_error: false, bytes: 0, breaks_output: true },
        Observation::ResultTooLarge { bytes: 0 },
        Observation::InputUnavailable,
        Observation::RpcError,
        Observation::Timeout,
        Observation::UpstreamGone,
        Observation::AnswerUnreadable,
        Observation::CancelledAfterDispatch,
        Observation::GateStopped,
        Observation::GateGone,
        Observation::CancelledBeforeDispatch,
        Observation::UpstreamGoneBeforeDispatch,
        Observation::RejectedBeforeDispatch,
    ];
}

/// The outcome table as text, in Markdown.
pub fn outcome_table() -> String {
    let mut text = String::from(
        "| what came back | state | side effect | of a tool pinned as read-only | in doubt | code |\n\
         |---|---|---|---|---|---|\n",
    );
    for observation in Observation::SAMPLES {
        let Outcome { state, side_effect, in_doubt, code } = outcome(observation, Pinned::default());
        let read_only = outcome(observation, Pinned { read_only: true, ..Pinned::default() });
        let what = observation.description();
        let read_only = if read_only.side_effect == side_effect { "the same" } else { "none" };
        let doubt = match (in_doubt, read_only) {
            (false, _) => "no",
            (true, "the same") => "yes",
            (true, _) => "yes; no if read-only",
        };
        let code = code.map_or_else(String::new, |code| format!("`{code}`"));
        let _ = writeln!(text, "| {what} | {state} | {side_effect} | {read_only} | {doubt} | {code} |");
    }
    text
}
