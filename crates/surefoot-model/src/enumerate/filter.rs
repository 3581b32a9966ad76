//! Conditions on one variable: its values are tried one by one, which bounds alone cannot express (`x = 1 ∨ 8 ≤ x`).

use super::domains::Domains;
use crate::expr::Program;
use crate::value::Value;

/// Removes the values that an output over one variable of a small domain excludes. The outputs that this takes care of are left
/// out of the result; `None` if a variable has no value left.
pub fn filter(program: &Program, domains: &mut Domains) -> Option<Program> {
    let mut rest = Vec::new();
    let mut state = domains.first_state();
    let mut slots = Vec::new();
    for &output in program.outputs() {
        let single = program.part(vec![output]);
        let variables = single.variables();
        let [variable] = variables[..] else {
            rest.push(output);
            continue;
        };
        if !domains.has_holes(variable) {
            rest.push(output);
            continue;
        }
        let lower = domains.lower(variable);
        let values = std::iter::successors(Some(lower), |&value| domains.next_value(variable, value));
        let mut excluded = Vec::new();
        let mut undefined = false;
        for value in values {
            state[variable.index()] = value;
            single.run_state(&state, &mut slots);
            match single.output(0, &slots) {
                Ok(Value::Bool(true)) => {}
                Ok(_) => excluded.push(value),
                Err(_) => undefined = true,
            }
        }
        for value in excluded {
            domains.remove(variable, i64::from(value))?;
        }
        state[variable.index()] = domains.lower(variable);
        if undefined {
            rest.push(output);
        }
    }
    Some(program.part(rest))
}
