//! Edges of automata.

use rustc_hash::FxHashMap;

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::ModelType;
use crate::jani::assignment::{Write, WriteValue};
use crate::jani::context::{Context, ScopeId};
use crate::jani::fold;
use crate::jani::suggest::did_you_mean;
use crate::json::Json;
use crate::value::{Type, Value};

/// A nondeterministic assignment is expanded into at most this many edges.
const MAX_CHOICES: usize = 10_000;

/// Constant probabilities of an edge must add up to 1 this closely.
const PROBABILITY_TOLERANCE: f64 = 1e-8;

/// An edge of an automaton instance.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// Index of the source location.
    pub(super) source: usize,
    /// Index of the action, `None` for a silent edge.
    pub(super) action: Option<usize>,
    pub(super) guard: ExprId,
    pub(super) destinations: Vec<Destination>,
    /// Where it comes from, for messages.
    pub(super) origin: String,
}

/// A probabilistic branch of an edge.
#[derive(Debug, Clone)]
pub(super) struct Destination {
    /// Index of the target location.
    pub(super) target: usize,
    /// `None` for 1.
    pub(super) probability: Option<ExprId>,
    pub(super) writes: Vec<Write>,
}

/// Declared actions.
#[derive(Debug, Default)]
pub(super) struct Actions {
    pub(super) names: Vec<String>,
    indices: FxHashMap<String, usize>,
}

impl Actions {
    /// Reads the declarations.
    pub(super) fn read(context: &mut Context<'_>, model: Json<'_>) -> Result<Actions, InputError> {
        let mut actions = Actions::default();
        let Some(list) = model.get("actions") else { return Ok(actions) };
        for json in list.array()? {
            let json = json.object()?;
            context.warnings.check_keys(json, &["name"]);
            let place = json.require("name")?;
            let name = place.str()?;
            if actions.indices.insert(name.to_string(), actions.names.len()).is_some() {
                return Err(place.error(format!("there already is an action called {name:?}")));
            }
            actions.names.push(name.to_string());
        }
        Ok(actions)
    }

    /// The action whose name stands at `json`.
    pub(super) fn index(&self, json: Json<'_>) -> Result<usize, InputError> {
        let name = json.str()?;
        self.indices.get(name).copied().ok_or_else(|| {
            let error = json.error(format!("there is no action called {name:?}"));
            did_you_mean(error, name, self.names.iter().map(String::as_str))
        })
    }
}

impl<'d> Context<'d> {
    /// Reads the edges of an automaton instance.
    pub(super) fn read_edges(
        &mut self,
        instance: usize,
        actions: &Actions,
        model_type: ModelType,
    ) -> Result<Vec<Edge>, InputError> {
        let automaton = self.instances[instance].json;
        let name = self.instances[instance].name.clone();
        let mut edges = Vec::new();
        for (number, json) in automaton.require("edges")?.array()?.enumerate() {
            let json = json.object()?;
            let origin = format!("{name} edge {number}");
            let edge = self.read_edge(instance, json, actions, model_type, origin)?;
            self.expand_choices(edge, json, &mut edges)?;
        }
        Ok(edges)
    }

    fn read_edge(
        &mut self,
        instance: usize,
        json: Json<'d>,
        actions: &Actions,
        model_type: ModelType,
        origin: String,
    ) -> Result<Edge, InputError> {
        let scope = self.instances[instance].scope;
        self.warnings
            .check_keys(json, &["location", "action", "guard", "rate", "assignments", "destinations"]);
        if let Some(place) = json.get("rate") {
            return Err(place
                .error("rates are not supported")
                .with_hint("only models of type lts, dtmc and mdp can be read; they have no time"));
        }
        if let Some(place) = json.get("assignments") {
            return Err(place
                .error("assignments of an edge are not supported")
                .with_hint("write them into each of its destinations"));
        }
        let source = self.location(instance, json.require("location")?)?;
        let action = json.get("action").map(|place| actions.index(place)).transpose()?;
        let guard = match json.get("guard") {
            Some(guard) => {
                let guard = self.wrapped(guard)?;
                let guard = self.condition(scope, guard)?;
                self.in_state(guard)
            }
            None => self.pool.bool(true),
        };
        let list = json.require("destinations")?;
        let mut destinations = Vec::new();
        for destination in list.array()? {
            destinations.push(self.read_destination(instance, scope, destination.object()?, model_type)?);
        }
        match destinations.len() {
            0 => return Err(list.error("an edge needs at least one destination")),
            2.. if model_type == ModelType::Lts => {
                return Err(list
                    .error("an edge of a model of type lts has only one destination")
                    .with_hint("is the model of type mdp?"));
            }
            _ => {}
        }
        self.check_probabilities(&mut destinations, list)?;
        Ok(Edge { source, action, guard, destinations, origin })
    }

