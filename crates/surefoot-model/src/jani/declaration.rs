//! Variables: declarations become scalars of the state vector, or transient scalars outside of it.

use std::rc::Rc;

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::context::{Context, Entity, FIRST_TRANSIENT, GLOBAL, ScopeId, Storage, Transient};
use crate::jani::term::Term;
use crate::jani::types::{Domain, read_type};
use crate::json::Json;
use crate::value::Value;
use crate::variable::{Origin, Scope, Symbol, VarId, Variable, VariableType};

/// No model may have more state variables.
const MAX_VARIABLES: usize = 1_000_000;

/// A variable declaration that is read but has no place yet.
struct Declaration<'d> {
    name: &'d str,
    json: Json<'d>,
    domain: Domain,
    dimensions: Vec<usize>,
    /// One value for each scalar, or nothing.
    initial: Option<Vec<Value>>,
}

impl<'d> Context<'d> {
    /// Declares the global variables of a model, or the local ones of an automaton instance.
    pub(super) fn declare_variables(
        &mut self,
        owner: Json<'d>,
        instance: Option<usize>,
    ) -> Result<(), InputError> {
        let scope = instance.map_or(GLOBAL, |instance| self.instances[instance].scope);
        let Some(list) = owner.get("variables") else { return Ok(()) };
        for json in list.array()? {
            let json = json.object()?;
            self.warnings.check_keys(json, &["name", "type", "transient", "initial-value"]);
            let declaration = self.read_declaration(json, scope)?;
            let transient = json.get("transient").map(Json::bool).transpose()?.unwrap_or(false);
            let storage = if transient {
                self.add_transient(&declaration, instance)?
            } else {
                self.add_variable(&declaration, instance)?
            };
            let place = json.require("name")?;
            self.declare(scope, declaration.name, Entity::Variable(Rc::new(storage)), place)?;
        }
        Ok(())
    }

    fn read_declaration(&mut self, json: Json<'d>, scope: ScopeId) -> Result<Declaration<'d>, InputError> {
        let name = json.require("name")?.str()?;
        let type_place = json.require("type")?;
        let written = read_type(self, type_place)?;
        let domain = self.domain(scope, name, &written, type_place)?;
        let Some(place) = json.get("initial-value") else {
            if written.array_depth > 0 {
                return Err(json
                    .error(format!("the array {name:?} needs an initial value, which says how long it is"))
                    .with_hint("add \"initial-value\": {\"op\": \"av\", \"elements\": […]}"));
            }
            return Ok(Declaration { name, json, domain, dimensions: Vec::new(), initial: None });
        };
        let term = self.term(scope, place)?;
        let term = self.fit(&term, &written, &format!("the variable {name:?}"), place)?;
        let mut initial = Vec::new();
        for &element in term.elements() {
            let value = self.evaluate_constant(element, place)?;
            if !domain.contains(value) {
                let bounds = domain.describe();
                return Err(place
                    .error(format!("the initial value {value} of {name:?} is outside its domain {bounds}")));
            }
            initial.push(value);
        }
        Ok(Declaration { name, json, domain, dimensions: term.dimensions().to_vec(), initial: Some(initial) })
    }

    /// The name of a variable of an instance, or of a global one, for display.
    fn qualified(&self, name: &str, instance: Option<usize>) -> String {
        match instance {
            Some(instance) => format!("{}.{name}", self.instances[instance].name),
            None => name.to_string(),
        }
    }

    fn add_transient(
        &mut self,
        declaration: &Declaration<'_>,
        instance: Option<usize>,
    ) -> Result<Storage, InputError> {
        let Some(initial) = &declaration.initial else {
            let message = format!("the transient variable {:?} needs an initial value", declaration.name);
            return Err(declaration.json.error(message));
        };
        let first = VarId(FIRST_TRANSIENT + self.transients.len() as u32);
        let name = self.qualified(declaration.name, instance);
        for (offset, &value) in initial.iter().enumerate() {
            self.transients.push(Transient {
                name: format!("{name}{}", subscript(&declaration.dimensions, offset)),
                domain: declaration.domain,
                initial: self.pool.constant(value),
            });
        }
        Ok(self.storage(name, first, declaration))
    }

    fn add_variable(
        &mut self,
        declaration: &Declaration<'_>,
        instance: Option<usize>,
    ) -> Result<Storage, InputError> {
        let type_place = declaration.json.require("type")?;
        let ty = declaration.domain.variable_type(declaration.name, type_place)?;
        let first = VarId(self.variables.len() as u32);
        let count = declaration.dimensions.iter().product::<usize>();
        if self.variables.len() + count > MAX_VARIABLES {
            let message = format!("models of more than {MAX_VARIABLES} state variables are not supported");
            return Err(declaration.json.error(message));
        }
        let name = self.qualified(declaration.name, instance);
        let is_array = !declaration.dimensions.is_empty();
        for offset in 0..count {
            let symbol = if is_array {
                Symbol::Element(declaration.name.to_string(), offset as u32)
            } else {
                Symbol::Scalar(declaration.name.to_string())
            };
            if let Some(initial) = &declaration.initial {
                self.initial_values.insert(VarId(self.variables.len() as u32), initial[offset]);
            }
            let display = format!("{name}{}", subscript(&declaration.dimensions, offset));
            // The plain names of global variables are kept free for them.
            let display = if is_array || instance.is_some() { self.unique(&display) } else { display };
            self.push_variable(display, ty, Vec::new(), instance, symbol);
        }
        Ok(self.storage(name, first, declaration))
    }

    /// Appends a scalar to the state vector.
    pub(super) fn push_variable(
        &mut self,
        name: String,
        ty: VariableType,
        value_names: Vec<String>,
        instance: Option<usize>,
        symbol: Symbol,
    ) {
        let scope = instance.map(|instance| Scope {
            automaton: self.instances[instance].automaton.clone(),
            instance: instance as u32,
        });
        let variable = Variable { value_names, origin: Origin { scope, symbol }, ..Variable::new(name, ty) };
        self.variables.push(variable);
    }

    /// A name for display that nothing else has yet.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_string();
        let mut number = 2;
        while !self.display_names.insert(candidate.clone()) {
            candidate = format!("{name}_{number}");
            number += 1;
        }
        candidate
    }

    fn storage(&mut self, name: String, first: VarId, declaration: &Declaration<'_>) -> Storage {
        let count = declaration.dimensions.iter().product::<usize>();
        let ty = declaration.domain.base;
        let scalar = |offset: usize| self.pool.variable_of_type(VarId(first.0 + offset as u32), ty);
        let elements: Vec<ExprId> = (0..count).map(scalar).collect();
        let term = Term::new(declaration.dimensions.clone(), elements);
        Storage { name, first, domain: declaration.domain, term }
    }
}

/// `[1][2]` for element number `offset` of an array, nothing for a scalar.
pub(super) fn subscript(dimensions: &[usize], offset: usize) -> String {
    let indices: Vec<String> =
        position(dimensions, offset).iter().map(|index| format!("[{index}]")).collect();
    indices.concat()
}

/// The index in each dimension of element number `offset`.
pub(super) fn position(dimensions: &[usize], offset: usize) -> Vec<usize> {
    let mut rest = offset;
    let mut indices: Vec<usize> = dimensions
        .iter()
        .rev()
        .map(|&length| {
            let index = rest % length;
            rest /= length;
            index
        })
        .collect();
    indices.reverse();
    indices
}
