//! The `PA` properties of `PlaJA`: start condition, unsafe condition, objective, predicates and the policy that is meant.

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::assignment::Target;
use crate::jani::context::FIRST_TRANSIENT;
use crate::jani::fold;
use crate::jani::property::{PropertyReader, Refusal};
use crate::json::Json;
use crate::property::{Property, Rewards, Start};
use crate::value::{Type, Value};

impl PropertyReader<'_, '_, '_> {
    /// Reads a `PA` property.
    pub(super) fn policy_property(&mut self, name: &str, json: Json<'_>) -> Result<Property, Refusal> {
        self.context.warnings.check_keys(json, &["op", "start", "reach", "objective", "predicates", "file"]);
        let Some(reach) = json.get("reach") else {
            let error = json.error("the property has no reach condition, so there is nothing to verify");
            return Err(Refusal::Unsupported(
                error.with_hint("add \"reach\", the condition of unsafe states"),
            ));
        };
        let unsafe_states = self.resolved(reach, |reader, json| Ok(reader.condition(json)?))?;
        let start = match json.get("start") {
            Some(start) => self.resolved(start, Self::start)?,
            None => Start { condition: Some(self.initial), listed: Vec::new() },
        };
        let goal = match json.get("objective") {
            Some(objective) => self.resolved(objective, Self::goal)?,
            None => None,
        };
        let predicates = match json.get("predicates") {
            Some(predicates) => self.resolved(predicates, |reader, json| Ok(reader.predicates(json)?))?,
            None => Vec::new(),
        };
        let policy_file = match json.get("file") {
            Some(file) => Some(self.folder.join(file.str()?).components().collect()),
            None => None,
        };
        Ok(Property {
            name: name.to_string(),
            start,
            unsafe_states,
            hold: None,
            goal,
            predicates,
            policy_file,
        })
    }

    /// Reads `json`, or the file that it refers to.
    fn resolved<T>(
        &mut self,
        json: Json<'_>,
        read: impl FnOnce(&mut Self, Json<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        match self.loader.follow(json, &self.folder)? {
            Some(document) => read(self, document.root()),
            None => read(self, json),
        }
    }

    /// Start states: the given ones and always the model's initial states.
    fn start(&mut self, json: Json<'_>) -> Result<Start, Refusal> {
        let op = json.get("op").and_then(Json::as_str);
        if op == Some("states-values") {
            let listed = self.listed_states(json)?;
            return Ok(Start { condition: Some(self.initial), listed });
        }
        if op == Some("state-condition") {
            self.check_start_locations(json)?;
        }
        let condition = self.condition(json)?;
        let condition = fold::disjunction(&mut self.context.pool, [condition, self.initial]);
        Ok(Start { condition: Some(condition), listed: Vec::new() })
    }

    /// A start condition must name the location of each automaton that has several.
    fn check_start_locations(&mut self, json: Json<'_>) -> Result<(), InputError> {
        let named = match json.get("locations") {
            Some(list) => self.context.named_locations(list)?,
            None => Vec::new(),
        };
        for (index, instance) in self.context.instances.iter().enumerate() {
            if instance.location_names.len() > 1 && !named.iter().any(|&(other, _)| other == index) {
                let automaton = &instance.automaton;
                return Err(json
                    .error(format!("the start condition does not say in which location {:?} starts", instance.name))
                    .with_hint(format!(
                        "add {{\"automaton\": {automaton:?}, \"index\": {index}, \"location\": …}} to \"locations\""
                    )));
            }
        }
        Ok(())
    }

    /// An explicit list of states; what a state does not mention has its initial value.
    fn listed_states(&mut self, json: Json<'_>) -> Result<Vec<Vec<i32>>, Refusal> {
        self.context.warnings.check_keys(json, &["op", "values"]);
        if let Some(variable) = self.context.variables.iter().find(|v| v.ty.ty() == Type::Real) {
            let message =
                format!("states cannot be listed in a model with the real variable {:?}", variable.name);
            return Err(Refusal::Unsupported(json.error(message)));
        }
        let defaults = self.initial_state();
        let mut states = Vec::new();
        for json in json.require("values")?.array()? {
            let json = json.object()?;
            self.context.warnings.check_keys(json, &["locations", "variables"]);
            let mut state = defaults.clone();
            if let Some(list) = json.get("locations") {
                for (instance, location) in self.context.named_locations(list)? {
                    state[instance] = Some(location as i32);
                }
            }
            if let Some(list) = json.get("variables") {
                for json in list.array()? {
                    self.listed_value(json.object()?, &mut state)?;
                }
            }
            if let Some(missing) = state.iter().position(Option::is_none) {
                let name = &self.context.variables[missing].name;
                let message =
                    format!("this state gives {name:?} no value, and its initial value is not unique");
                return Err(json.error(message).into());
            }
            states.push(state.into_iter().flatten().collect());
        }
        Ok(states)
    }

    /// The initial value of each variable, where it is unique.
    fn initial_state(&self) -> Vec<Option<i32>> {
        let locations = self.context.instances.iter().map(|instance| match instance.initial_locations[..] {
            [location] => Some(location as i32),
            _ => None,
        });
        let mut state: Vec<Option<i32>> = locations.collect();
        state.resize(self.context.variables.len(), None);
        for (variable, value) in &self.context.initial_values {
            state[variable.index()] = value.as_int().map(|value| value as i32);
        }
        state
    }

    fn listed_value(&mut self, json: Json<'_>, state: &mut [Option<i32>]) -> Result<(), InputError> {
        self.context.warnings.check_keys(json, &["var", "value"]);
        let (place, value_place) = (json.require("var")?, json.require("value")?);
        let reference = self.context.reference(self.scope, place)?;
        let (name, domain) = (reference.storage.name.clone(), reference.storage.domain);
        for (target, value) in self.context.read_value(self.scope, &reference, value_place)? {
            let Target::Scalar(variable) = target else {
                return Err(place.error(format!("the index of {name:?} must be constant here and in range")));
            };
            if variable.0 >= FIRST_TRANSIENT {
                return Err(place.error(format!("{name:?} is transient and so no part of the state")));
            }
            let value = self.context.evaluate_constant(value, value_place)?;
            if !domain.contains(value) {
                let bounds = domain.describe();
                return Err(value_place
                    .error(format!("the value {value} of {name:?} is outside its domain {bounds}")));
            }
            state[variable.index()] = discrete(value);
        }
        Ok(())
    }

    /// The goal of an objective. Its rewards are for learning only: a mistake in them does not spoil the property.
    fn goal(&mut self, json: Json<'_>) -> Result<Option<ExprId>, Refusal> {
        let json = json.object()?;
        let known = ["op", "goal", "goal-potential", "goal-reward", "step-reward", "accumulate"];
        self.context.warnings.check_keys(json, &known);
        self.rewards = self.read_rewards(json);
        match json.get("goal") {
            Some(goal) => Ok(Some(self.condition(goal)?)),
            None => Ok(None),
        }
    }

    fn read_rewards(&mut self, objective: Json<'_>) -> Result<Rewards, InputError> {
        let old_name = objective.get("goal-reward");
        let potential = objective.get("goal-potential");
        if let (Some(old_name), Some(_)) = (old_name, potential) {
            let message =
                "\"goal-reward\" is the old name of \"goal-potential\"; there must be only one of both";
            return Err(old_name.error(message));
        }
        let mut number = |json: Option<Json<'_>>| json.map(|json| self.number(json)).transpose();
        Ok(Rewards {
            potential: number(potential.or(old_name))?,
            step: number(objective.get("step-reward"))?,
        })
    }

    /// A numeric expression over states.
    fn number(&mut self, json: Json<'_>) -> Result<ExprId, InputError> {
        let id = self.context.scalar(self.scope, json)?;
        if !self.context.pool.ty(id).is_numeric() {
            return Err(json.error("a reward must be a number, but this is a bool value"));
        }
        let id = self.context.in_state(id);
        Ok(fold::convert(&mut self.context.pool, id, Type::Real))
    }

    /// Predicates for abstraction.
    pub(super) fn predicates(&mut self, json: Json<'_>) -> Result<Vec<ExprId>, InputError> {
        let mut predicates = Vec::new();
        for predicate in json.array()? {
            predicates.push(self.condition(predicate)?);
        }
        Ok(predicates)
    }
}

/// A value of a discrete variable as it stands in a state.
fn discrete(value: Value) -> Option<i32> {
    value.as_int().and_then(|value| i32::try_from(value).ok())
}
