#![no_main]

#[path = "../body/certificate.rs"]
#[allow(dead_code)]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    body::certificate(bytes);
});
