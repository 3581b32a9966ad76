//! Random parameters.

use surefoot_policy::Parameter;

use super::choices::Choices;

/// Which numbers a policy is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Few small integers: many exact ties.
    Integer,
    /// Decimals whose sums tie in one precision and not in the other.
    Decimal,
    /// As training leaves them.
    Trained,
    /// Sums overflow single precision, some double precision.
    Huge,
    /// Products are subnormal or vanish.
    Tiny,
    /// All of them.
    Mixed,
}

const FLAVOURS: [Flavour; 6] =
    [Flavour::Integer, Flavour::Decimal, Flavour::Trained, Flavour::Huge, Flavour::Tiny, Flavour::Mixed];

impl Flavour {
    pub fn random(choices: &mut Choices<'_>) -> Flavour {
        FLAVOURS[choices.weighted(&[6, 5, 8, 1, 1, 2])]
    }

    pub fn parameter(self, choices: &mut Choices<'_>) -> Parameter {
        let flavour = if self == Flavour::Mixed { FLAVOURS[choices.below(5)] } else { self };
        let text =
            match flavour {
                Flavour::Integer => choices.pick(&["0", "1", "-1", "2", "-2", "3", "-3", "7"]),
                Flavour::Decimal => choices
                    .pick(&["0", "0.1", "0.2", "0.3", "-0.1", "-0.3", "0.7", "-1.1", "16777217", "1e-9"]),
                Flavour::Huge => choices
                    .pick(&["0", "1", "-1", "1e20", "-1e30", "3e38", "1e39", "-1e39", "1e160", "-1e308"]),
                Flavour::Tiny => choices
                    .pick(&["0", "1", "1e-40", "-1e-44", "1e-30", "1e-200", "-5e-324", "1e-310", "-1e-38"]),
                Flavour::Trained | Flavour::Mixed => return Parameter::from(trained(choices)),
            };
        Parameter::parse(text).expect("a number")
    }

    pub fn parameters(self, count: usize, choices: &mut Choices<'_>) -> Vec<Parameter> {
        (0..count).map(|_| self.parameter(choices)).collect()
    }
}

/// Between -2 and 2, with all bits of a double in use.
fn trained(choices: &mut Choices<'_>) -> f64 {
    let gene = choices.below(1 << 16) as f64;
    let centred = if (gene as u32).is_multiple_of(2) { gene / 2.0 } else { -(gene + 1.0) / 2.0 };
    centred / 16384.0 * 1.000_123_456_789_1
}
