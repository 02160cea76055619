//! The codes of JSON-RPC errors.

/// The text is not JSON.
pub const PARSE_ERROR: i64 = -32_700;
/// The message is not one of the protocol.
pub const INVALID_REQUEST: i64 = -32_600;
/// The method is not known.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// The parameters do not fit the method; also an unknown tool.
pub const INVALID_PARAMS: i64 = -32_602;
/// A fault of the gate itself.
pub const INTERNAL_ERROR: i64 = -32_603;
/// A resource that is not there, up to the revision 2025-11-25; later ones have [`INVALID_PARAMS`].
pub const RESOURCE_NOT_FOUND: i64 = -32_002;
/// A header of a request says another thing than its body.
pub const HEADER_MISMATCH: i64 = -32_020;
/// The request needs something of the client that it does not have.
pub const MISSING_CAPABILITY: i64 = -32_021;
/// The revision of the request is not spoken here.
pub const UNSUPPORTED_VERSION: i64 = -32_022;
