//! Functions. Their calls are expanded while expressions are read.

use crate::input::InputError;
use crate::jani::context::{Context, GLOBAL, ScopeId};
use crate::jani::fold;
use crate::jani::term::{Term, with_article};
use crate::jani::types::{WrittenType, read_type};
use crate::json::Json;
use crate::value::Type;

/// A declared function.
#[derive(Debug)]
pub(super) struct Function<'d> {
    pub(super) name: String,
    /// The scope of its body.
    pub(super) scope: ScopeId,
    pub(super) parameters: Vec<Parameter<'d>>,
    pub(super) result: WrittenType<'d>,
    pub(super) body: Json<'d>,
}

/// A parameter of a function. Bounds of its type are not checked.
#[derive(Debug, Clone)]
pub(super) struct Parameter<'d> {
    pub(super) name: &'d str,
    pub(super) written: WrittenType<'d>,
}

impl<'d> Context<'d> {
    /// Declares the functions of a model or an automaton.
    pub(super) fn declare_functions(&mut self, owner: Json<'d>, scope: ScopeId) -> Result<(), InputError> {
        let Some(list) = owner.get("functions") else { return Ok(()) };
        for json in list.array()? {
            let json = json.object()?;
            self.warnings.check_keys(json, &["name", "type", "parameters", "body"]);
            let name_place = json.require("name")?;
            let name = name_place.str()?;
            let function = Function {
                name: name.to_string(),
                scope,
                parameters: self.parameters(json)?,
                result: read_type(self, json.require("type")?)?,
                body: json.require("body")?,
            };
            if self.function(scope, name).is_some() {
                return Err(name_place.error(format!("there already is a function called {name:?}")));
            }
            self.scopes[scope.0].functions.insert(name.to_string(), self.functions.len());
            self.functions.push(function);
        }
        Ok(())
    }

    fn parameters(&mut self, function: Json<'d>) -> Result<Vec<Parameter<'d>>, InputError> {
        let mut parameters: Vec<Parameter<'d>> = Vec::new();
        let Some(list) = function.get("parameters") else { return Ok(parameters) };
        for json in list.array()? {
            let json = json.object()?;
            self.warnings.check_keys(json, &["name", "type"]);
            let name_place = json.require("name")?;
            let name = name_place.str()?;
            if parameters.iter().any(|parameter| parameter.name == name) {
                return Err(name_place.error(format!("there already is a parameter called {name:?}")));
            }
            parameters.push(Parameter { name, written: read_type(self, json.require("type")?)? });
        }
        Ok(parameters)
    }

    /// The function of this name.
    pub(super) fn function(&self, scope: ScopeId, name: &str) -> Option<usize> {
        let local = self.scopes[scope.0].functions.get(name);
        local.or_else(|| self.scopes[GLOBAL.0].functions.get(name)).copied()
    }

    /// Makes a value of `term` for `what`, which has the given type; bounds are not looked at.
    pub(super) fn fit(
        &mut self,
        term: &Term,
        written: &WrittenType<'_>,
        what: &str,
        json: Json<'_>,
    ) -> Result<Term, InputError> {
        if term.dimensions().len() != written.array_depth {
            let expected = match written.array_depth {
                0 => "a single value".to_string(),
                1 => "an array".to_string(),
                n => format!("an array of {n} dimensions"),
            };
            let found = term.describe(&self.pool);
            return Err(json.error(format!("{what} is {expected}, but this is {found}")));
        }
        term.try_map(|element| {
            let ty = self.pool.ty(element);
            if ty == written.base || (ty == Type::Int && written.base == Type::Real) {
                return Ok(fold::convert(&mut self.pool, element, written.base));
            }
            let error = json.error(format!(
                "{what} is of type {}, but this is {} value",
                written.base,
                with_article(ty)
            ));
            Err(match (written.base, ty) {
                (Type::Int, Type::Real) => error.with_hint("make it an integer with floor, ceil or trc"),
                _ => error,
            })
        })
    }
}
