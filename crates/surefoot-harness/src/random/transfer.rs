//! Tasks whose steps move something from one variable to another, so that sums of variables stay the same.

use surefoot_engines::Task;
use surefoot_model::{Assignment, Outcome, Type, VarId};

use super::choices::Choices;
use super::number::variables;

/// Lets most outcomes of a task move a number from one integer to another; the others stay as they are.
pub fn transfer(task: &mut Task, choices: &mut Choices<'_>) {
    let integers = variables(&task.system, Type::Int);
    if integers.len() < 2 {
        return;
    }
    let mut commands = std::mem::take(&mut task.system.commands);
    for outcome in commands.iter_mut().flat_map(|command| &mut command.outcomes) {
        if !choices.one_in(30) {
            move_between(task, outcome, &integers, choices);
        }
    }
    task.system.commands = commands;
}

fn move_between(task: &mut Task, outcome: &mut Outcome, integers: &[VarId], choices: &mut Choices<'_>) {
    let from = choices.below(integers.len());
    let to = (from + 1 + choices.below(integers.len() - 1)) % integers.len();
    let amount = choices.pick(&[1, 1, 1, 2]);
    let mut change = |variable: VarId, by: i64| {
        let exprs = &mut task.system.exprs;
        let (old, by) = (exprs.variable_of_type(variable, Type::Int), exprs.int(by));
        Assignment { variable, value: exprs.add(old, by).expect("integers") }
    };
    outcome.assignments = vec![change(integers[from], -amount), change(integers[to], amount)];
}
