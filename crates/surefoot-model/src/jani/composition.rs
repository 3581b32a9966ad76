//! Parallel composition: edges and synchronisation vectors become guarded commands.
//!
//! An edge without action moves alone and is silent. An edge with an action moves only through a vector that names the action
//! for its automaton; a vector without result is a silent step.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::automaton::{Actions, Destination, Edge};
use crate::jani::context::Context;
use crate::jani::fold;
use crate::jani::update::Part;
use crate::json::Json;
use crate::system::{Command, LabelId, Outcome};
use crate::value::Value;

/// No model may have more commands.
const MAX_COMMANDS: usize = 2_000_000;
/// No command may have more outcomes.
const MAX_OUTCOMES: usize = 100_000;
/// No model may have more outcomes in all.
const MAX_TOTAL_OUTCOMES: usize = 20_000_000;

/// An edge and the automaton instance that it belongs to.
type Participant<'e> = (usize, &'e Edge);

/// Commands under construction.
struct Composition<'c, 'd> {
    context: &'c mut Context<'d>,
    commands: Vec<Command>,
    outcomes: usize,
}

impl Context<'_> {
    /// All commands of the model, given the edges of each instance.
    pub(super) fn compose(
        &mut self,
        model: Json<'_>,
        edges: &[Vec<Edge>],
        actions: &Actions,
    ) -> Result<Vec<Command>, InputError> {
        let system = model.require("system")?;
        let mut by_action: FxHashMap<(usize, usize), Vec<&Edge>> = FxHashMap::default();
        let mut composition = Composition { context: self, commands: Vec::new(), outcomes: 0 };
        for (instance, edges) in edges.iter().enumerate() {
            for edge in edges {
                match edge.action {
                    Some(action) => by_action.entry((instance, action)).or_default().push(edge),
                    None => composition.add_command(&[(instance, edge)], None, system)?,
                }
            }
        }
        let mut mentioned = FxHashSet::default();
        if let Some(list) = system.get("syncs") {
            for json in list.array()? {
                let vector = composition.context.read_vector(json.object()?, actions, edges.len())?;
                mentioned.extend(vector.participants.iter().copied());
                composition.add_vector(&vector, &by_action, json)?;
            }
        }
        let commands = composition.commands;
        self.warn_about_idle_edges(system, &by_action, &mentioned, actions);
        Ok(commands)
    }

    fn read_vector(
        &mut self,
        json: Json<'_>,
        actions: &Actions,
        elements: usize,
    ) -> Result<Vector, InputError> {
        self.warnings.check_keys(json, &["synchronise", "result"]);
        let list = json.require("synchronise")?;
        let entries = list.array()?;
        if entries.len() != elements {
            let found = entries.len();
            return Err(list.error(format!(
                "a synchronisation vector needs one entry for each of the {elements} elements of the composition, but this has {found}"
            )));
        }
        let mut participants = Vec::new();
        for (instance, entry) in entries.enumerate() {
            if !entry.is_null() {
                participants.push((instance, actions.index(entry)?));
            }
        }
        if participants.is_empty() {
            self.warnings.add(|| list.error("this synchronisation vector names no action, so it is ignored"));
        }
        let result = json.get("result").filter(|place| !place.is_null());
        let result = result.map(|place| actions.index(place)).transpose()?;
        Ok(Vector { participants, result: result.map(|action| LabelId(action as u32)) })
    }

    fn warn_about_idle_edges(
        &mut self,
        system: Json<'_>,
        by_action: &FxHashMap<(usize, usize), Vec<&Edge>>,
        mentioned: &FxHashSet<(usize, usize)>,
        actions: &Actions,
    ) {
        let mut idle: Vec<(usize, usize)> =
            by_action.keys().filter(|key| !mentioned.contains(key)).copied().collect();
        idle.sort_unstable();
        for (instance, action) in idle {
            let (automaton, action) = (&self.instances[instance].name, &actions.names[action]);
            let place = system.get("syncs").unwrap_or(system);
            self.warnings.add(|| {
                place
                    .error(format!(
                        "edges of {automaton:?} with action {action:?} can never be taken: no synchronisation vector names the action there"
                    ))
                    .with_hint("add a vector to \"syncs\", or remove \"action\" from the edges to make them silent")
            });
        }
    }
}

/// A synchronisation vector: which instances take part with which actions.
struct Vector {
    participants: Vec<(usize, usize)>,
    result: Option<LabelId>,
}

