//! The expression reader: JSON in, typed expressions out.
//!
//! It is a machine with a stack of tasks and a stack of values, so nesting costs memory but no program stack. Calls of
//! functions are expanded, and constants are evaluated when a name first asks for them; both push their own tasks, which
//! is how their definitions may come in any order and how cycles are found.

mod array;
mod definition;

use crate::expr::{ExprId, TypeError};
use crate::input::InputError;
use crate::jani::constant::Definition;
use crate::jani::context::{Context, Entity, GLOBAL, ScopeId};
use crate::jani::fold;
use crate::jani::operator::{Binary, NAMES, Operator, Unary, jani_spelling, operator};
use crate::jani::suggest::did_you_mean;
use crate::jani::term::Term;
use crate::json::Json;
use crate::value::{Type, Value};

/// Functions and array constructors may expand to this many expressions in all.
const MAX_EXPANSION: usize = 5_000_000;

/// How much functions and array constructors have expanded to.
#[derive(Debug, Default)]
pub(super) struct ExpressionBudget {
    used: usize,
}

/// What remains to be done.
#[derive(Debug)]
enum Task<'x> {
    /// Push the value of this expression.
    Read(Json<'x>),
    /// Push this value.
    Push(Term),
    Unary(Json<'x>, Unary),
    Binary(Json<'x>, Binary),
    Equality(Json<'x>, bool),
    Ite(Json<'x>),
    /// Conjunction with a condition that is already known.
    And(Json<'x>, ExprId),
    Access(Json<'x>),
    /// Make an array of the last values.
    Collect(Json<'x>, usize),
    /// The length of an array constructor is known.
    Construct(Json<'x>),
    Bind(&'x str, i64),
    Unbind,
    /// The arguments of a call are known.
    Call(Json<'x>, usize),
    /// The body of a function is known.
    Return(usize, Vec<Term>),
    /// Value and bounds of a constant are known.
    Define(usize),
}

/// Names that are bound inside the definition that is being read.
#[derive(Debug)]
struct Frame<'x> {
    scope: ScopeId,
    definition: Option<Owner>,
    bindings: Vec<(&'x str, Term)>,
}

/// What a frame defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Constant(usize),
    Function(usize),
}

struct Machine<'c, 'd, 'x> {
    context: &'c mut Context<'d>,
    tasks: Vec<Task<'x>>,
    values: Vec<Term>,
    frames: Vec<Frame<'x>>,
}

impl<'d> Context<'d> {
    /// The value of an expression.
    pub(super) fn term<'x>(&mut self, scope: ScopeId, json: Json<'x>) -> Result<Term, InputError>
    where
        'd: 'x,
    {
        let mut machine = Machine::new(self, scope);
        machine.tasks.push(Task::Read(json));
        machine.run()?;
        Ok(machine.pop())
    }

    /// The value of an expression that is no array.
    pub(super) fn scalar<'x>(&mut self, scope: ScopeId, json: Json<'x>) -> Result<ExprId, InputError>
    where
        'd: 'x,
    {
        match self.term(scope, json)? {
            Term::Scalar(id) => Ok(id),
            array @ Term::Array(_) => {
                Err(json.error(format!("expected a single value, found {}", array.describe(&self.pool))))
            }
        }
    }

    /// The value of a Boolean expression.
    pub(super) fn condition<'x>(&mut self, scope: ScopeId, json: Json<'x>) -> Result<ExprId, InputError>
    where
        'd: 'x,
    {
        let id = self.scalar(scope, json)?;
        match self.pool.ty(id) {
            Type::Bool => Ok(id),
            other => Err(json.error(format!("expected a Boolean expression, found one of type {other}"))),
        }
    }

    /// The value of an expression without variables.
    pub(super) fn constant_value<'x>(&mut self, scope: ScopeId, json: Json<'x>) -> Result<Value, InputError>
    where
        'd: 'x,
    {
        let id = self.scalar(scope, json)?;
        self.evaluate_constant(id, json)
    }

    /// The value of `id`, which was read at `json` and must have no variables.
    pub(super) fn evaluate_constant(&self, id: ExprId, json: Json<'_>) -> Result<Value, InputError> {
        if let Some(value) = self.pool.as_constant(id) {
            return Ok(value);
        }
        if let Some(variable) = self.pool.variables_of([id]).first() {
            let name = self.variables.get(variable.index()).map_or("a variable", |v| v.name.as_str());
            return Err(json.error(format!("expected a constant expression, but this depends on {name}")));
        }
        let value = self.pool.evaluate(id, |_| unreachable!("there are no variables"));
        value.map_err(|reason| json.error(format!("this constant expression has no value: {reason}")))
    }

    /// Evaluates all constants.
    pub(super) fn define_constants(&mut self) -> Result<(), InputError> {
        for constant in 0..self.constants.len() {
            if matches!(self.constants[constant].definition, Definition::Done(_)) {
                continue;
            }
            let mut machine = Machine::new(self, GLOBAL);
            machine.start_constant(constant)?;
            machine.run()?;
        }
        Ok(())
    }
}

fn type_error(json: Json<'_>) -> impl Fn(TypeError) -> InputError {
    move |error| json.error(error.to_string())
}

impl<'c, 'd: 'x, 'x> Machine<'c, 'd, 'x> {
    fn new(context: &'c mut Context<'d>, scope: ScopeId) -> Self {
        let frame = Frame { scope, definition: None, bindings: Vec::new() };
        Machine { context, tasks: Vec::new(), values: Vec::new(), frames: vec![frame] }
    }

    fn pop(&mut self) -> Term {
        self.values.pop().expect("each task finds the values of its operands")
    }

    /// Removes the last `n` values, in order.
    fn pop_many(&mut self, n: usize) -> Vec<Term> {
        self.values.split_off(self.values.len() - n)
    }

    /// The last value, which belongs to member `key` of `json` and must be no array.
    fn pop_scalar(&mut self, json: Json<'_>, key: &str) -> Result<ExprId, InputError> {
        match self.pop() {
            Term::Scalar(id) => Ok(id),
            array @ Term::Array(_) => {
                let place = json.get(key).unwrap_or(json);
                Err(place
                    .error(format!("expected a single value, found {}", array.describe(&self.context.pool))))
            }
        }
    }

    fn push(&mut self, id: ExprId) {
        self.values.push(Term::Scalar(id));
    }

    fn frame(&self) -> &Frame<'x> {
        self.frames.last().expect("the outermost frame stays")
    }

    fn frame_mut(&mut self) -> &mut Frame<'x> {
        self.frames.last_mut().expect("the outermost frame stays")
    }

    fn run(&mut self) -> Result<(), InputError> {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Read(json) => self.read(json)?,
                Task::Push(term) => self.values.push(term),
                Task::Unary(json, build) => {
                    let a = self.pop_scalar(json, "exp")?;
                    let id = build(&mut self.context.pool, a).map_err(type_error(json))?;
                    self.push_folded(id);
                }
                Task::Binary(json, build) => {
                    let b = self.pop_scalar(json, "right")?;
                    let a = self.pop_scalar(json, "left")?;
                    let id = build(&mut self.context.pool, a, b).map_err(type_error(json))?;
                    self.push_folded(id);
                }
                Task::Equality(json, negated) => self.equality(json, negated)?,
                Task::Ite(json) => self.ite(json)?,
                Task::And(json, known) => {
                    let condition = self.pop_scalar(json, "exp")?;
                    let id = self.context.pool.and(known, condition).map_err(type_error(json))?;
                    self.push_folded(id);
                }
                Task::Access(json) => self.access(json)?,
                Task::Collect(json, n) => self.collect(json, n)?,
                Task::Construct(json) => self.construct(json)?,
                Task::Bind(name, value) => {
                    let value = self.context.pool.int(value);
                    self.frame_mut().bindings.push((name, Term::Scalar(value)));
                }
                Task::Unbind => {
                    self.frame_mut().bindings.pop();
                }
                Task::Call(json, function) => self.call(json, function)?,
                Task::Return(function, arguments) => self.finish_call(function, arguments)?,
                Task::Define(constant) => self.finish_constant(constant)?,
            }
        }
        Ok(())
    }

    fn push_folded(&mut self, id: ExprId) {
        let folded = fold::fold(&mut self.context.pool, id);
        self.push(folded);
    }

    fn read(&mut self, json: Json<'x>) -> Result<(), InputError> {
        let frame = self.frame();
        if frame.definition.is_some() || !frame.bindings.is_empty() {
            self.context.budget.used += 1;
            if self.context.budget.used > MAX_EXPANSION {
                return Err(json.error(format!(
                    "functions and array constructors expand to more than {MAX_EXPANSION} expressions"
                )));
            }
        }
        if let Some(value) = json.as_bool() {
            let id = self.context.pool.bool(value);
            self.push(id);
            Ok(())
        } else if let Some(text) = json.as_number() {
            let id = self.number(json, text)?;
            self.push(id);
            Ok(())
        } else if let Some(name) = json.as_str() {
            self.name(json, name)
        } else if let Some(op) = json.get("op") {
            self.operation(json, op)
        } else if let Some(constant) = json.get("constant") {
            self.context.warnings.check_keys(json, &["constant"]);
            let value = match constant.str()? {
                "e" => std::f64::consts::E,
                "π" => std::f64::consts::PI,
                other => return Err(constant.error(format!("expected \"e\" or \"π\", found {other:?}"))),
            };
            let id = self.context.pool.real(value);
            self.push(id);
            Ok(())
        } else if json.get("distribution").is_some() {
            Err(json.error("sampling from a distribution is not supported"))
        } else {
            Err(json.error(format!(
                "expected an expression (a number, true, false, a name or an object with \"op\"), found {}",
                json.describe()
            )))
        }
    }

    fn number(&mut self, json: Json<'_>, text: &str) -> Result<ExprId, InputError> {
        if text.contains(['.', 'e', 'E']) {
            return Ok(self.context.pool.real(json.f64()?));
        }
        match text.parse() {
            Ok(value) => Ok(self.context.pool.int(value)),
            Err(_) => Err(json.error(format!("the integer {text} does not fit into 64 bits"))),
        }
    }

    fn name(&mut self, json: Json<'x>, name: &str) -> Result<(), InputError> {
        let frame = self.frame();
        if let Some((_, term)) = frame.bindings.iter().rev().find(|(bound, _)| *bound == name) {
            let term = term.clone();
            self.values.push(term);
            return Ok(());
        }
        match self.context.entity(frame.scope, name) {
            Some(Entity::Variable(storage)) => {
                let term = storage.term.clone();
                self.values.push(term);
                Ok(())
            }
            Some(&Entity::Constant(constant)) => match &self.context.constants[constant].definition {
                Definition::Done(term) => {
                    let term = term.clone();
                    self.values.push(term);
                    Ok(())
                }
                Definition::InProgress => Err(self.constant_cycle(json, constant)),
                _ => {
                    self.tasks.push(Task::Read(json));
                    self.start_constant(constant)
                }
            },
            Some(Entity::Ambiguous(candidates)) => Err(json
                .error(format!("{name:?} is a local variable of several automata"))
                .with_hint(format!("name one of {}", candidates.join(", ")))),
            None => Err(self.context.unknown_name(frame.scope, name, json)),
        }
    }

    fn operation(&mut self, json: Json<'x>, op: Json<'x>) -> Result<(), InputError> {
        let name = op.str()?;
        let Some(operator) = operator(name) else {
            let error = op.error(format!("there is no operator {name:?}"));
            return Err(match jani_spelling(name) {
                Some(spelling) => error.with_hint(format!("JANI writes it {spelling:?}")),
                None => did_you_mean(error, name, NAMES.iter().copied()),
            });
        };
        match operator {
            Operator::Unary(build) => self.operands(json, &["op", "exp"], Task::Unary(json, build)),
            Operator::Binary(build) => {
                self.operands(json, &["op", "left", "right"], Task::Binary(json, build))
            }
            Operator::Equality { negated } => {
                self.operands(json, &["op", "left", "right"], Task::Equality(json, negated))
            }
            Operator::Ite => self.operands(json, &["op", "if", "then", "else"], Task::Ite(json)),
            Operator::ArrayAccess => self.operands(json, &["op", "exp", "index"], Task::Access(json)),
            Operator::ArrayValue => self.array_value(json),
            Operator::ArrayConstructor => {
                self.context.warnings.check_keys(json, &["op", "var", "length", "exp"]);
                self.tasks.push(Task::Construct(json));
                self.tasks.push(Task::Read(json.require("length")?));
                Ok(())
            }
            Operator::Call => self.arguments(json),
            Operator::Let => {
                self.context.warnings.check_keys(json, &["op", "variables", "expression"]);
                if let Some(variables) = json.get("variables")
                    && variables.array()?.len() > 0
                {
                    return Err(variables.error("`let` with variables is not supported"));
                }
                self.tasks.push(Task::Read(json.require("expression")?));
                Ok(())
            }
            Operator::StateCondition => {
                self.context.warnings.check_keys(json, &["op", "locations", "exp"]);
                let locations = self.context.location_condition(json.get("locations"))?;
                match json.get("exp") {
                    Some(exp) => {
                        self.tasks.push(Task::And(json, locations));
                        self.tasks.push(Task::Read(exp));
                    }
                    None => self.push(locations),
                }
                Ok(())
            }
            Operator::Unsupported(what) => {
                Err(op.error(format!("the operator {name:?} ({what}) is not supported here")))
            }
        }
    }

    /// Reads all members called `keys` but the first, `op`, then does `task`.
    fn operands(&mut self, json: Json<'x>, keys: &[&str], task: Task<'x>) -> Result<(), InputError> {
        self.context.warnings.check_keys(json, keys);
        self.tasks.push(task);
        for key in keys[1..].iter().rev() {
            self.tasks.push(Task::Read(json.require(key)?));
        }
        Ok(())
    }

    fn equality(&mut self, json: Json<'x>, negated: bool) -> Result<(), InputError> {
        let (b, a) = (self.pop(), self.pop());
        if a.dimensions() != b.dimensions() {
            let pool = &self.context.pool;
            let message = format!("cannot compare {} with {}", a.describe(pool), b.describe(pool));
            return Err(json.error(message));
        }
        let pool = &mut self.context.pool;
        let mut equal = Vec::new();
        for (&a, &b) in a.elements().iter().zip(b.elements()) {
            let id = if negated { pool.ne(a, b) } else { pool.eq(a, b) }.map_err(type_error(json))?;
            equal.push(fold::fold(pool, id));
        }
        let result = if negated { fold::disjunction(pool, equal) } else { fold::conjunction(pool, equal) };
        self.push(result);
        Ok(())
    }

    fn ite(&mut self, json: Json<'x>) -> Result<(), InputError> {
        let (otherwise, then) = (self.pop(), self.pop());
        let condition = self.pop_scalar(json, "if")?;
        let pool = &mut self.context.pool;
        if then.dimensions() != otherwise.dimensions() {
            let (then, otherwise) = (then.describe(pool), otherwise.describe(pool));
            return Err(json.error(format!("the branches differ: {then} and {otherwise}")));
        }
        let mut rest = otherwise.elements().iter();
        let chosen = then.try_map(|a| {
            let b = *rest.next().expect("equal dimensions have equal numbers of elements");
            let id = pool.ite(condition, a, b).map_err(type_error(json))?;
            Ok(fold::fold(pool, id))
        })?;
        self.values.push(chosen);
        Ok(())
    }
}
