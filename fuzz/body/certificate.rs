//! What the fuzz target `certificate` does with a file. The test `corpus` of `surefoot-certificate` does it too.

use surefoot_certificate::{Certificate, Input, Limits, Region, Role, Subject, check};
use surefoot_model::{
    Assignment, Command, Label, LabelId, Outcome, Property, Start, TransitionSystem, Type, VarId, Variable,
    VariableType,
};
use surefoot_policy::{
    Arithmetic, Ensemble, Goal, OutOfDomain, Parameter, Policy, PolicyInput, Scorer, Semantics, Tree,
    TreeNode,
};

/// Reads `bytes` as a certificate; whether it is one. What is read must be written alike, and what the checker accepts
/// for a small task must be true of it.
pub fn certificate(bytes: &[u8]) -> bool {
    let certificate = match Certificate::read(bytes) {
        Ok(certificate) => certificate,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    assert_eq!(certificate.write(), bytes, "a certificate has one form");
    let (system, property, policy) = task();
    let inputs = inputs();
    let subject = Subject {
        system: &system,
        property: &property,
        policy: Some(&policy),
        semantics: SEMANTICS,
        inputs: &inputs,
    };
    let verdict = check(&certificate, &subject, &mut Limits { parts: 5000, stop: &mut || false });
    match verdict {
        Err(rejection) => assert!(!rejection.to_string().is_empty()),
        Ok(_) => assert!(is_proof(&certificate.regions), "this is no proof"),
    }
    true
}

pub const SEMANTICS: Semantics = Semantics {
    filter: true,
    goal: Goal::Ignore,
    out_of_domain: OutOfDomain::Error,
    arithmetic: Arithmetic::F64,
};

pub fn inputs() -> Vec<Input> {
    vec![Input::new(Role::Model, b"counter"), Input::new(Role::Policy, b"stump")]
}

/// A counter `x` that must stay below 6, and `y`, which goes round. The policy increases `x` below 4, else `y`.
pub fn task() -> (TransitionSystem, Property, Policy) {
    let mut system = TransitionSystem { name: "counter".into(), ..TransitionSystem::default() };
    let int = |upper| VariableType::Int { lower: 0, upper };
    system.variables = vec![Variable::new("x", int(7)), Variable::new("y", int(3))];
    system.labels = ["up", "round"].map(|name| Label { name: name.into() }).to_vec();
    let exprs = &mut system.exprs;
    let [x, y] = [0, 1].map(|v| exprs.variable_of_type(VarId(v), Type::Int));
    let [zero, one, four, six, seven] = [0, 1, 4, 6, 7].map(|value| exprs.int(value));
    let up = exprs.add(x, one).expect("integers");
    let next = exprs.add(y, one).expect("integers");
    let round = exprs.modulo(next, four).expect("integers");
    let guards = [exprs.lt(x, seven).expect("integers"), exprs.bool(true)];
    let start = exprs.eq(x, zero).expect("integers");
    let unsafe_states = exprs.le(six, x).expect("integers");
    for (label, value) in [up, round].into_iter().enumerate() {
        let assignments = vec![Assignment { variable: VarId(label as u32), value }];
        system.commands.push(Command {
            label: Some(LabelId(label as u32)),
            guard: guards[label],
            outcomes: vec![Outcome { probability: one, assignments, requirements: Vec::new() }],
            origin: String::new(),
        });
    }
    let property = Property {
        name: "low".into(),
        start: Start { condition: Some(start), listed: Vec::new() },
        unsafe_states,
        hold: None,
        goal: None,
        predicates: Vec::new(),
        policy_file: None,
    };
    let split = TreeNode::Split { feature: 0, threshold: Parameter::from(4.0), left: 1, right: 2 };
    let values = [1.0, 0.0, 0.0, 1.0].map(Parameter::from).to_vec();
    let tree = Tree::new(2, vec![split, TreeNode::Leaf(0), TreeNode::Leaf(1)], values).expect("well formed");
    let base = vec![Parameter::from(0.0); 2];
    let scorer = Scorer::Ensemble(Ensemble::new(1, base, vec![tree]).expect("well formed"));
    let inputs = vec![PolicyInput::Variable(VarId(0))];
    let policy = Policy::new(inputs, vec![LabelId(0), LabelId(1)], true, scorer).expect("the sizes agree");
    (system, property, policy)
}

/// Whether regions hold every state that is reachable in the small task, and no unsafe one.
fn is_proof(regions: &[Region]) -> bool {
    let covers = |state: [i32; 2]| {
        regions.iter().any(|region| {
            let value = |variable: u32| state[variable as usize];
            region.bounds.iter().all(|bound| (bound.lower..=bound.upper).contains(&value(bound.variable)))
                && region.facts.iter().all(|fact| {
                    let terms = fact.terms.iter().map(|&(v, factor)| i64::from(factor) * i64::from(value(v)));
                    terms.sum::<i64>() <= fact.limit
                })
        })
    };
    let mut states = (0..8).flat_map(|x| (0..4).map(move |y| [x, y]));
    states.all(|state| if state[0] <= 4 { covers(state) } else { state[0] < 6 || !covers(state) })
}
