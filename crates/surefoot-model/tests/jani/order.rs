//! Random lists of ordered assignments: the flat commands do what a step-by-step interpreter does.

use crate::random::Random;
use crate::*;

/// Values are 0..=TOP.
const TOP: i32 = 3;
/// Length of the array `v`.
const LENGTH: i32 = 3;

/// An expression over `x`, `y` and the array `v`.
#[derive(Debug, Clone)]
enum Expression {
    Number(i32),
    /// 0 is `x`, 1 is `y`.
    Scalar(usize),
    Element(Box<Expression>),
    Sum(Box<Expression>, Box<Expression>),
    Less(Box<[Expression; 4]>),
}

use Expression as E;

impl Expression {
    fn random(random: &mut Random, depth: usize) -> Expression {
        let inner = |random: &mut Random| Box::new(E::random(random, depth - 1));
        match if depth == 0 { random.below(3) } else { random.below(6) } {
            0 => E::Number(random.below(4) as i32),
            1 => E::Scalar(0),
            2 => E::Scalar(1),
            3 => E::Element(inner(random)),
            4 => E::Sum(inner(random), inner(random)),
            _ => E::Less(Box::new([(); 4].map(|()| E::random(random, depth - 1)))),
        }
    }

    fn json(&self) -> String {
        match self {
            E::Number(n) => n.to_string(),
            E::Scalar(i) => ["\"x\"", "\"y\""][*i].into(),
            E::Element(index) => format!(r#"{{"op": "aa", "exp": "v", "index": {}}}"#, index.json()),
            E::Sum(a, b) => binary("+", a.json(), b.json()),
            E::Less(parts) => {
                let [a, b, then, otherwise] = parts.each_ref().map(E::json);
                let condition = binary("<", a, b);
                format!(r#"{{"op": "ite", "if": {condition}, "then": {then}, "else": {otherwise}}}"#)
            }
        }
    }

    /// The value in a state `[x, y, v[0], v[1], v[2]]`, if it has one.
    fn value(&self, state: &[i32]) -> Option<i32> {
        match self {
            E::Number(n) => Some(*n),
            E::Scalar(i) => Some(state[*i]),
            E::Element(index) => {
                let index = index.value(state)?;
                (0..LENGTH).contains(&index).then(|| state[2 + index as usize])
            }
            E::Sum(a, b) => Some(a.value(state)? + b.value(state)?),
            E::Less(parts) => {
                let [a, b, then, otherwise] = &**parts;
                if a.value(state)? < b.value(state)? { then.value(state) } else { otherwise.value(state) }
            }
        }
    }
}

/// `target := value` in a group; the target is `x`, `y`, or an element of `v`.
#[derive(Debug)]
struct Assigned {
    group: i32,
    target: Result<usize, Expression>,
    value: Expression,
}

impl Assigned {
    fn random(random: &mut Random) -> Assigned {
        let target = match random.below(4) {
            i @ (0 | 1) => Ok(i),
            _ => Err(E::random(random, 1)),
        };
        Assigned { group: random.below(3) as i32 - 1, target, value: E::random(random, 2) }
    }

    fn json(&self) -> String {
        let reference = match &self.target {
            Ok(i) => E::Scalar(*i).json(),
            Err(index) => E::Element(Box::new(index.clone())).json(),
        };
        format!(r#"{{"ref": {reference}, "value": {}, "index": {}}}"#, self.value.json(), self.group)
    }
}

/// The state after the assignments, or nothing if something goes wrong on the way.
fn interpret(assignments: &[Assigned], state: &[i32]) -> Option<Vec<i32>> {
    let mut state = state.to_vec();
    for group in -1..=1 {
        let before = state.clone();
        let mut written = Vec::new();
        for assigned in assignments.iter().filter(|assigned| assigned.group == group) {
            let place = match &assigned.target {
                Ok(i) => *i,
                Err(index) => 2 + index.value(&before).filter(|index| (0..LENGTH).contains(index))? as usize,
            };
            if written.contains(&place) {
                return None;
            }
            written.push(place);
            state[place] = assigned.value.value(&before).filter(|value| (0..=TOP).contains(value))?;
        }
    }
    Some(state)
}

/// The state after the only command, or nothing if a requirement fails or a value is out of its domain.
fn run(loaded: &Loaded, state: &[i32]) -> Option<Vec<i32>> {
    let full = [&[0], state].concat();
    let outcome = &loaded.system.commands[0].outcomes[0];
    let mut after = full.clone();
    for requirement in &outcome.requirements {
        if value_at(loaded, &full, requirement.condition) != Some(Value::Bool(true)) {
            return None;
        }
    }
    for assignment in &outcome.assignments {
        let value = value_at(loaded, &full, assignment.value)?.as_int()?;
        after[assignment.variable.index()] =
            i32::try_from(value).ok().filter(|value| (0..=TOP).contains(value))?;
    }
    Some(after[1..].to_vec())
}

#[test]
fn ordered_assignments_mean_what_an_interpreter_does() {
    let variables = [int("x", 0, TOP, 0), int("y", 0, TOP, 0), int_array("v", TOP, "0, 0, 0")].join(",");
    let mut random = Random(7);
    let (mut moved, mut failed, mut refused) = (0, 0, 0);
    for _ in 0..1500 {
        let assignments: Vec<Assigned> =
            (0..=random.below(4)).map(|_| Assigned::random(&mut random)).collect();
        let list: Vec<String> = assignments.iter().map(Assigned::json).collect();
        let Ok(loaded) = try_load(&model_text("", &variables, &edge("true", &list.join(","))), &[]) else {
            // Two writes to one scalar at once.
            refused += 1;
            let some = [0, 1, 2, 1, 0];
            assert_eq!(interpret(&assignments, &some), None, "{assignments:?}");
            continue;
        };
        for _ in 0..8 {
            let state: Vec<i32> = (0..5).map(|_| random.below(4) as i32).collect();
            let expected = interpret(&assignments, &state);
            assert_eq!(run(&loaded, &state), expected, "{assignments:?} at {state:?}");
            if expected.is_some() { moved += 1 } else { failed += 1 }
        }
    }
    assert!(moved > 1000 && failed > 1000 && refused > 50, "{moved} {failed} {refused}");
}
