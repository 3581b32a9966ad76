#![no_main]

#[path = "../body/state.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    body::state(bytes);
});
