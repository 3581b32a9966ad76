//! Tasks made smaller by passes ([`surefoot_model::pass`]), and the way back to the original: runs along a path of a projection
//! (`follow.rs`), and regions of a proof (`regions.rs`).

mod follow;
mod regions;

use surefoot_model::VarId;
use surefoot_model::pass::{Fate, Reduction};
use surefoot_policy::{Policy, PolicyInput};

use crate::task::Task;
pub use follow::follow;
pub use regions::lift_regions;

/// The same runs with fewer constants and commands, with `slice` also without variables that influence nothing.
pub fn reduce(task: &Task, slice: bool) -> Reduction {
    let reduction = Reduction::identity(task.system.clone(), task.property.clone());
    if slice { reduction.simplify(&inputs(task)) } else { reduction.fix_constants().remove_dead_commands() }
}

/// The projection to what the policy and the property read, if it leaves out something. What is safe there is safe.
pub fn project(task: &Task) -> Option<Reduction> {
    reduce(task, false).project(&inputs(task), task.semantics.filter && task.policy.is_some())
}

fn inputs(task: &Task) -> Vec<VarId> {
    task.policy.as_ref().map_or(Vec::new(), Policy::variables)
}

/// How many variables are left out.
pub fn left_out(reduction: &Reduction) -> usize {
    reduction.restore.variables.iter().filter(|fate| matches!(fate, Fate::Sliced { .. })).count()
}

/// The task over the smaller system.
pub fn reduced_task(task: &Task, reduction: &Reduction) -> Task {
    let policy = task.policy.as_ref().map(|policy| {
        policy.map_inputs(|v| match reduction.restore.variables[v.index()] {
            Fate::Kept(v) => PolicyInput::Variable(v),
            Fate::Constant(value) => PolicyInput::Constant(value),
            Fate::Sliced { .. } => unreachable!("policy inputs are never sliced"),
        })
    });
    Task {
        system: reduction.system.clone(),
        property: reduction.property.clone(),
        policy,
        semantics: task.semantics,
    }
}

/// The box of original states that a state of the smaller system is a part of.
pub fn bounds_of(reduction: &Reduction, reduced: &[i32]) -> (Vec<i32>, Vec<i32>) {
    let fates = reduction.restore.variables.iter();
    fates
        .map(|fate| match fate {
            Fate::Kept(v) => (reduced[v.index()], reduced[v.index()]),
            Fate::Constant(value) => (*value, *value),
            Fate::Sliced { lower, upper } => (*lower, *upper),
        })
        .unzip()
}
