//! Every maximum of the protocol's edge, in one place, each with its reason.

use callgate_schema::Limits;
use callgate_schema::json::ReadLimits;

/// The maxima for frames and what is in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameLimits {
    /// Bytes of one frame: twice the arguments' maximum, so that escapes and an envelope fit.
    pub frame_bytes_max: usize,
    /// Nesting of a frame: that of arguments (128), plus the envelope's, plus room for results that wrap them.
    pub frame_depth_max: u64,
    /// Values in a frame: those of arguments, plus room for the envelope.
    pub frame_nodes_max: u64,
    /// Bytes of a request's id. Ids are kept while their requests are in flight, so they are small.
    pub id_bytes_max: usize,
    /// Bytes of the `result` of a `tools/call`: what a client can be expected to take in.
    pub result_bytes_max: usize,
    /// Bytes of all pages of one `tools/list`. The largest public catalogs have about 1 MiB.
    pub list_bytes_max: usize,
    /// Pages of one `tools/list`, so that a server whose cursor goes in a circle comes to an end.
    pub list_pages_max: usize,
    /// Tools of one server.
    pub list_tools_max: usize,
}

impl Default for FrameLimits {
    fn default() -> Self {
        FrameLimits {
            frame_bytes_max: 16 << 20,
            frame_depth_max: 160,
            frame_nodes_max: 1_001_024,
            id_bytes_max: 1_024,
            result_bytes_max: 8 << 20,
            list_bytes_max: 32 << 20,
            list_pages_max: 256,
            list_tools_max: 10_000,
        }
    }
}

impl FrameLimits {
    /// The limits for reading a whole frame.
    pub fn frame_text(&self) -> ReadLimits {
        let numbers = Limits::default();
        ReadLimits {
            subject: "frame",
            bytes_max: self.frame_bytes_max as u64,
            depth_max: self.frame_depth_max,
            nodes_max: self.frame_nodes_max,
            number_digits_max: numbers.number_digits_max,
            number_exponent_max: numbers.number_exponent_max,
        }
    }
}
