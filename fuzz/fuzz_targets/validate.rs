//! Values against schemas, compared with the reference evaluator.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::validate(data));
