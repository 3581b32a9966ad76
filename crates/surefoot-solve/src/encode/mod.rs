//! Conditions of models as literals, over any back end.
//!
//! An [`Encoder`] has one integer variable for each state variable and gives every Boolean expression a pair of literals,
//! [`Truths`]: *it is true* and *it is false*. Where neither holds, the expression is undefined. At every state the pair is
//! what the point evaluator says, in every model that the encoder gives out.
//!
//! | expression | becomes | file |
//! |---|---|---|
//! | `∧ ∨ ¬ = ite` and array access on Booleans | clauses, once per expression (Tseitin) | `condition.rs`, `gate.rs` |
//! | linear comparison of one variable | a literal `v ≥ c` or `v = c` | `linear.rs` |
//! | linear comparison of several variables | clauses over partial sums, if there are few | `linear.rs` |
//! | comparison with `min`, `max`, `ite` or an array access | Boolean combination of simpler comparisons | `compare.rs` |
//! | any other comparison with few points | clauses, one for each box of equal truth | `table.rs` |
//! | everything else | a literal that is explained lazily | `atom.rs`, `refine.rs` |
//!
//! **Lazy explanation.** The literal of such an atom is free at first. When the back end has found a model, each atom is evaluated at the
//! state of the model. If a literal has the wrong value, the state is widened to a box on which the atom provably has the same truth value,
//! the clause `box ⇒ literal` is added, and the back end tries again. Only valid clauses are added, so *unsatisfiable*
//! is right; *satisfiable* is given only if every literal has the value of the point evaluator. Each clause excludes what the
//! model said about at least one state, and there are finitely many states and atoms, so it ends.
//!
//! Expressions are copied into a pool of the encoder's own. So an encoder borrows nothing, and simpler comparisons can be built there.

mod atom;
mod compare;
mod condition;
mod gate;
mod import;
mod linear;
mod number;
mod refine;
mod step;
mod table;
mod undefined;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use surefoot_model::expr::Enclosure;
use surefoot_model::{ExprId, ExprPool, Type, VarId, Variable};

use crate::UnsupportedVariable;
use crate::literal::{IntVar, Lit};
use crate::solver::Arithmetic;
use atom::Atom;
pub(crate) use import::Importer;

/// What is known of a Boolean expression, as two literals that exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truths {
    /// The expression is defined and true.
    pub is_true: Lit,
    /// The expression is defined and false.
    pub is_false: Lit,
}

impl Truths {
    /// An expression that is defined everywhere, by its literal.
    fn total(literal: Lit) -> Self {
        Truths { is_true: literal, is_false: !literal }
    }

    fn is_total(self) -> bool {
        self.is_false == !self.is_true
    }

    fn negated(self) -> Self {
        Truths { is_true: self.is_false, is_false: self.is_true }
    }
}

/// How the conditions of an encoder were translated, for reports and tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Atoms that were written out as clauses over boxes.
    pub tables: usize,
    /// Comparisons of sums that were written out as clauses over partial sums.
    pub sums: usize,
    /// Atoms that are explained lazily.
    pub lazy: usize,
    /// Explanations so far.
    pub explanations: usize,
}

/// How much is written out as clauses before an atom is explained lazily. Answers do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most clauses for one comparison of a sum.
    pub sum_clauses: u64,
    /// Most combinations of values of an atom over several variables.
    pub table_points: u64,
    /// Most values of an atom over one variable,
    pub table_values: u64,
    /// which fall into at most so many runs of equal truth.
    pub table_runs: usize,
    /// Most comparisons that are taken apart for one condition. Sums of nested `ite` have exponentially many.
    pub rewrites: usize,
    /// Whether comparisons of the same sum know of each other.
    pub share_sums: bool,
}

impl Limits {
    /// Nothing is written out.
    pub const LAZY: Limits = Limits {
        sum_clauses: 0,
        table_points: 0,
        table_values: 0,
        table_runs: 0,
        rewrites: 0,
        share_sums: true,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            sum_clauses: 8192,
            table_points: 256,
            table_values: 1 << 14,
            table_runs: 128,
            rewrites: 10_000,
            share_sums: true,
        }
    }
}