    /// The expression in `{"exp": …, "comment": …}`.
    pub(super) fn wrapped<'x>(&mut self, json: Json<'x>) -> Result<Json<'x>, InputError> {
        let json = json.object()?;
        self.warnings.check_keys(json, &["exp"]);
        json.require("exp")
    }

    fn read_destination(
        &mut self,
        instance: usize,
        scope: ScopeId,
        json: Json<'d>,
        model_type: ModelType,
    ) -> Result<Destination, InputError> {
        self.warnings.check_keys(json, &["location", "probability", "assignments"]);
        let target = self.location(instance, json.require("location")?)?;
        let probability = match json.get("probability") {
            Some(place) if model_type == ModelType::Lts => {
                return Err(place
                    .error("a model of type lts has no probabilities")
                    .with_hint("is it of type mdp?"));
            }
            Some(place) => {
                let exp = self.wrapped(place)?;
                let id = self.scalar(scope, exp)?;
                if !self.pool.ty(id).is_numeric() {
                    return Err(exp.error("a probability must be a number, but this is a bool value"));
                }
                let id = self.in_state(id);
                Some(fold::convert(&mut self.pool, id, Type::Real))
            }
            None => None,
        };
        let writes = match json.get("assignments") {
            Some(list) => self.read_assignments(scope, list)?,
            None => Vec::new(),
        };
        Ok(Destination { target, probability, writes })
    }

    /// Checks constant probabilities and drops destinations that are never taken.
    fn check_probabilities(
        &mut self,
        destinations: &mut Vec<Destination>,
        list: Json<'d>,
    ) -> Result<(), InputError> {
        let mut sum = Some(0.0);
        for (destination, place) in destinations.iter_mut().zip(list.array()?) {
            let place = place.get("probability").unwrap_or(place);
            let value = match destination.probability {
                Some(id) if !self.pool.variables_of([id]).is_empty() => None,
                Some(id) => {
                    let value = self.evaluate_constant(id, place)?;
                    let value = probability(value.as_real().expect("probabilities are numbers"), place)?;
                    destination.probability = Some(self.pool.real(value));
                    Some(value)
                }
                None => Some(1.0),
            };
            sum = sum.zip(value).map(|(sum, value)| sum + value);
        }
        if let Some(sum) = sum
            && (sum - 1.0_f64).abs() > PROBABILITY_TOLERANCE
        {
            return Err(list
                .error(format!("the probabilities of this edge add up to {sum} instead of 1"))
                .with_hint("a destination without \"probability\" has probability 1"));
        }
        let pool = &self.pool;
        destinations.retain(|destination| {
            destination.probability.and_then(|id| pool.as_constant(id)) != Some(Value::Real(0.0))
        });
        Ok(())
    }

    /// Turns an edge with nondeterministic assignments into one edge for each combination of values.
    fn expand_choices(
        &mut self,
        edge: Edge,
        json: Json<'_>,
        edges: &mut Vec<Edge>,
    ) -> Result<(), InputError> {
        let writes = edge.destinations.iter().flat_map(|destination| &destination.writes);
        let ranges: Vec<(i64, i64)> = writes
            .filter_map(|write| match write.value {
                WriteValue::AnyOf(lower, upper) => Some((lower, upper)),
                WriteValue::Expression(_) => None,
            })
            .collect();
        if ranges.is_empty() {
            edges.push(edge);
            return Ok(());
        }
        let width = |&(lower, upper): &(i64, i64)| upper.abs_diff(lower).saturating_add(1);
        let combinations = ranges.iter().map(width).fold(1, u64::saturating_mul);
        if combinations > MAX_CHOICES as u64 {
            return Err(json.error(format!(
                "the nondeterministic assignments of this edge have {combinations} combinations of values, more than the supported {MAX_CHOICES}"
            )));
        }
        let mut values: Vec<i64> = ranges.iter().map(|&(lower, _)| lower).collect();
        loop {
            edges.push(self.with_choices(&edge, &values));
            // Count upwards, the last digit fastest.
            let Some(digit) = (0..values.len()).rev().find(|&digit| values[digit] < ranges[digit].1) else {
                return Ok(());
            };
            values[digit] += 1;
            for (value, &(lower, _)) in values.iter_mut().zip(&ranges).skip(digit + 1) {
                *value = lower;
            }
        }
    }

    fn with_choices(&mut self, edge: &Edge, values: &[i64]) -> Edge {
        let mut edge = edge.clone();
        let mut rest = values.iter();
        for write in edge.destinations.iter_mut().flat_map(|destination| &mut destination.writes) {
            if let WriteValue::AnyOf(..) = write.value {
                let value = *rest.next().expect("there is a value for each choice");
                write.value = WriteValue::Expression(self.pool.int(value));
            }
        }
        let choices: Vec<String> = values.iter().map(ToString::to_string).collect();
        edge.origin = format!("{} choice {}", edge.origin, choices.join(","));
        edge
    }

    /// The edges with which an input-enabled automaton accepts an action where no edge of its own does.
    pub(super) fn input_edges(
        &mut self,
        instance: usize,
        edges: &[Edge],
        action: usize,
        action_name: &str,
    ) -> Vec<Edge> {
        let count = self.instances[instance].location_names.len();
        let mut guards = vec![Vec::new(); count];
        for edge in edges.iter().filter(|edge| edge.action == Some(action)) {
            guards[edge.source].push(edge.guard);
        }
        let mut added = Vec::new();
        for (location, guards) in guards.into_iter().enumerate() {
            let enabled = fold::disjunction(&mut self.pool, guards);
            let guard = fold::negation(&mut self.pool, enabled);
            let destination = Destination { target: location, probability: None, writes: Vec::new() };
            let origin = format!("{} input {action_name}", self.instances[instance].name);
            added.push(Edge {
                source: location,
                action: Some(action),
                guard,
                destinations: vec![destination],
                origin,
            });
        }
        added
    }
}

/// A constant between 0 and 1; what lies outside only by rounding (`1 - 0.9 - 0.1`) is moved there.
fn probability(value: f64, json: Json<'_>) -> Result<f64, InputError> {
    if (-PROBABILITY_TOLERANCE..=1.0 + PROBABILITY_TOLERANCE).contains(&value) {
        Ok(value.clamp(0.0, 1.0))
    } else {
        Err(json.error(format!("the probability {value} is not between 0 and 1")))
    }
}
