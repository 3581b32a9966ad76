//! Conditions compiled for packed states.
//!
//! A conjunct over one variable becomes a test of that variable's bit field against the set of values that satisfy it, whatever its
//! form, and one over two variables of small domains a test against the set of pairs; what remains is a program over
//! the unpacked state.

use rustc_hash::FxHashMap;
use surefoot_model::expr::Node;
use surefoot_model::pack::{Field, Layout};
use surefoot_model::{BinaryOp, ExprId, ExprPool, PointValue, Program, Undefined, Value, VarId};

/// Domains up to this size are tabulated.
pub const MAX_TABLE: usize = 1 << 12;

/// Pairs of domains up to this size are tabulated.
const MAX_PAIRS: usize = 1 << 10;

/// A set of small numbers: bit `i % 64` of word `i / 64` stands for `i`.
type BitSet = Box<[u64]>;

#[inline]
fn contains(bits: &BitSet, number: u64) -> bool {
    bits[(number >> 6) as usize] >> (number & 63) & 1 == 1
}

/// A set of values of one field, as offsets from the lower bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    pub variable: VarId,
    pub field: Field,
    offsets: BitSet,
}

/// A set of pairs of values of two fields.
#[derive(Debug, Clone)]
pub struct PairTest {
    fields: [Field; 2],
    /// `offset of the first * size of the second + offset of the second`.
    pairs: BitSet,
    /// Size of the second.
    stride: u64,
}

impl PairTest {
    #[inline]
    fn holds(&self, packed: &[u64]) -> bool {
        let [first, second] = &self.fields;
        contains(&self.pairs, first.offset(packed) * self.stride + second.offset(packed))
    }
}

impl Test {
    #[inline]
    pub fn allows(&self, offset: u64) -> bool {
        contains(&self.offsets, offset)
    }

    #[inline]
    pub fn holds(&self, packed: &[u64]) -> bool {
        self.allows(self.field.offset(packed))
    }

    /// How many offsets the field can have.
    pub fn size(&self) -> usize {
        size(&self.field)
    }

    fn intersect(&mut self, other: &Test) {
        self.offsets.iter_mut().zip(&other.offsets).for_each(|(a, b)| *a &= b);
    }
}

/// How many offsets a field can have.
fn size(field: &Field) -> usize {
    (i64::from(field.upper) - i64::from(field.lower) + 1) as usize
}

/// A conjunction of tests and a program.
#[derive(Debug, Clone)]
pub struct Condition {
    /// At most one test per variable.
    pub tests: Vec<Test>,
    /// Conjuncts over two variables.
    pairs: Vec<PairTest>,
    /// Everything else.
    pub general: Option<Program>,
}

impl Condition {
    /// Whether anything is left beyond the tests of single variables.
    #[inline]
    pub fn has_more_than_tests(&self) -> bool {
        !self.pairs.is_empty() || self.general.is_some()
    }

    /// Whether the tests of single variables hold.
    #[inline]
    pub fn tests_hold(&self, packed: &[u64]) -> bool {
        self.tests.iter().all(|test| test.holds(packed))
    }

    /// Whether the tests of two variables hold.
    #[inline]
    pub fn pairs_hold(&self, packed: &[u64]) -> bool {
        self.pairs.iter().all(|pair| pair.holds(packed))
    }

    /// Whether the general part holds at an unpacked state.
    pub fn general_holds(&self, state: &[i32], slots: &mut Vec<PointValue>) -> Result<bool, Undefined> {
        self.general.as_ref().map_or(Ok(true), |program| program.holds(state, slots))
    }
}

/// Compiles conditions, remembering what it tabulated.
pub struct Compiler<'a> {
    pub exprs: &'a ExprPool,
    pub layout: &'a Layout,
    tables: FxHashMap<ExprId, Table>,
}

/// What a conjunct becomes.
#[derive(Debug, Clone)]
enum Table {
    One(Test),
    Two(PairTest),
    None,
}

