//! Conditions compiled for packed states.
//!
//! A conjunct over one variable becomes a test of that variable's bit field against the set of values that satisfy it, whatever its
//! form; what remains is a program over the unpacked state.

use rustc_hash::FxHashMap;
use surefoot_model::expr::Node;
use surefoot_model::pack::{Field, Layout};
use surefoot_model::{BinaryOp, ExprId, ExprPool, PointValue, Program, Undefined, Value, VarId};

/// Domains up to this size are tabulated.
pub const MAX_TABLE: usize = 1 << 12;

/// A set of values of one field, as offsets from the lower bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    pub variable: VarId,
    pub field: Field,
    /// Bit `i` of word `i / 64`: offset `i` is in the set.
    bits: Box<[u64]>,
}

impl Test {
    #[inline]
    pub fn allows(&self, offset: u64) -> bool {
        self.bits[(offset >> 6) as usize] >> (offset & 63) & 1 == 1
    }

    #[inline]
    pub fn holds(&self, packed: &[u64]) -> bool {
        self.allows(self.field.offset(packed))
    }

    /// How many offsets the field can have.
    pub fn size(&self) -> usize {
        (i64::from(self.field.upper) - i64::from(self.field.lower) + 1) as usize
    }

    fn intersect(&mut self, other: &Test) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a &= b);
    }
}

/// A conjunction of tests and a program.
#[derive(Debug, Clone)]
pub struct Condition {
    /// At most one test per variable.
    pub tests: Vec<Test>,
    /// Everything else.
    pub general: Option<Program>,
}

impl Condition {
    /// Whether the general part holds at an unpacked state.
    pub fn general_holds(&self, state: &[i32], slots: &mut Vec<PointValue>) -> Result<bool, Undefined> {
        self.general.as_ref().map_or(Ok(true), |program| program.holds(state, slots))
    }
}

/// Compiles conditions, remembering what it tabulated.
pub struct Compiler<'a> {
    pub exprs: &'a ExprPool,
    pub layout: &'a Layout,
    tests: FxHashMap<ExprId, Option<Test>>,
}

impl<'a> Compiler<'a> {
    pub fn new(exprs: &'a ExprPool, layout: &'a Layout) -> Self {
        Compiler { exprs, layout, tests: FxHashMap::default() }
    }

    /// Compiles a Boolean expression.
    pub fn condition(&mut self, id: ExprId) -> Condition {
        let mut condition = Condition { tests: Vec::new(), general: None };
        let mut rest = Vec::new();
        for conjunct in self.conjuncts(id) {
            if self.exprs.as_constant(conjunct) == Some(Value::Bool(true)) {
                continue;
            }
            match self.test(conjunct) {
                Some(test) => match condition.tests.iter_mut().find(|t| t.variable == test.variable) {
                    Some(known) => known.intersect(&test),
                    None => condition.tests.push(test),
                },
                None => rest.push(conjunct),
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

    /// A test for a conjunct over one variable of a small domain, defined everywhere in it.
    fn test(&mut self, id: ExprId) -> Option<Test> {
        if let Some(known) = self.tests.get(&id) {
            return known.clone();
        }
        let test = self.tabulate(id).and_then(|(variable, values)| {
            let mut bits = vec![0u64; values.len().div_ceil(64)];
            for (offset, value) in values.into_iter().enumerate() {
                if value.ok()? == Value::Bool(true) {
                    bits[offset / 64] |= 1 << (offset % 64);
                }
            }
            Some(Test { variable, field: *self.layout.field(variable), bits: bits.into() })
        });
        self.tests.insert(id, test.clone());
        test
    }

    /// The values of an expression over one variable of a small domain, by offset.
    pub fn tabulate(&self, id: ExprId) -> Option<(VarId, Vec<PointValue>)> {
        let variables = self.exprs.variables_of([id]);
        let [variable] = variables[..] else { return None };
        let field = self.layout.field(variable);
        let size = i64::from(field.upper) - i64::from(field.lower) + 1;
        if size > MAX_TABLE as i64 {
            return None;
        }
        let program = Program::new(self.exprs, &[id]);
        let mut state = vec![0; self.layout.fields().len()];
        let mut slots = Vec::new();
        let values = (field.lower..=field.upper).map(|value| {
            state[variable.index()] = value;
            program.run_state(&state, &mut slots);
            program.output(0, &slots)
        });
        Some((variable, values.collect()))
    }
}
