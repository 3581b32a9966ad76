#![no_main]

#[path = "../body/model.rs"]
#[allow(dead_code)]
mod body;

libfuzzer_sys::fuzz_target!(|text: &str| {
    body::jani(text);
});
