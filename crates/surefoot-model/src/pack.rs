//! States packed into as few bits as the domains need.
//!
//! Each variable is a bit field that holds its value minus its lower bound; a variable with one value has no bits. Fields do not
//! straddle 64-bit words: they are placed widest first into the first word with room.

use crate::variable::{VarId, Variable};

/// Where a variable stands in a packed state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The word.
    pub word: u32,
    /// Position of the lowest bit.
    pub shift: u32,
    /// As many low bits as the field has.
    pub mask: u64,
    /// The variable's lower bound.
    pub lower: i32,
    /// The variable's upper bound.
    pub upper: i32,
}

impl Field {
    /// Value minus lower bound.
    #[inline]
    pub fn offset(&self, packed: &[u64]) -> u64 {
        (packed[self.word as usize] >> self.shift) & self.mask
    }

    /// The value.
    #[inline]
    pub fn get(&self, packed: &[u64]) -> i32 {
        // The offset is below 2^32, and lower + offset is a value of the domain: the wrapping sum is exact.
        self.lower.wrapping_add(self.offset(packed) as u32 as i32)
    }

    /// Stores a value of the domain.
    #[inline]
    pub fn set(&self, packed: &mut [u64], value: i32) {
        debug_assert!((self.lower..=self.upper).contains(&value), "value in the domain");
        let offset = u64::from(value.wrapping_sub(self.lower) as u32);
        let word = &mut packed[self.word as usize];
        *word = *word & !(self.mask << self.shift) | offset << self.shift;
    }
}

/// How the states of a system are packed.
#[derive(Debug, Clone)]
pub struct Layout {
    fields: Vec<Field>,
    words: usize,
    bits: u32,
}

impl Layout {
    /// The layout for these variables, or the first that is real-valued.
    pub fn new(variables: &[Variable]) -> Result<Layout, VarId> {
        let mut bounds = Vec::with_capacity(variables.len());
        for (i, variable) in variables.iter().enumerate() {
            bounds.push(variable.ty.bounds().ok_or(VarId(i as u32))?);
        }
        let width = |(lower, upper): (i32, i32)| 64 - (i64::from(upper) - i64::from(lower)).leading_zeros();
        let mut order: Vec<usize> = (0..bounds.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(width(bounds[i])));
        let mut used: Vec<u32> = vec![0];
        let mut fields = vec![Field { word: 0, shift: 0, mask: 0, lower: 0, upper: 0 }; bounds.len()];
        for i in order {
            let width = width(bounds[i]);
            let word = used.iter().position(|&bits| bits + width <= 64).unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            let (lower, upper) = bounds[i];
            // A field of no bits stands at shift 0, where every shift is valid.
            let shift = if width == 0 { 0 } else { used[word] };
            fields[i] = Field { word: word as u32, shift, mask: (1u64 << width) - 1, lower, upper };
            used[word] += width;
        }
        Ok(Layout { fields, words: used.len(), bits: used.iter().sum() })
    }

    /// Number of 64-bit words of a packed state, at least one.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Number of bits that carry information.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The field of a variable.
    pub fn field(&self, variable: VarId) -> &Field {
        &self.fields[variable.index()]
    }

    /// All fields, by variable.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Packs a state into `packed`.
    pub fn pack(&self, state: &[i32], packed: &mut [u64]) {
        packed.fill(0);
        for (field, &value) in self.fields.iter().zip(state) {
            field.set(packed, value);
        }
    }

    /// Unpacks a state into `state`.
    pub fn unpack(&self, packed: &[u64], state: &mut [i32]) {
        for (field, value) in self.fields.iter().zip(state) {
            *value = field.get(packed);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::variable::VariableType;

    fn int(lower: i32, upper: i32) -> Variable {
        Variable::new("v", VariableType::Int { lower, upper })
    }

    #[test]
    fn one_value_needs_no_bits_and_everything_fits_one_word() {
        let layout = Layout::new(&[int(7, 7), int(0, 1), int(-3, 4), int(0, 8)]).unwrap();
        assert_eq!((layout.bits(), layout.words()), (1 + 3 + 4, 1));
    }

    #[test]
    fn real_variables_are_named() {
        let real = Variable::new("r", VariableType::Real { lower: 0.0, upper: 1.0 });
        assert_eq!(Layout::new(&[int(0, 1), real]).unwrap_err(), VarId(1));
    }

    fn domain_and_value() -> impl Strategy<Value = (i32, i32, i32)> {
        let any = any::<(i32, i32)>().prop_map(|(a, b)| (a.min(b), a.max(b)));
        let small = (-5..5, 0..40).prop_map(|(lower, size): (i32, i32)| (lower, lower + size));
        prop_oneof![any, small].prop_flat_map(|(lower, upper)| (Just(lower), Just(upper), lower..=upper))
    }

    proptest! {
        #[test]
        fn unpacking_gives_back_what_was_packed(domains in prop::collection::vec(domain_and_value(), 0..40)) {
            let variables: Vec<Variable> = domains.iter().map(|&(lower, upper, _)| int(lower, upper)).collect();
            let layout = Layout::new(&variables).unwrap();
            let state: Vec<i32> = domains.iter().map(|d| d.2).collect();
            let mut packed = vec![u64::MAX; layout.words()];
            layout.pack(&state, &mut packed);
            let mut unpacked = vec![0; state.len()];
            layout.unpack(&packed, &mut unpacked);
            prop_assert_eq!(unpacked, state);
        }
    }
}
