//! From ordered assignments of one or more edges to a single simultaneous assignment.
//!
//! Groups of assignments are run symbolically, in ascending order: the expressions of a group are rewritten over the state
//! before the step by substituting the values that earlier groups gave. What the flat form cannot express becomes a
//! [`Requirement`]: indices in range, no two writes to one place at once, intermediate values within their domains.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::expr::ExprId;
use crate::jani::assignment::{Target, Write, WriteValue};
use crate::jani::context::{Context, FIRST_TRANSIENT, Storage};
use crate::jani::declaration::position;
use crate::jani::fold;
use crate::system::{Assignment, Requirement};
use crate::value::{Type, Value};
use crate::variable::{VarId, VariableType};

/// What one edge contributes to a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'e> {
    pub(super) instance: usize,
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) writes: &'e [Write],
    pub(super) origin: &'e str,
}

/// The effect of a step.
#[derive(Debug, Default)]
pub(super) struct Update {
    pub(super) assignments: Vec<Assignment>,
    pub(super) requirements: Vec<Requirement>,
}

impl Update {
    fn require(&mut self, context: &Context<'_>, condition: ExprId, message: impl FnOnce() -> String) {
        if context.pool.as_constant(condition) == Some(Value::Bool(true)) {
            return;
        }
        let requirement = Requirement { condition, message: message() };
        if !self.requirements.contains(&requirement) {
            self.requirements.push(requirement);
        }
    }
}

/// A write over the state before the step.
struct Resolved<'e> {
    part: usize,
    origin: &'e str,
    target: Target,
    value: ExprId,
}

