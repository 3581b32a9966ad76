//! Standard JANI properties, as far as they ask whether some states can be reached.
//!
//! Whether a property affirms or denies that does not matter here: `∃ F φ`, `∀ G ¬φ`, `Pmax(F φ)` and their negations are all the
//! question whether `φ` can be reached. The violation of `∀(a W b)` is a run to `¬a ∧ ¬b` through states with `¬b`, that of
//! `∀(a R b)` a run to `¬b` through states with `¬a`.

use crate::expr::ExprId;
use crate::jani::fold;
use crate::jani::property::{PropertyReader, Refusal};
use crate::json::Json;
use crate::property::{Property, Start};
use crate::value::Value;

/// Whether some run or all runs are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantifier {
    Some,
    All,
    /// A probability, which tells both.
    Probability,
}

/// `unsafe_states` are reached through states where `hold` is true.
struct Reachability {
    unsafe_states: ExprId,
    hold: Option<ExprId>,
}

fn unsupported(json: Json<'_>, message: impl Into<String>) -> Refusal {
    Refusal::Unsupported(json.error(message))
}

impl PropertyReader<'_, '_, '_> {
    /// Reads a `filter` property.
    pub(super) fn standard_property(&mut self, name: &str, json: Json<'_>) -> Result<Property, Refusal> {
        self.context.warnings.check_keys(json, &["op", "fun", "values", "states"]);
        let states = json.require("states")?;
        if states.get("op").and_then(Json::as_str) != Some("initial") {
            return Err(unsupported(
                states,
                "only properties of initial states are supported: {\"op\": \"initial\"}",
            ));
        }
        let fun = json.require("fun")?;
        let mut formula = json.require("values")?;
        let mut negated = false;
        while formula.get("op").and_then(Json::as_str) == Some("¬") {
            formula = formula.require("exp")?;
            negated = !negated;
        }
        let op = formula.get("op").and_then(Json::as_str).unwrap_or_default();
        let (quantifier, path) = match op {
            "∃" => (Quantifier::Some, formula.require("exp")?),
            "∀" => (Quantifier::All, formula.require("exp")?),
            "Pmin" | "Pmax" => (Quantifier::Probability, formula.require("exp")?),
            // Without a quantifier, reachability is meant as "on some run" and safety as "on all runs".
            "F" | "U" => (Quantifier::Some, formula),
            "G" | "W" | "R" => (Quantifier::All, formula),
            _ => return Err(refuse_formula(formula, op)),
        };
        if quantifier == Quantifier::Probability && negated {
            return Err(unsupported(formula, "a probability cannot be negated"));
        }
        self.check_filter(fun, quantifier, negated)?;
        let question = self.path_formula(path, quantifier)?;
        Ok(Property {
            name: name.to_string(),
            start: Start { condition: Some(self.initial), listed: Vec::new() },
            unsafe_states: question.unsafe_states,
            hold: question.hold,
            goal: None,
            predicates: Vec::new(),
            policy_file: None,
        })
    }

    /// With several initial states, "for some of them" must go with "on some run", and "for all" with "on all runs".
    fn check_filter(&self, fun: Json<'_>, quantifier: Quantifier, negated: bool) -> Result<(), Refusal> {
        let for_all = match fun.str()? {
            "∃" => false,
            "∀" => true,
            "min" | "max" | "values" => return Ok(()),
            other @ ("sum" | "avg" | "count" | "argmin" | "argmax") => {
                return Err(unsupported(fun, format!("the filter function {other:?} is not supported")));
            }
            other => {
                let message = format!(
                    "there is no filter function {other:?}: expected \"∃\", \"∀\", \"min\", \"max\" or \"values\""
                );
                return Err(fun.error(message).into());
            }
        };
        let all_runs = match quantifier {
            Quantifier::Probability => {
                return Err(fun
                    .error("\"∃\" and \"∀\" filter truth values, but this is a probability")
                    .into());
            }
            Quantifier::All => !negated,
            Quantifier::Some => negated,
        };
        if all_runs != for_all && !self.context.initial_is_unique {
            return Err(unsupported(
                fun,
                "with several initial states, \"∃\" goes with a question about some run and \"∀\" with one about all runs",
            ));
        }
        Ok(())
    }

    fn path_formula(&mut self, json: Json<'_>, quantifier: Quantifier) -> Result<Reachability, Refusal> {
        let Some(place) = json.get("op") else {
            return Err(json.error(format!("expected a path formula, found {}", json.describe())).into());
        };
        for key in ["step-bounds", "time-bounds", "reward-bounds"] {
            if let Some(bounds) = json.get(key) {
                return Err(unsupported(bounds, format!("{key} are not supported")));
            }
        }
        let op = place.str()?;
        let keys: &[&str] = if matches!(op, "F" | "G") { &["op", "exp"] } else { &["op", "left", "right"] };
        self.context.warnings.check_keys(json, keys);
        match (op, quantifier) {
            ("F", Quantifier::Some | Quantifier::Probability) => {
                Ok(Reachability { unsafe_states: self.condition(json.require("exp")?)?, hold: None })
            }
            ("U", Quantifier::Some | Quantifier::Probability) => {
                let left = self.condition(json.require("left")?)?;
                let right = self.condition(json.require("right")?)?;
                Ok(self.through(left, right))
            }
            ("G", Quantifier::All | Quantifier::Probability) => {
                let always = self.condition(json.require("exp")?)?;
                let unsafe_states = fold::negation(&mut self.context.pool, always);
                Ok(Reachability { unsafe_states, hold: None })
            }
            ("W" | "R", Quantifier::All | Quantifier::Probability) => {
                let left = self.condition(json.require("left")?)?;
                let right = self.condition(json.require("right")?)?;
                let pool = &mut self.context.pool;
                let (not_left, not_right) = (fold::negation(pool, left), fold::negation(pool, right));
                if op == "R" {
                    return Ok(self.through(not_left, not_right));
                }
                let violated = fold::conjunction(pool, [not_left, not_right]);
                Ok(self.through(not_right, violated))
            }
            ("F" | "U", Quantifier::All) => Err(unsupported(
                json,
                "that something happens on all runs (liveness) is not a question of safety",
            )),
            ("G" | "W" | "R", Quantifier::Some) => Err(unsupported(
                json,
                "that some run avoids something forever is not a question of reachability",
            )),
            _ => Err(place.error(format!("expected a path formula (F, G, U, W or R), found {op:?}")).into()),
        }
    }

    fn through(&self, hold: ExprId, unsafe_states: ExprId) -> Reachability {
        let trivial = self.context.pool.as_constant(hold) == Some(Value::Bool(true));
        Reachability { unsafe_states, hold: (!trivial).then_some(hold) }
    }
}

/// Says why a state formula is no question of reachability.
fn refuse_formula(json: Json<'_>, op: &str) -> Refusal {
    match op {
        "Emin" | "Emax" => unsupported(json, "expected rewards are not supported"),
        "Smin" | "Smax" => unsupported(json, "steady-state probabilities are not supported"),
        "<" | "≤" | ">" | "≥" | "=" | "≠" => {
            unsupported(json, "comparisons are not supported, only the probability itself")
        }
        _ => {
            unsupported(json, "this does not ask whether some states can be reached, so it is not supported")
        }
    }
}
