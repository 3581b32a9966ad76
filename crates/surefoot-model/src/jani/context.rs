//! What is known about a model while it is read: names, expressions, variables, warnings.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::{ExprId, ExprPool};
use crate::input::InputError;
use crate::jani::constant::Constant;
use crate::jani::expression::ExpressionBudget;
use crate::jani::fold::Substitution;
use crate::jani::function::Function;
use crate::jani::suggest::did_you_mean;
use crate::jani::term::Term;
use crate::jani::types::Domain;
use crate::json::Json;
use crate::value::Value;
use crate::variable::{VarId, Variable};

/// Transient variables are no part of the state. While a model is read they have identifiers from here on; all of them are
/// substituted away before the transition system is handed out.
pub(super) const FIRST_TRANSIENT: u32 = 1 << 31;

/// After this many warnings the rest is only counted.
const MAX_WARNINGS: usize = 50;

/// Index of a name table in [`Context::scopes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScopeId(pub(super) usize);

/// The scope of the model itself; all other scopes extend it.
pub(super) const GLOBAL: ScopeId = ScopeId(0);

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Entity {
    /// Index in [`Context::constants`].
    Constant(usize),
    Variable(Rc<Storage>),
    /// A local variable of several automata, in the scope of properties: the qualified names that may be meant.
    Ambiguous(Vec<String>),
}

/// A declared variable: where its scalars are.
#[derive(Debug)]
pub(super) struct Storage {
    /// Name for messages.
    pub(super) name: String,
    /// Identifiers of the scalars are `first`, `first + 1`, …, row by row.
    pub(super) first: VarId,
    pub(super) domain: Domain,
    /// The variable as a term.
    pub(super) term: Term,
}

impl Storage {
    pub(super) fn is_transient(&self) -> bool {
        self.first.0 >= FIRST_TRANSIENT
    }

    /// Identifier of scalar number `offset`.
    pub(super) fn scalar(&self, offset: usize) -> VarId {
        VarId(self.first.0 + offset as u32)
    }
}

/// Names of one scope.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) entities: FxHashMap<String, Entity>,
    /// Index in [`Context::functions`].
    pub(super) functions: FxHashMap<String, usize>,
    /// Names that exist but may not be used yet, such as variables in definitions of constants.
    pub(super) unavailable: FxHashMap<String, &'static str>,
}

/// An automaton in the composition.
#[derive(Debug)]
pub(super) struct Instance<'d> {
    /// Name of the automaton.
    pub(super) automaton: String,
    /// Name for display, unique among the instances.
    pub(super) name: String,
    pub(super) json: Json<'d>,
    pub(super) scope: ScopeId,
    pub(super) location_names: Vec<String>,
    pub(super) locations: FxHashMap<String, usize>,
    pub(super) initial_locations: Vec<usize>,
}

/// A scalar transient variable.
#[derive(Debug)]
pub(super) struct Transient {
    pub(super) name: String,
    pub(super) domain: Domain,
    /// The value at the beginning of each step.
    pub(super) initial: ExprId,
}

/// Warnings, each once.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    list: Vec<InputError>,
    omitted: usize,
}

impl Warnings {
    /// Adds a warning, unless there are too many.
    pub(super) fn add(&mut self, warning: impl FnOnce() -> InputError) {
        if self.list.len() >= MAX_WARNINGS {
            self.omitted += 1;
            return;
        }
        let warning = warning();
        if !self.list.contains(&warning) {
            self.list.push(warning);
        }
    }

    /// Warns about each key of `json` that is neither in `known` nor allowed everywhere.
    pub(super) fn check_keys(&mut self, json: Json<'_>, known: &[&str]) {
        for (key, value) in json.members() {
            if !known.contains(&key) && key != "comment" && key != "metadata" {
                self.add(|| {
                    let error = value.error(format!("the key {key:?} is unknown here and ignored"));
                    did_you_mean(error, key, known.iter().copied())
                });
            }
        }
    }

    /// All warnings; the last one says how many were left out.
    pub(super) fn finish(mut self) -> Vec<InputError> {
        if let (Some(last), 1..) = (self.list.last(), self.omitted) {
            let message = format!("{} more warnings were left out", self.omitted);
            self.list.push(InputError::in_file(&last.path, message));
        }
        self.list
    }
}