impl Context<'_> {
    /// The joint effect of edges that move together.
    pub(super) fn update(&mut self, parts: &[Part<'_>]) -> Update {
        let mut update = Update::default();
        for part in parts.iter().filter(|part| part.source != part.target) {
            let value = self.pool.int(part.target as i64);
            update.assignments.push(Assignment { variable: VarId(part.instance as u32), value });
        }
        let numbered = parts.iter().enumerate();
        let mut writes: Vec<(usize, &Part<'_>, &Write)> = numbered
            .flat_map(|(number, part)| part.writes.iter().map(move |write| (number, part, write)))
            .collect();
        writes.sort_by_key(|(_, _, write)| write.group);
        let mut values: FxHashMap<VarId, ExprId> = FxHashMap::default();
        for group in writes.chunk_by(|a, b| a.2.group == b.2.group) {
            let resolved = self.resolve(group, &values);
            let resolved = self.without_conflicts(resolved, &mut update);
            let written = self.run_group(&resolved, &values, &mut update);
            let mut written: Vec<(VarId, ExprId)> = written.into_iter().collect();
            written.sort_unstable();
            for (variable, value) in written {
                if let Some(overwritten) = values.insert(variable, value) {
                    self.require_domain(variable, overwritten, &mut update);
                }
            }
        }
        let mut values: Vec<(VarId, ExprId)> =
            values.into_iter().filter(|(v, _)| v.0 < FIRST_TRANSIENT).collect();
        values.sort_unstable();
        for (variable, value) in values {
            if self.current(variable) != value {
                update.assignments.push(Assignment { variable, value });
            }
        }
        update.assignments.sort_unstable_by_key(|assignment| assignment.variable);
        update
    }

    /// The writes of a group, rewritten over the state before the step.
    fn resolve<'e>(
        &mut self,
        group: &[(usize, &Part<'e>, &Write)],
        values: &FxHashMap<VarId, ExprId>,
    ) -> Vec<Resolved<'e>> {
        let mut later;
        let substitution = if values.is_empty() {
            &mut self.transients_in_step
        } else {
            later = self.transients_in_step.extended(values);
            &mut later
        };
        let pool = &mut self.pool;
        let mut resolved = Vec::new();
        for &(part, &Part { origin, .. }, write) in group {
            let WriteValue::Expression(value) = write.value else {
                unreachable!("choices are expanded when edges are read")
            };
            let value = substitution.apply(pool, value);
            let target = match &write.target {
                Target::Scalar(variable) => Target::Scalar(*variable),
                Target::Element { array, index } => Target::Element {
                    array: Rc::clone(array),
                    index: index.iter().map(|&id| substitution.apply(pool, id)).collect(),
                },
            };
            resolved.push(Resolved { part, origin, target, value });
        }
        for write in &mut resolved {
            if let Target::Element { array, index } = &write.target {
                write.target = self.target(array, index.clone());
            }
        }
        resolved
    }

    /// Adds requirements that no two writes of a group meet; of equal writes by different edges one remains.
    fn without_conflicts<'e>(&mut self, writes: Vec<Resolved<'e>>, update: &mut Update) -> Vec<Resolved<'e>> {
        let mut kept: Vec<Resolved<'e>> = Vec::new();
        let mut scalars: FxHashMap<VarId, usize> = FxHashMap::default();
        for write in writes {
            // Scalars meet only themselves and elements: few comparisons suffice.
            let same = match &write.target {
                Target::Scalar(variable) => scalars.get(variable).copied(),
                Target::Element { .. } => None,
            };
            let mut drop = false;
            let candidates: Vec<usize> = match (&write.target, same) {
                (Target::Scalar(_), Some(same)) => vec![same],
                (Target::Scalar(_), None) => {
                    (0..kept.len()).filter(|&i| matches!(kept[i].target, Target::Element { .. })).collect()
                }
                (Target::Element { .. }, _) => (0..kept.len()).collect(),
            };
            for other in candidates {
                let other = &kept[other];
                let Some((name, meet)) = self.meeting(&other.target, &write.target) else { continue };
                let certain = self.pool.as_constant(meet) == Some(Value::Bool(true));
                if other.part != write.part && other.value == write.value {
                    drop |= certain;
                    continue;
                }
                let apart = fold::negation(&mut self.pool, meet);
                let origins = if other.part == write.part {
                    format!("by {}", write.origin)
                } else {
                    format!("by {} and {}", other.origin, write.origin)
                };
                update.require(self, apart, || format!("{name:?} is assigned twice at once, {origins}"));
            }
            if !drop {
                if let Target::Scalar(variable) = write.target {
                    scalars.insert(variable, kept.len());
                }
                kept.push(write);
            }
        }
        kept
    }

    /// The name of the variable and the condition under which two targets are the same scalar, if they can be.
    fn meeting(&mut self, a: &Target, b: &Target) -> Option<(String, ExprId)> {
        match (a, b) {
            (Target::Scalar(a), Target::Scalar(b)) if a == b => {
                Some((self.name_of(*a), self.pool.bool(true)))
            }
            (Target::Scalar(_), Target::Scalar(_)) => None,
            (Target::Element { array, index }, Target::Scalar(variable))
            | (Target::Scalar(variable), Target::Element { array, index }) => {
                let offset = variable.0.checked_sub(array.first.0)? as usize;
                if offset >= array.term.elements().len() || !self.can_be(array, index, offset) {
                    return None;
                }
                Some((array.name.clone(), self.at_index(array, index, offset)))
            }
            (Target::Element { array, index }, Target::Element { array: other, index: other_index }) => {
                let different = |(&a, &b): (&ExprId, &ExprId)| {
                    a != b && self.constant_index(a).is_some() && self.constant_index(b).is_some()
                };
                if array.first != other.first || index.iter().zip(other_index).any(different) {
                    return None;
                }
                let equal: Vec<ExprId> = index
                    .iter()
                    .zip(other_index)
                    .filter(|(a, b)| a != b)
                    .map(|(&a, &b)| fold::equality(&mut self.pool, a, b))
                    .collect();
                Some((array.name.clone(), fold::conjunction(&mut self.pool, equal)))
            }
        }
    }

    fn constant_index(&self, id: ExprId) -> Option<i64> {
        self.pool.as_constant(id).and_then(Value::as_int)
    }

    /// Whether constant parts of an index allow element number `offset`.
    fn can_be(&self, array: &Storage, index: &[ExprId], offset: usize) -> bool {
        let here = position(array.term.dimensions(), offset);
        index
            .iter()
            .zip(here)
            .all(|(&id, position)| self.constant_index(id).is_none_or(|i| i == position as i64))
    }

    /// The elements that an index can mean, ascending. A row of a large array is many writes: each must look at few elements.
    fn candidates(&self, array: &Storage, index: &[ExprId]) -> Vec<usize> {
        let mut offsets = vec![0];
        for (&id, &length) in index.iter().zip(array.term.dimensions()) {
            let positions = match self.constant_index(id).map(usize::try_from) {
                None => 0..length,
                Some(Ok(i)) if i < length => i..i + 1,
                Some(_) => 0..0,
            };
            let within = |offset: usize| positions.clone().map(move |i| offset * length + i);
            offsets = offsets.into_iter().flat_map(within).collect();
        }
        offsets
    }

    /// The condition that an index means element number `offset`.
    fn at_index(&mut self, array: &Storage, index: &[ExprId], offset: usize) -> ExprId {
        let here = position(array.term.dimensions(), offset);
        let equal: Vec<ExprId> = index
            .iter()
            .zip(here)
            .map(|(&index, position)| {
                let position = self.pool.int(position as i64);
                fold::equality(&mut self.pool, index, position)
            })
            .collect();
        fold::conjunction(&mut self.pool, equal)
    }

    /// The values after a group, of the variables that it writes.
    fn run_group(
        &mut self,
        writes: &[Resolved<'_>],
        values: &FxHashMap<VarId, ExprId>,
        update: &mut Update,
    ) -> FxHashMap<VarId, ExprId> {
        let mut written: FxHashMap<VarId, ExprId> = FxHashMap::default();
        for write in writes {
            match &write.target {
                Target::Scalar(variable) => {
                    written.insert(*variable, write.value);
                    if variable.0 >= FIRST_TRANSIENT {
                        self.require_domain(*variable, write.value, update);
                    }
                }
                Target::Element { array, index } => {
                    self.require_range(array, index, update);
                    for offset in self.candidates(array, index) {
                        let here = self.at_index(array, index, offset);
                        let variable = array.scalar(offset);
                        let old = written.get(&variable).or_else(|| values.get(&variable)).copied();
                        let old = old.unwrap_or_else(|| self.current(variable));
                        written.insert(variable, fold::choice(&mut self.pool, here, write.value, old));
                    }
                    if array.is_transient() {
                        self.require_domain(array.first, write.value, update);
                    }
                }
            }
        }
        written
    }

    /// The value of a scalar before the step.
    fn current(&mut self, variable: VarId) -> ExprId {
        match variable.0.checked_sub(FIRST_TRANSIENT) {
            Some(transient) => self.transients[transient as usize].initial,
            None => self.pool.variable(variable, &self.variables[variable.index()]),
        }
    }

    fn name_of(&self, variable: VarId) -> String {
        match variable.0.checked_sub(FIRST_TRANSIENT) {
            Some(transient) => self.transients[transient as usize].name.clone(),
            None => self.variables[variable.index()].name.clone(),
        }
    }

    fn require_range(&mut self, array: &Storage, index: &[ExprId], update: &mut Update) {
        for (&index, &length) in index.iter().zip(array.term.dimensions()) {
            let last = length as i64 - 1;
            let inside = fold::within(&mut self.pool, index, Some(Value::Int(0)), Some(Value::Int(last)));
            update.require(self, inside, || format!("index of array {:?} out of 0..{last}", array.name));
        }
    }

    /// Requires that a value which no state will show lies in the domain of its variable.
    fn require_domain(&mut self, variable: VarId, value: ExprId, update: &mut Update) {
        let (lower, upper) = match variable.0.checked_sub(FIRST_TRANSIENT) {
            Some(transient) => {
                let domain = self.transients[transient as usize].domain;
                if domain.base == Type::Bool {
                    return;
                }
                (domain.lower, domain.upper)
            }
            None => match self.variables[variable.index()].ty {
                VariableType::Bool => return,
                VariableType::Int { lower, upper } => {
                    (Some(Value::Int(i64::from(lower))), Some(Value::Int(i64::from(upper))))
                }
                VariableType::Real { lower, upper } => (Some(Value::Real(lower)), Some(Value::Real(upper))),
            },
        };
        let inside = fold::within(&mut self.pool, value, lower, upper);
        update.require(self, inside, || {
            let bound = |value: Option<Value>| value.map(|v| v.to_string()).unwrap_or_default();
            let name = self.name_of(variable);
            format!(
                "{name:?} passes through a value out of {}..{} within the step",
                bound(lower),
                bound(upper)
            )
        });
    }
}
