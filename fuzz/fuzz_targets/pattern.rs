//! The reader and the matchers of patterns.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::pattern(data));