/// Everything that reading a part of a model may need.
#[derive(Debug)]
pub(super) struct Context<'d> {
    pub(super) pool: ExprPool,
    pub(super) scopes: Vec<Names>,
    pub(super) constants: Vec<Constant<'d>>,
    pub(super) functions: Vec<Function<'d>>,
    /// Results of function calls: expanding a call again gives the same expression.
    pub(super) calls: FxHashMap<(usize, Vec<Term>), Term>,
    /// The state vector.
    pub(super) variables: Vec<Variable>,
    /// Names of state variables that are taken.
    pub(super) display_names: FxHashSet<String>,
    /// Declared initial values.
    pub(super) initial_values: FxHashMap<VarId, Value>,
    /// Whether initial values and locations leave just one initial state.
    pub(super) initial_is_unique: bool,
    pub(super) transients: Vec<Transient>,
    /// Replaces transient variables by their values in a state.
    pub(super) transients_in_state: Substitution,
    /// Replaces transient variables by the values that they have when a step begins.
    pub(super) transients_in_step: Substitution,
    pub(super) instances: Vec<Instance<'d>>,
    pub(super) warnings: Warnings,
    pub(super) budget: ExpressionBudget,
}

impl Context<'_> {
    pub(super) fn new() -> Self {
        Context {
            pool: ExprPool::new(),
            scopes: vec![Names::default()],
            constants: Vec::new(),
            functions: Vec::new(),
            calls: FxHashMap::default(),
            variables: Vec::new(),
            display_names: FxHashSet::default(),
            initial_values: FxHashMap::default(),
            initial_is_unique: false,
            transients: Vec::new(),
            transients_in_state: Substitution::default(),
            transients_in_step: Substitution::default(),
            instances: Vec::new(),
            warnings: Warnings::default(),
            budget: ExpressionBudget::default(),
        }
    }

    /// A new scope that extends the global one.
    pub(super) fn add_scope(&mut self) -> ScopeId {
        self.scopes.push(Names::default());
        ScopeId(self.scopes.len() - 1)
    }

    /// What `name` stands for in `scope`.
    pub(super) fn entity(&self, scope: ScopeId, name: &str) -> Option<&Entity> {
        let local = self.scopes[scope.0].entities.get(name);
        local.or_else(|| self.scopes[GLOBAL.0].entities.get(name))
    }

    /// Gives a name that stands at `json` its meaning in `scope`.
    pub(super) fn declare(
        &mut self,
        scope: ScopeId,
        name: &str,
        entity: Entity,
        json: Json<'_>,
    ) -> Result<(), InputError> {
        if let Some(other) = self.entity(scope, name) {
            let what = match other {
                Entity::Constant(_) => "a constant",
                Entity::Variable(_) | Entity::Ambiguous(_) => "a variable",
            };
            return Err(json
                .error(format!("the name {name:?} is already taken by {what}"))
                .with_hint("names of constants and variables must differ; rename one of the two"));
        }
        self.scopes[scope.0].entities.insert(name.to_string(), entity);
        Ok(())
    }

    /// The error about a name at `json` that stands for nothing in `scope`.
    pub(super) fn unknown_name(&self, scope: ScopeId, name: &str, json: Json<'_>) -> InputError {
        for names in [&self.scopes[scope.0], &self.scopes[GLOBAL.0]] {
            if let Some(reason) = names.unavailable.get(name) {
                return json.error(format!("{name:?} {reason}"));
            }
        }
        let error = json.error(format!("there is no constant or variable called {name:?} here"));
        let known = [scope, GLOBAL].into_iter().flat_map(|scope| self.scopes[scope.0].entities.keys());
        did_you_mean(error, name, known.map(String::as_str))
    }

    /// The truth value that a location variable has the given value.
    pub(super) fn at_location(&mut self, instance: usize, location: usize) -> ExprId {
        let id = VarId(instance as u32);
        let variable = self.pool.variable(id, &self.variables[instance]);
        let location = self.pool.int(location as i64);
        self.pool.eq(variable, location).expect("locations are integers")
    }

    /// An expression over the state: transient variables are replaced by the values that the locations give them.
    pub(super) fn in_state(&mut self, id: ExprId) -> ExprId {
        self.transients_in_state.apply(&mut self.pool, id)
    }
}
