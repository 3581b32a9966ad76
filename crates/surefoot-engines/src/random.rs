//! Pseudo-random numbers that are the same on every platform.

/// The `SplitMix64` generator of Steele, Lea and Flood (2014): a counter and a mixing function.
#[derive(Debug, Clone)]
pub struct Random(u64);

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// The numbers of one of the streams of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Random(mix(mix(seed.wrapping_add(GAMMA)).wrapping_add(stream)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// Uniform in `0..bound`, up to a bias of bound / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