impl Composition<'_, '_> {
    fn add_vector(
        &mut self,
        vector: &Vector,
        by_action: &FxHashMap<(usize, usize), Vec<&Edge>>,
        json: Json<'_>,
    ) -> Result<(), InputError> {
        let mut choices: Vec<&[&Edge]> = Vec::new();
        for key in &vector.participants {
            choices.push(by_action.get(key).map_or(&[], Vec::as_slice));
        }
        if choices.is_empty() {
            return Ok(());
        }
        let count = choices.iter().map(|edges| edges.len()).fold(1, usize::saturating_mul);
        if self.commands.len().saturating_add(count) > MAX_COMMANDS {
            return Err(json.error(format!(
                "the composition has more than {MAX_COMMANDS} commands, which is not supported"
            )));
        }
        let lengths: Vec<usize> = choices.iter().map(|edges| edges.len()).collect();
        for combination in Combinations::new(lengths) {
            let participants: Vec<Participant<'_>> = combination
                .iter()
                .enumerate()
                .map(|(entry, &edge)| (vector.participants[entry].0, choices[entry][edge]))
                .collect();
            self.add_command(&participants, vector.result, json)?;
        }
        Ok(())
    }

    fn add_command(
        &mut self,
        participants: &[Participant<'_>],
        label: Option<LabelId>,
        json: Json<'_>,
    ) -> Result<(), InputError> {
        let mut conditions = Vec::new();
        for &(instance, edge) in participants {
            conditions.push(self.context.at_location(instance, edge.source));
        }
        conditions.extend(participants.iter().map(|(_, edge)| edge.guard));
        let guard = fold::conjunction(&mut self.context.pool, conditions);
        if self.context.pool.as_constant(guard) == Some(Value::Bool(false)) {
            return Ok(());
        }
        let origins: Vec<&str> = participants.iter().map(|(_, edge)| edge.origin.as_str()).collect();
        let origin = origins.join(" & ");
        let lengths: Vec<usize> = participants.iter().map(|(_, edge)| edge.destinations.len()).collect();
        let count = lengths.iter().copied().fold(1, usize::saturating_mul);
        self.outcomes = self.outcomes.saturating_add(count);
        if count > MAX_OUTCOMES {
            return Err(
                json.error(format!("{origin} has more than {MAX_OUTCOMES} outcomes, which is not supported"))
            );
        }
        if self.outcomes > MAX_TOTAL_OUTCOMES || self.commands.len() >= MAX_COMMANDS {
            return Err(json.error(format!(
                "the composition has more than {MAX_COMMANDS} commands or {MAX_TOTAL_OUTCOMES} outcomes, which is not supported"
            )));
        }
        let outcomes =
            Combinations::new(lengths).map(|combination| self.outcome(participants, &combination)).collect();
        self.commands.push(Command { label, guard, outcomes, origin });
        Ok(())
    }

    fn outcome(&mut self, participants: &[Participant<'_>], combination: &[usize]) -> Outcome {
        let mut parts = Vec::new();
        let mut probabilities = Vec::new();
        for (&(instance, edge), &destination) in participants.iter().zip(combination) {
            let Destination { target, probability, writes } = &edge.destinations[destination];
            let (source, target) = (edge.source, *target);
            parts.push(Part { instance, source, target, writes, origin: &edge.origin });
            probabilities.extend(*probability);
        }
        let update = self.context.update(&parts);
        Outcome {
            probability: self.product(&probabilities),
            assignments: update.assignments,
            requirements: update.requirements,
        }
    }

    fn product(&mut self, probabilities: &[ExprId]) -> ExprId {
        let pool = &mut self.context.pool;
        let product = probabilities.iter().copied().reduce(|a, b| {
            let id = pool.mul(a, b).expect("probabilities are numbers");
            fold::fold(pool, id)
        });
        product.unwrap_or_else(|| pool.real(1.0))
    }
}

/// All ways to choose one of `lengths[i]` things for each `i`, the last one changing fastest.
struct Combinations {
    lengths: Vec<usize>,
    next: Option<Vec<usize>>,
}

impl Combinations {
    fn new(lengths: Vec<usize>) -> Self {
        let next = (!lengths.contains(&0)).then(|| vec![0; lengths.len()]);
        Combinations { lengths, next }
    }
}

impl Iterator for Combinations {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        let mut following = current.clone();
        for (digit, &length) in following.iter_mut().zip(&self.lengths).rev() {
            *digit += 1;
            if *digit < length {
                self.next = Some(following);
                break;
            }
            *digit = 0;
        }
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_count_upwards() {
        let all: Vec<Vec<usize>> = Combinations::new(vec![2, 1, 2]).collect();
        assert_eq!(all, [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]);
        assert_eq!(Combinations::new(vec![2, 0]).count(), 0);
        assert_eq!(Combinations::new(Vec::new()).count(), 1);
    }
}