impl<'a> Compiler<'a> {
    pub fn new(exprs: &'a ExprPool, layout: &'a Layout) -> Self {
        Compiler { exprs, layout, tables: FxHashMap::default() }
    }

    /// Compiles a Boolean expression.
    pub fn condition(&mut self, id: ExprId) -> Condition {
        let mut condition = Condition { tests: Vec::new(), pairs: Vec::new(), general: None };
        let mut rest = Vec::new();
        for conjunct in self.conjuncts(id) {
            if self.exprs.as_constant(conjunct) == Some(Value::Bool(true)) {
                continue;
            }
            match self.table(conjunct) {
                Table::One(test) => match condition.tests.iter_mut().find(|t| t.variable == test.variable) {
                    Some(known) => known.intersect(&test),
                    None => condition.tests.push(test),
                },
                Table::Two(pair) => condition.pairs.push(pair),
                Table::None => rest.push(conjunct),
            }
        }
        if !rest.is_empty() {
            condition.general = Some(Program::new(self.exprs, &rest));
        }
        condition
    }

    fn conjuncts(&self, id: ExprId) -> Vec<ExprId> {
        let mut conjuncts = Vec::new();
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            match self.exprs.node(id) {
                Node::Binary(BinaryOp::And, a, b) => stack.extend([*b, *a]),
                _ => conjuncts.push(id),
            }
        }
        conjuncts
    }

    /// A table for a conjunct over one or two variables of small domains, if it is defined everywhere in them.
    fn table(&mut self, id: ExprId) -> Table {
        if let Some(known) = self.tables.get(&id) {
            return known.clone();
        }
        let variables = self.exprs.variables_of([id]);
        let small = match variables.len() {
            1 => MAX_TABLE,
            2 => MAX_PAIRS,
            _ => 0,
        };
        let bits = self.tabulate(id, &variables, small).and_then(|values| bit_set(&values));
        let field = |v: VarId| *self.layout.field(v);
        let table = match (bits, &variables[..]) {
            (Some(offsets), &[variable]) => Table::One(Test { variable, field: field(variable), offsets }),
            (Some(pairs), &[first, second]) => {
                let fields = [field(first), field(second)];
                Table::Two(PairTest { fields, pairs, stride: size(&fields[1]) as u64 })
            }
            _ => Table::None,
        };
        self.tables.insert(id, table.clone());
        table
    }

    /// The values of an expression over all offsets of its variables, the last one running fastest; `None` if there are more
    /// than `most`.
    fn tabulate(&self, id: ExprId, variables: &[VarId], most: usize) -> Option<Vec<PointValue>> {
        let sizes = variables.iter().map(|&v| size(self.layout.field(v)));
        let count = sizes.fold(1usize, usize::saturating_mul);
        if count > most {
            return None;
        }
        let program = Program::new(self.exprs, &[id]);
        let mut state = vec![0; self.layout.fields().len()];
        let mut slots = Vec::new();
        let values = (0..count).map(|mut number| {
            for &v in variables.iter().rev() {
                let field = self.layout.field(v);
                state[v.index()] = field.lower + (number % size(field)) as i32;
                number /= size(field);
            }
            program.run_state(&state, &mut slots);
            program.output(0, &slots)
        });
        Some(values.collect())
    }

    /// The values of an expression over one variable of a small domain, by offset.
    pub fn tabulate_one(&self, id: ExprId) -> Option<(VarId, Vec<PointValue>)> {
        let variables = self.exprs.variables_of([id]);
        let [variable] = variables[..] else { return None };
        Some((variable, self.tabulate(id, &variables, MAX_TABLE)?))
    }
}

/// Where a condition is true; `None` if it is undefined somewhere.
fn bit_set(values: &[PointValue]) -> Option<BitSet> {
    let mut bits = vec![0u64; values.len().div_ceil(64)];
    for (number, &value) in values.iter().enumerate() {
        if value.ok()? == Value::Bool(true) {
            bits[number / 64] |= 1 << (number % 64);
        }
    }
    Some(bits.into())
}