/// State variables and conditions over them, on top of a back end.
#[derive(Debug)]
pub struct Encoder<S> {
    solver: S,
    /// Expressions over the state variables.
    pool: ExprPool,
    integers: Vec<IntVar>,
    types: Vec<Type>,
    /// Bounds of all variables; narrowed and restored while boxes are evaluated.
    lower: Vec<i32>,
    upper: Vec<i32>,
    plain: Importer,
    truths: FxHashMap<ExprId, Truths>,
    /// Comparisons that stand for other conditions.
    rewritten: FxHashMap<ExprId, ExprId>,
    /// Values over all states.
    enclosures: FxHashMap<ExprId, Enclosure>,
    gates: FxHashMap<Box<[Lit]>, Lit>,
    /// For each sum of variables, its bounds so far.
    sums: FxHashMap<linear::Terms, BTreeMap<i64, Lit>>,
    atoms: Vec<Atom>,
    limits: Limits,
    /// Comparisons that may still be taken apart for the current condition.
    rewrites_left: usize,
    statistics: Statistics,
}

impl<S: Arithmetic> Encoder<S> {
    /// An encoder for states of these variables.
    ///
    /// # Errors
    /// A variable is real.
    pub fn new(mut solver: S, variables: &[Variable]) -> Result<Self, UnsupportedVariable> {
        let bounds = variables.iter().map(|variable| {
            variable.ty.bounds().ok_or_else(|| UnsupportedVariable { name: variable.name.clone() })
        });
        let bounds: Vec<(i32, i32)> = bounds.collect::<Result<_, _>>()?;
        let integers = bounds.iter().map(|&(lower, upper)| solver.new_variable(lower, upper)).collect();
        let (lower, upper) = bounds.into_iter().unzip();
        Ok(Encoder {
            solver,
            pool: ExprPool::new(),
            integers,
            types: variables.iter().map(|variable| variable.ty.ty()).collect(),
            lower,
            upper,
            plain: Importer::default(),
            truths: FxHashMap::default(),
            rewritten: FxHashMap::default(),
            enclosures: FxHashMap::default(),
            gates: FxHashMap::default(),
            sums: FxHashMap::default(),
            atoms: Vec::new(),
            limits: Limits::default(),
            rewrites_left: 0,
            statistics: Statistics::default(),
        })
    }

    /// Sets the limits for conditions that are translated from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// The back end's variable for a state variable.
    pub fn integer(&self, variable: VarId) -> IntVar {
        self.integers[variable.index()]
    }

    /// The literals of a condition of `pool`. All conditions that an encoder sees must be of one pool; it may grow in between.
    pub fn condition(&mut self, pool: &ExprPool, condition: ExprId) -> Truths {
        let condition = self.plain.import(pool, condition, &mut self.pool);
        self.truths(condition)
    }

    /// From now on a condition must be true (so defined, too). Cheaper than a clause with its literal.
    pub fn require_condition(&mut self, pool: &ExprPool, condition: ExprId) {
        let condition = self.plain.import(pool, condition, &mut self.pool);
        self.require(condition);
    }

    /// The literal that says that a condition with these literals is undefined.
    pub fn undefined(&mut self, truths: Truths) -> Lit {
        self.and(&[!truths.is_true, !truths.is_false])
    }

    /// The literal of a conjunction.
    pub fn and(&mut self, literals: &[Lit]) -> Lit {
        self.conjunction(literals.to_vec())
    }

    /// The literal of a disjunction.
    pub fn or(&mut self, literals: &[Lit]) -> Lit {
        !self.conjunction(literals.iter().map(|&literal| !literal).collect())
    }

    /// How conditions were translated so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The back end.
    pub fn solver(&self) -> &S {
        &self.solver
    }

    /// Values of all state variables in the model, see [`crate::Solve::value`].
    pub fn state(&self) -> Vec<i32> {
        self.integers.iter().map(|&variable| self.solver.value(variable)).collect()
    }
}
