//! Types of constants, variables and function parameters.

use crate::input::InputError;
use crate::jani::context::{Context, ScopeId};
use crate::json::Json;
use crate::value::{Type, Value};
use crate::variable::VariableType;

/// A type as it is written: the type of the elements, how many times it is an array, and its bounds, not yet evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenType<'d> {
    pub(super) base: Type,
    pub(super) array_depth: usize,
    pub(super) lower: Option<Json<'d>>,
    pub(super) upper: Option<Json<'d>>,
}

/// A scalar type with evaluated bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Domain {
    pub(super) base: Type,
    pub(super) lower: Option<Value>,
    pub(super) upper: Option<Value>,
}

impl Domain {
    /// Whether `value`, which is of the base type, lies within the bounds.
    pub(super) fn contains(&self, value: Value) -> bool {
        match (value, self.lower, self.upper) {
            (Value::Bool(_), ..) => true,
            (Value::Int(value), lower, upper) => {
                lower.and_then(Value::as_int).is_none_or(|lower| lower <= value)
                    && upper.and_then(Value::as_int).is_none_or(|upper| value <= upper)
            }
            (Value::Real(value), lower, upper) => {
                lower.and_then(Value::as_real).is_none_or(|lower| lower <= value)
                    && upper.and_then(Value::as_real).is_none_or(|upper| value <= upper)
            }
        }
    }

    /// The bounds for messages: `0..5`.
    pub(super) fn describe(&self) -> String {
        let bound = |value: Option<Value>| value.map(|v| v.to_string()).unwrap_or_default();
        format!("{}..{}", bound(self.lower), bound(self.upper))
    }

    /// The domain of a state variable, which needs bounds.
    pub(super) fn variable_type(&self, name: &str, json: Json<'_>) -> Result<VariableType, InputError> {
        let (lower, upper) = match (self.base, self.lower, self.upper) {
            (Type::Bool, ..) => return Ok(VariableType::Bool),
            (_, Some(lower), Some(upper)) => (lower, upper),
            (base, lower, _) => {
                let missing = match lower {
                    Some(_) => " above",
                    None if self.upper.is_some() => " below",
                    None => "",
                };
                return Err(json
                    .error(format!("the {base} variable {name:?} is unbounded{missing}, which is not supported"))
                    .with_hint(format!(
                        "give it a bounded type: {{\"kind\": \"bounded\", \"base\": \"{base}\", \"lower-bound\": …, \"upper-bound\": …}}"
                    )));
            }
        };
        if let (Type::Int, Value::Int(lower), Value::Int(upper)) = (self.base, lower, upper) {
            let narrow = |bound: i64| {
                i32::try_from(bound)
                    .map_err(|_| json.error(format!("the bound {bound} of {name} does not fit into 32 bits")))
            };
            return Ok(VariableType::Int { lower: narrow(lower)?, upper: narrow(upper)? });
        }
        let real = |bound: Value| bound.as_real().expect("bounds are numbers");
        Ok(VariableType::Real { lower: real(lower), upper: real(upper) })
    }
}

/// Reads the shape of a type.
pub(super) fn read_type<'d>(
    context: &mut Context<'_>,
    json: Json<'d>,
) -> Result<WrittenType<'d>, InputError> {
    let mut json = json;
    let mut array_depth = 0;
    loop {
        if let Some(name) = json.as_str() {
            let base = basic_type(json, name)?;
            return Ok(WrittenType { base, array_depth, lower: None, upper: None });
        }
        if !json.is_object() {
            return Err(json.error(format!("expected a type, found {}", json.describe())));
        }
        let kind = json.require("kind")?;
        match kind.str()? {
            "array" => {
                context.warnings.check_keys(json, &["kind", "base"]);
                array_depth += 1;
                json = json.require("base")?;
            }
            "bounded" => {
                context.warnings.check_keys(json, &["kind", "base", "lower-bound", "upper-bound"]);
                let base = json.require("base")?;
                let (lower, upper) = (json.get("lower-bound"), json.get("upper-bound"));
                if lower.is_none() && upper.is_none() {
                    return Err(json.error("a bounded type needs \"lower-bound\", \"upper-bound\" or both"));
                }
                let base = match base.str()? {
                    "int" => Type::Int,
                    "real" => Type::Real,
                    other => {
                        return Err(base.error(format!("expected \"int\" or \"real\", found {other:?}")));
                    }
                };
                return Ok(WrittenType { base, array_depth, lower, upper });
            }
            other @ ("datatype" | "option") => {
                return Err(json.error(format!("types of kind {other:?} are not supported")));
            }
            other => {
                return Err(kind.error(format!("expected \"bounded\" or \"array\", found {other:?}")));
            }
        }
    }
}

fn basic_type(json: Json<'_>, name: &str) -> Result<Type, InputError> {
    match name {
        "bool" => Ok(Type::Bool),
        "int" => Ok(Type::Int),
        "real" => Ok(Type::Real),
        "clock" => Err(json
            .error("clocks are not supported")
            .with_hint("only models of type lts, dtmc and mdp can be read; they have no time")),
        "continuous" => Err(json
            .error("continuous variables are not supported")
            .with_hint("only models of type lts, dtmc and mdp can be read; they have no time")),
        other => Err(json.error(format!("{other:?} is not a type")).with_hint(
            "types are \"bool\", \"int\", \"real\", and objects with \"kind\": \"bounded\" or \"array\"",
        )),
    }
}

/// Checks evaluated bounds of the thing called `name`, whose type stands at `json`.
pub(super) fn checked_domain(
    name: &str,
    json: Json<'_>,
    base: Type,
    lower: Option<Value>,
    upper: Option<Value>,
) -> Result<Domain, InputError> {
    for bound in [lower, upper].into_iter().flatten() {
        if bound.ty() == Type::Bool || (base == Type::Int && bound.ty() == Type::Real) {
            return Err(json.error(format!("the bound {bound} of {name} is not {base}")));
        }
    }
    let domain = Domain { base, lower, upper };
    if let (Some(lower), Some(upper)) = (lower, upper) {
        let empty = match (lower, upper) {
            (Value::Int(lower), Value::Int(upper)) => lower > upper,
            _ => lower.as_real() > upper.as_real(),
        };
        if empty {
            return Err(json
                .error(format!("the domain of {name} is empty: lower bound {lower} > upper bound {upper}")));
        }
    }
    Ok(domain)
}

impl Context<'_> {
    /// Evaluates the bounds of a type of the thing called `name`.
    pub(super) fn domain(
        &mut self,
        scope: ScopeId,
        name: &str,
        written: &WrittenType<'_>,
        json: Json<'_>,
    ) -> Result<Domain, InputError> {
        let mut bound =
            |bound: Option<Json<'_>>| bound.map(|bound| self.constant_value(scope, bound)).transpose();
        let (lower, upper) = (bound(written.lower)?, bound(written.upper)?);
        checked_domain(name, json, written.base, lower, upper)
    }
}
