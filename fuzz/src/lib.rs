//! The fuzz targets: functions of bytes that call everything a user could call and check the laws that always hold.
//! What they share with the engine's tests is there: the generator, and the evaluator that answers are compared with.

#[path = "../../crates/schema/tests/generate/mod.rs"]
mod generate;
#[path = "../../crates/schema/tests/reference/mod.rs"]
mod reference;
mod targets;

/// Reads JSON text; looks at the value in every way, and writes it again.
pub fn reader(data: &[u8]) {
    targets::reader(data);
}

/// Compiles the first line as a pattern in both languages, and matches the rest.
pub fn pattern(data: &[u8]) {
    targets::pattern(data);
}

/// Compiles a schema in every profile and dialect.
pub fn compile(data: &[u8]) {
    targets::compile(data);
}

/// Checks values against a schema, and compares the answers with the reference evaluator's.
pub fn validate(data: &[u8]) {
    targets::validate(data);
}
