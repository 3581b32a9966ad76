#![no_main]

#[path = "../body/policy.rs"]
#[allow(dead_code)]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    body::safetensors(bytes);
});
