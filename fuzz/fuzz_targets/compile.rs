//! From a schema's text to a program or to its faults.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::compile(data));
