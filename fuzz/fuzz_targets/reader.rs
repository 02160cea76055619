//! The reader of JSON text.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| callgate_fuzz::reader(data));
