//! Passes: systems made smaller without changing the answer, with the way back.
//!
//! Each pass takes a [`Reduction`] and gives a smaller one: [`Reduction::fix_constants`], [`Reduction::remove_dead_commands`],
//! [`Reduction::slice`]; [`Reduction::project`] also adds runs. Its [`Restore`] maps variables, commands and outcomes back to the original system, in which a trace
//! is then replayed.

mod dead;
mod fix;
mod project;
mod question;
mod slice;

use crate::expr::{ExprId, Replacement, Rewriter};
use crate::property::{Property, Start};
use crate::system::{Assignment, Command, Outcome, Requirement, TransitionSystem};
use crate::value::Value;
use crate::variable::{VarId, VariableType};

/// A system and property that have the same unsafe runs as the original ones, seen through `restore`, or more after a projection.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The smaller system. Labels are those of the original.
    pub system: TransitionSystem,
    /// The property over it.
    pub property: Property,
    /// The way back.
    pub restore: Restore,
}

/// What became of the parts of the original system.
#[derive(Debug, Clone)]
pub struct Restore {
    /// For each original variable, what it is now.
    pub variables: Vec<Fate>,
    /// For each command of the smaller system, the original command.
    pub commands: Vec<usize>,
    /// For each command of the smaller system and each of its outcomes, the original outcome.
    pub outcomes: Vec<Vec<usize>>,
}

/// What became of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is this variable of the smaller system.
    Kept(VarId),
    /// It always has this value.
    Constant(i32),
    /// It was left out.
    Sliced {
        /// Its smallest value.
        lower: i32,
        /// Its largest value.
        upper: i32,
    },
}

impl Restore {
    /// The part of an original state that the smaller system sees.
    pub fn project(&self, state: &[i32]) -> Vec<i32> {
        let mut kept: Vec<(VarId, i32)> = self
            .variables
            .iter()
            .zip(state)
            .filter_map(|(fate, &value)| match fate {
                Fate::Kept(v) => Some((*v, value)),
                _ => None,
            })
            .collect();
        kept.sort_unstable_by_key(|(v, _)| *v);
        kept.into_iter().map(|(_, value)| value).collect()
    }
}

impl Reduction {
    /// The system itself, nothing changed.
    pub fn identity(system: TransitionSystem, property: Property) -> Self {
        let restore = Restore {
            variables: (0..system.variables.len()).map(|v| Fate::Kept(VarId(v as u32))).collect(),
            commands: (0..system.commands.len()).collect(),
            outcomes: system.commands.iter().map(|c| (0..c.outcomes.len()).collect()).collect(),
        };
        Reduction { system, property, restore }
    }

    /// All passes, in the order in which each profits from the ones before. `inputs` are the original variables that a policy reads.
    #[must_use]
    pub fn simplify(self, inputs: &[VarId]) -> Self {
        self.fix_constants().remove_dead_commands().slice(inputs)
    }

    /// Lower and upper bounds of the variables, or `None` if one is real-valued.
    fn bounds(&self) -> Option<(Vec<i32>, Vec<i32>)> {
        self.system
            .variables
            .iter()
            .map(|v| v.ty.bounds())
            .collect::<Option<Vec<_>>>()
            .map(|b| b.into_iter().unzip())
    }

    /// Replaces variables by constants (`Fate::Constant`), leaves variables out (`Fate::Sliced`: nothing may mention them
    /// any more but assignments, which go too) and simplifies every expression.
    fn rebuild(self, fates: &[Fate]) -> Self {
        let Reduction { system, property, restore } = self;
        let mut exprs = crate::expr::ExprPool::new();
        let replace = |v: VarId| match fates[v.index()] {
            Fate::Kept(new) => Replacement::Variable(new),
            Fate::Constant(value) => Replacement::Value(match system.variables[v.index()].ty {
                VariableType::Bool => Value::Bool(value != 0),
                _ => Value::Int(i64::from(value)),
            }),
            Fate::Sliced { .. } => unreachable!("sliced variables are mentioned nowhere"),
        };
        let mut rewriter = Rewriter::new(&system.exprs, &mut exprs, replace);
        let commands = system.commands.iter().map(|c| rebuild_command(c, fates, &mut rewriter)).collect();
        let mut rewrite = |id: ExprId| rewriter.rewrite(id);
        let property = Property {
            name: property.name,
            start: Start {
                condition: property.start.condition.map(&mut rewrite),
                listed: property.start.listed.iter().map(|state| project(fates, state)).collect(),
            },
            unsafe_states: rewrite(property.unsafe_states),
            hold: property.hold.map(&mut rewrite),
            goal: property.goal.map(&mut rewrite),
            predicates: property.predicates.into_iter().map(&mut rewrite).collect(),
            policy_file: property.policy_file,
        };
        let variables = system.variables.iter().zip(fates);
        let kept =
            variables.filter(|(_, fate)| matches!(fate, Fate::Kept(_))).map(|(variable, _)| variable.clone());
        let system = TransitionSystem {
            name: system.name,
            exprs,
            variables: kept.collect(),
            labels: system.labels,
            commands,
            // The start condition has taken what it needs of it, and it may mention what is gone.
            initial: None,
        };
        let variables = restore.variables.iter().map(|fate| match fate {
            Fate::Kept(v) => fates[v.index()],
            other => *other,
        });
        Reduction { system, property, restore: Restore { variables: variables.collect(), ..restore } }
    }

    /// What becomes of variables if those that are not relevant are left out.
    fn fates_of(&self, relevant: &[bool]) -> Vec<Fate> {
        self.fates(|v| {
            let (lower, upper) = self.system.variables[v.index()].ty.bounds()?;
            (!relevant[v.index()]).then_some(Fate::Sliced { lower, upper })
        })
    }

    /// `Kept` with consecutive numbers for the variables that `keep` wants, `otherwise` for the rest.
    fn fates(&self, mut otherwise: impl FnMut(VarId) -> Option<Fate>) -> Vec<Fate> {
        let mut next = 0;
        (0..self.system.variables.len())
            .map(|v| {
                otherwise(VarId(v as u32)).unwrap_or_else(|| {
                    next += 1;
                    Fate::Kept(VarId(next - 1))
                })
            })
            .collect()
    }
}

fn project(fates: &[Fate], state: &[i32]) -> Vec<i32> {
    fates
        .iter()
        .zip(state)
        .filter(|(fate, _)| matches!(fate, Fate::Kept(_)))
        .map(|(_, &value)| value)
        .collect()
}

fn rebuild_command<F: Fn(VarId) -> Replacement>(
    command: &Command,
    fates: &[Fate],
    rewriter: &mut Rewriter<'_, F>,
) -> Command {
    let outcomes = command.outcomes.iter().map(|outcome| Outcome {
        probability: rewriter.rewrite(outcome.probability),
        assignments: outcome
            .assignments
            .iter()
            .filter_map(|assignment| match fates[assignment.variable.index()] {
                Fate::Kept(variable) => {
                    Some(Assignment { variable, value: rewriter.rewrite(assignment.value) })
                }
                _ => None,
            })
            .collect(),
        requirements: outcome
            .requirements
            .iter()
            .map(|r| Requirement { condition: rewriter.rewrite(r.condition), message: r.message.clone() })
            .collect(),
    });
    let outcomes = outcomes.collect();
    Command {
        label: command.label,
        guard: rewriter.rewrite(command.guard),
        outcomes,
        origin: command.origin.clone(),
    }
}
