//! Assignments as they are written in destinations and transient values: what is written, where, and in which order.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::context::{Context, Entity, ScopeId, Storage};
use crate::jani::declaration::position;
use crate::jani::types::WrittenType;
use crate::json::Json;
use crate::value::{Type, Value};
use crate::variable::VarId;

/// One scalar assignment.
#[derive(Debug, Clone)]
pub(super) struct Write {
    /// Assignments of one group read the state before the group; groups follow each other in ascending order.
    pub(super) group: i64,
    pub(super) target: Target,
    pub(super) value: WriteValue,
}

/// What is assigned.
#[derive(Debug, Clone, Copy)]
pub(super) enum WriteValue {
    Expression(ExprId),
    /// Any integer from this range (an extension).
    AnyOf(i64, i64),
}

/// What is assigned to.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Scalar(VarId),
    /// An element of an array, by its index in each dimension.
    Element {
        array: Rc<Storage>,
        index: Vec<ExprId>,
    },
}

/// A variable, or a part of an array.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) storage: Rc<Storage>,
    /// Indices of the leading dimensions.
    index: Vec<ExprId>,
}

impl<'d> Context<'d> {
    /// Reads the assignments of a destination.
    pub(super) fn read_assignments<'x>(
        &mut self,
        scope: ScopeId,
        list: Json<'x>,
    ) -> Result<Vec<Write>, InputError>
    where
        'd: 'x,
    {
        let mut writes = Vec::new();
        let mut written = FxHashSet::default();
        for json in list.array()? {
            let json = json.object()?;
            self.warnings.check_keys(json, &["ref", "value", "index", "lower-bound", "upper-bound"]);
            let group = json.get("index").map(Json::i64).transpose()?.unwrap_or(0);
            let reference = self.reference(scope, json.require("ref")?)?;
            let start = writes.len();
            if json.get("value").is_none()
                && (json.get("lower-bound").is_some() || json.get("upper-bound").is_some())
            {
                writes.push(self.any_of(scope, &reference, group, json)?);
            } else {
                let place = json.require("value")?;
                for (target, value) in self.read_value(scope, &reference, place)? {
                    writes.push(Write { group, target, value: WriteValue::Expression(value) });
                }
            }
            for write in &writes[start..] {
                if let Target::Scalar(variable) = write.target
                    && !written.insert((group, variable))
                {
                    return Err(json
                        .error(format!("{:?} is assigned twice at once", reference.storage.name))
                        .with_hint("give the two assignments different values of \"index\", or remove one"));
                }
            }
        }
        Ok(writes)
    }

    /// A nondeterministic assignment from a range.
    fn any_of<'x>(
        &mut self,
        scope: ScopeId,
        reference: &Reference,
        group: i64,
        json: Json<'x>,
    ) -> Result<Write, InputError>
    where
        'd: 'x,
    {
        let name = &reference.storage.name;
        let bounds = [json.require("lower-bound")?, json.require("upper-bound")?];
        if reference.storage.domain.base != Type::Int {
            return Err(json.error(format!(
                "the nondeterministic assignment to {name:?}, which is no integer, is not supported"
            )));
        }
        let mut values = [0; 2];
        for (place, value) in bounds.into_iter().zip(&mut values) {
            let id = self.scalar(scope, place)?;
            if !self.pool.variables_of([id]).is_empty() {
                return Err(place.error(format!(
                    "the nondeterministic assignment to {name:?} has a bound that depends on the state, which is not supported"
                )));
            }
            *value = match self.evaluate_constant(id, place)? {
                Value::Int(value) => value,
                other => {
                    return Err(place.error(format!(
                        "the nondeterministic assignment to {name:?} needs integer bounds, found {other}"
                    )));
                }
            };
        }
        let [lower, upper] = values;
        if lower > upper {
            return Err(json.error(format!("the range of values for {name:?} is empty: {lower} > {upper}")));
        }
        let mut targets = self.targets(reference);
        match (targets.pop(), targets.is_empty()) {
            (Some(target), true) => Ok(Write { group, target, value: WriteValue::AnyOf(lower, upper) }),
            _ => Err(json.error(format!("{name:?} is an array here, but a single variable is expected"))),
        }
    }

    /// Reads the left side of an assignment.
    pub(super) fn reference<'x>(&mut self, scope: ScopeId, json: Json<'x>) -> Result<Reference, InputError>
    where
        'd: 'x,
    {
        let mut place = json;
        let mut indices = Vec::new();
        while place.get("op").and_then(Json::as_str) == Some("aa") {
            self.warnings.check_keys(place, &["op", "exp", "index"]);
            indices.push(place.require("index")?);
            place = place.require("exp")?;
        }
        let Some(name) = place.as_str() else {
            let found = place.describe();
            return Err(place.error(format!(
                "expected the name of a variable or an array element (`aa`), found {found}"
            )));
        };
        let storage = match self.entity(scope, name) {
            Some(Entity::Variable(storage)) => Rc::clone(storage),
            Some(Entity::Constant(_)) => {
                return Err(place.error(format!("{name:?} is a constant, a variable is expected")));
            }
            Some(Entity::Ambiguous(candidates)) => {
                return Err(place
                    .error(format!("{name:?} is a local variable of several automata"))
                    .with_hint(format!("name one of {}", candidates.join(", "))));
            }
            None => return Err(self.unknown_name(scope, name, place)),
        };
        if indices.len() > storage.term.dimensions().len() {
            let dimensions = storage.term.dimensions().len();
            let found = indices.len();
            return Err(
                json.error(format!("{name:?} has {dimensions} dimensions, but {found} indices are given"))
            );
        }
        let mut index = Vec::new();
        for place in indices.into_iter().rev() {
            let id = self.scalar(scope, place)?;
            if self.pool.ty(id) != Type::Int {
                let ty = self.pool.ty(id);
                return Err(place.error(format!("array access takes an integer index, but got {ty}")));
            }
            index.push(id);
        }
        Ok(Reference { storage, index })
    }

    /// The scalars that a reference stands for, row by row.
    pub(super) fn targets(&mut self, reference: &Reference) -> Vec<Target> {
        let storage = &reference.storage;
        let rest = &storage.term.dimensions()[reference.index.len()..];
        let count: usize = rest.iter().product();
        (0..count)
            .map(|offset| {
                let mut index = reference.index.clone();
                index.extend(position(rest, offset).into_iter().map(|i| self.pool.int(i as i64)));
                self.target(storage, index)
            })
            .collect()
    }

    /// The element of an array at an index; a scalar if all indices are constant and in range.
    pub(super) fn target(&self, storage: &Rc<Storage>, index: Vec<ExprId>) -> Target {
        let mut offset = 0;
        for (&id, &length) in index.iter().zip(storage.term.dimensions()) {
            match self.pool.as_constant(id).and_then(Value::as_int).map(usize::try_from) {
                Some(Ok(i)) if i < length => offset = offset * length + i,
                _ => return Target::Element { array: Rc::clone(storage), index },
            }
        }
        Target::Scalar(storage.scalar(offset))
    }

    /// Reads the right side of an assignment: the value of each scalar that is written.
    pub(super) fn read_value<'x>(
        &mut self,
        scope: ScopeId,
        reference: &Reference,
        json: Json<'x>,
    ) -> Result<Vec<(Target, ExprId)>, InputError>
    where
        'd: 'x,
    {
        let name = &reference.storage.name;
        let dimensions = &reference.storage.term.dimensions()[reference.index.len()..];
        let base = reference.storage.domain.base;
        let written = WrittenType { base, array_depth: dimensions.len(), lower: None, upper: None };
        let term = self.term(scope, json)?;
        let term = self.fit(&term, &written, &format!("the variable {name:?}"), json)?;
        if term.dimensions() != dimensions {
            let lengths: Vec<String> = dimensions.iter().map(ToString::to_string).collect();
            let (expected, found) = (lengths.join(" × "), term.describe(&self.pool));
            return Err(
                json.error(format!("{name:?} is an array of length {expected} here, but this is {found}"))
            );
        }
        Ok(self.targets(reference).into_iter().zip(term.elements().iter().copied()).collect())
    }
}
