//! Calls of functions and values of constants: definitions that are read where expressions ask for them.

use super::{Frame, Machine, Owner, Task};
use crate::input::InputError;
use crate::jani::constant::Definition;
use crate::jani::context::GLOBAL;
use crate::jani::suggest::did_you_mean;
use crate::jani::term::Term;
use crate::json::Json;
use crate::value::Value;

impl<'d: 'x, 'x> Machine<'_, 'd, 'x> {
    /// Reads the arguments of a call.
    pub(super) fn arguments(&mut self, json: Json<'x>) -> Result<(), InputError> {
        self.context.warnings.check_keys(json, &["op", "function", "args"]);
        let name_place = json.require("function")?;
        let name = name_place.str()?;
        let scope = self.frame().scope;
        let Some(function) = self.context.function(scope, name) else {
            let error = name_place.error(format!("there is no function called {name:?} here"));
            let known =
                [scope, GLOBAL].into_iter().flat_map(|scope| self.context.scopes[scope.0].functions.keys());
            return Err(did_you_mean(error, name, known.map(String::as_str)));
        };
        let list = json.require("args")?;
        let arguments: Vec<Json<'x>> = list.array()?.collect();
        let expected = self.context.functions[function].parameters.len();
        if arguments.len() != expected {
            let found = arguments.len();
            return Err(
                list.error(format!("the function {name:?} takes {expected} arguments, but got {found}"))
            );
        }
        self.tasks.push(Task::Call(json, function));
        self.tasks.extend(arguments.into_iter().rev().map(Task::Read));
        Ok(())
    }

    /// The arguments of a call are on the stack: reads the body.
    pub(super) fn call(&mut self, json: Json<'x>, function: usize) -> Result<(), InputError> {
        let owner = Owner::Function(function);
        if let Some(start) = self.frames.iter().position(|frame| frame.definition == Some(owner)) {
            let names = self.frames[start..].iter().filter_map(|frame| match frame.definition {
                Some(Owner::Function(f)) => Some(self.context.functions[f].name.as_str()),
                _ => None,
            });
            let cycle: Vec<&str> = names.chain([self.context.functions[function].name.as_str()]).collect();
            return Err(json
                .error(format!("recursive functions are not supported: {}", arrows(&cycle)))
                .with_hint("calls are expanded when the model is read, so no function may call itself"));
        }
        let parameters = self.context.functions[function].parameters.clone();
        let arguments = self.pop_many(parameters.len());
        let list = json.require("args")?.array()?;
        let mut fitting = Vec::new();
        for ((argument, parameter), place) in arguments.into_iter().zip(&parameters).zip(list) {
            let what = format!("the parameter {:?}", parameter.name);
            fitting.push(self.context.fit(&argument, &parameter.written, &what, place)?);
        }
        if let Some(result) = self.context.calls.get(&(function, fitting.clone())) {
            let result = result.clone();
            self.values.push(result);
            return Ok(());
        }
        let definition = &self.context.functions[function];
        let bindings = parameters.iter().map(|p| p.name).zip(fitting.iter().cloned()).collect();
        self.frames.push(Frame { scope: definition.scope, definition: Some(owner), bindings });
        self.tasks.push(Task::Return(function, fitting));
        self.tasks.push(Task::Read(definition.body));
        Ok(())
    }

    pub(super) fn finish_call(&mut self, function: usize, arguments: Vec<Term>) -> Result<(), InputError> {
        self.frames.pop();
        let value = self.pop();
        let definition = &self.context.functions[function];
        let what = format!("the result of the function {:?}", definition.name);
        let (written, body) = (definition.result, definition.body);
        let value = self.context.fit(&value, &written, &what, body)?;
        self.context.calls.insert((function, arguments), value.clone());
        self.values.push(value);
        Ok(())
    }

    /// Reads value and bounds of a constant.
    pub(super) fn start_constant(&mut self, index: usize) -> Result<(), InputError> {
        let constant = &mut self.context.constants[index];
        let definition = std::mem::replace(&mut constant.definition, Definition::InProgress);
        let value = match definition {
            Definition::Given(value) => Task::Push(Term::Scalar(self.context.pool.constant(value))),
            Definition::Expression(json) => Task::Read(json),
            Definition::Missing => return Err(constant.missing_value()),
            Definition::InProgress | Definition::Done(_) => unreachable!("each constant is defined once"),
        };
        let written = self.context.constants[index].written;
        self.frames.push(Frame {
            scope: GLOBAL,
            definition: Some(Owner::Constant(index)),
            bindings: Vec::new(),
        });
        self.tasks.push(Task::Define(index));
        self.tasks.extend(written.upper.map(Task::Read));
        self.tasks.extend(written.lower.map(Task::Read));
        self.tasks.push(value);
        Ok(())
    }

    pub(super) fn finish_constant(&mut self, index: usize) -> Result<(), InputError> {
        self.frames.pop();
        let written = self.context.constants[index].written;
        let mut bound = |bound: Option<Json<'d>>| -> Result<Option<Value>, InputError> {
            let Some(place) = bound else { return Ok(None) };
            let Term::Scalar(id) = self.pop() else {
                return Err(place.error("expected a number, found an array"));
            };
            self.context.evaluate_constant(id, place).map(Some)
        };
        let upper = bound(written.upper)?;
        let lower = bound(written.lower)?;
        let value = self.pop();
        self.context.define_constant(index, &value, lower, upper)
    }

    pub(super) fn constant_cycle(&self, json: Json<'_>, constant: usize) -> InputError {
        let name = |index: usize| self.context.constants[index].name;
        let names = self.frames.iter().filter_map(|frame| match frame.definition {
            Some(Owner::Constant(index)) => Some(index),
            _ => None,
        });
        let cycle = names.skip_while(|&index| index != constant).map(name);
        let cycle: Vec<&str> = cycle.chain([name(constant)]).collect();
        json.error(format!(
            "the definition of the constant {:?} is cyclic: {}",
            name(constant),
            arrows(&cycle)
        ))
    }
}

/// `a → b → a`; the middle of a long cycle is left out.
fn arrows(names: &[&str]) -> String {
    if let [first, second, .., last] = names
        && names.len() > 12
    {
        return format!("{first} → {second} → … → {last}");
    }
    names.join(" → ")
}
