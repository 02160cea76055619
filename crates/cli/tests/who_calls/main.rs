//! Who calls, through the built program: real gates on ports of their own, an issuer that signs, and a tool server that
//! writes down what reaches it.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test without its gate shall stop"
)]

mod addresses;
mod api_tokens;
mod gate;
mod issuer;
mod jwt;
mod marks;
mod metadata;
mod upstream;
