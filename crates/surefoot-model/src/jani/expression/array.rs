//! Arrays in expressions: access, values, constructors.

use super::{Machine, Task, type_error};
use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::fold;
use crate::jani::term::{MAX_ELEMENTS, Term};
use crate::json::Json;
use crate::value::{Type, Value};

impl<'d: 'x, 'x> Machine<'_, 'd, 'x> {
    pub(super) fn access(&mut self, json: Json<'x>) -> Result<(), InputError> {
        let index = self.pop_scalar(json, "index")?;
        match self.pop() {
            Term::Array(array) => {
                let element = array.access(&mut self.context.pool, index).map_err(type_error(json))?;
                self.values.push(element);
                Ok(())
            }
            scalar @ Term::Scalar(_) => {
                let place = json.get("exp").unwrap_or(json);
                Err(place.error(format!("expected an array, found {}", scalar.describe(&self.context.pool))))
            }
        }
    }

    pub(super) fn array_value(&mut self, json: Json<'x>) -> Result<(), InputError> {
        self.context.warnings.check_keys(json, &["op", "elements"]);
        let elements = json.require("elements")?;
        let items: Vec<Json<'x>> = elements.array()?.collect();
        self.tasks.push(Task::Collect(elements, items.len()));
        self.tasks.extend(items.into_iter().rev().map(Task::Read));
        Ok(())
    }

    /// Makes an array of the last `n` values.
    pub(super) fn collect(&mut self, json: Json<'x>, n: usize) -> Result<(), InputError> {
        let items = self.pop_many(n);
        let Some(first) = items.first() else {
            return Err(json.error("an array needs at least one element"));
        };
        let mut dimensions = vec![n];
        dimensions.extend_from_slice(first.dimensions());
        let pool = &mut self.context.pool;
        if let Some(item) = items.iter().find(|item| item.dimensions() != first.dimensions()) {
            let (first, item) = (first.describe(pool), item.describe(pool));
            return Err(json
                .error(format!("the elements of an array must be alike, but here are {first} and {item}")));
        }
        if n.saturating_mul(first.elements().len()) > MAX_ELEMENTS {
            return Err(json.error(format!("arrays of more than {MAX_ELEMENTS} elements are not supported")));
        }
        let mut elements: Vec<ExprId> = items.iter().flat_map(Term::elements).copied().collect();
        let has = |ty| elements.iter().any(|&e| pool.ty(e) == ty);
        let (boolean, real, int) = (has(Type::Bool), has(Type::Real), has(Type::Int));
        if boolean && (real || int) {
            return Err(
                json.error("the elements of an array must be alike, but here are truth values and numbers")
            );
        }
        if real {
            for element in &mut elements {
                *element = fold::convert(pool, *element, Type::Real);
            }
        }
        self.values.push(Term::new(dimensions, elements));
        Ok(())
    }

    /// The length of an array constructor is on the stack: reads its elements.
    pub(super) fn construct(&mut self, json: Json<'x>) -> Result<(), InputError> {
        let place = json.get("length").unwrap_or(json);
        let length = self.pop_scalar(json, "length")?;
        let length = match self.context.evaluate_constant(length, place)? {
            Value::Int(length @ 1..) if length as u64 <= MAX_ELEMENTS as u64 => length,
            Value::Int(length @ 1..) => {
                let message = format!(
                    "arrays of more than {MAX_ELEMENTS} elements are not supported, this has {length}"
                );
                return Err(place.error(message));
            }
            other => return Err(place.error(format!("expected a positive integer as length, found {other}"))),
        };
        let (name, body) = (json.require("var")?.str()?, json.require("exp")?);
        self.tasks.push(Task::Collect(json, length as usize));
        for value in (0..length).rev() {
            self.tasks.push(Task::Unbind);
            self.tasks.push(Task::Read(body));
            self.tasks.push(Task::Bind(name, value));
        }
        Ok(())
    }
}
