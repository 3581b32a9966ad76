//! A fact decides what a network chooses. It is believed only where start states and steps establish it.

use surefoot_certificate::{
    Certificate, Domain, Fact, Limits, Obligation, Region, Rejection, Report, Subject, TreeNode, check,
};
use surefoot_model::{
    Assignment, Command, Label, LabelId, Outcome, Property, Start, TransitionSystem, Type, VarId, Variable,
    VariableType,
};
use surefoot_policy::{
    Activation, Arithmetic, Goal, Layer, Network, OutOfDomain, Parameter, Policy, PolicyInput, Scorer,
    Semantics,
};

const MOST: i32 = 99;

/// `x` and `y`; output `a` has the score `x`, output `b` the score `y`; commands add a number to a variable.
struct Task {
    system: TransitionSystem,
    property: Property,
    policy: Policy,
    semantics: Semantics,
}

impl Task {
    fn new(arithmetic: Arithmetic, start: [i32; 2], activation: Activation) -> Task {
        let mut system = TransitionSystem::default();
        for name in ["x", "y"] {
            system.variables.push(Variable::new(name, VariableType::Int { lower: 0, upper: MOST }));
        }
        system.labels = ["a", "b"].map(|name| Label { name: name.into() }).to_vec();
        let unsafe_states = system.exprs.bool(false);
        let start = Start { condition: None, listed: vec![start.to_vec()] };
        let property = Property {
            name: "p".into(),
            start,
            unsafe_states,
            hold: None,
            goal: None,
            predicates: Vec::new(),
            policy_file: None,
        };
        let weights = [1.0, 0.0, 0.0, 1.0].map(Parameter::from).to_vec();
        let layer = Layer::new(2, weights, vec![Parameter::from(0.0); 2], activation).expect("well formed");
        let scorer = Scorer::Network(Network::new(vec![layer]).expect("fits"));
        let inputs = [0, 1].map(|variable| PolicyInput::Variable(VarId(variable))).to_vec();
        let policy = Policy::new(inputs, vec![LabelId(0), LabelId(1)], false, scorer).expect("fits");
        let semantics =
            Semantics { filter: false, goal: Goal::Ignore, out_of_domain: OutOfDomain::Block, arithmetic };
        Task { system, property, policy, semantics }
    }

    fn command(&mut self, label: Option<u32>, variable: u32, by: i64) {
        let exprs = &mut self.system.exprs;
        let guard = exprs.bool(true);
        let (old, by) = (exprs.variable_of_type(VarId(variable), Type::Int), exprs.int(by));
        let value = exprs.add(old, by).expect("integers");
        let probability = exprs.int(1);
        let assignments = vec![Assignment { variable: VarId(variable), value }];
        let outcomes = vec![Outcome { probability, assignments, requirements: Vec::new() }];
        let label = label.map(LabelId);
        self.system.commands.push(Command { label, guard, outcomes, origin: String::new() });
    }

    /// One region with these facts, and what the policy may choose in it.
    fn check(&self, facts: &[Fact], listed: &[u32]) -> Result<Report, Rejection> {
        let domain = |name: &str| Domain { name: name.into(), lower: 0, upper: MOST };
        let tree = vec![TreeNode::Leaf(listed.to_vec())];
        let certificate = Certificate {
            inputs: Vec::new(),
            variables: ["x", "y"].map(domain).to_vec(),
            labels: vec!["a".into(), "b".into()],
            outputs: Some(vec![0, 1]),
            semantics: self.semantics,
            regions: vec![Region { bounds: Vec::new(), facts: facts.to_vec(), tree }],
        };
        let subject = Subject {
            system: &self.system,
            property: &self.property,
            policy: Some(&self.policy),
            semantics: self.semantics,
            inputs: &[],
        };
        check(&certificate, &subject, &mut Limits { parts: 100_000, stop: &mut || false })
    }
}

fn fact(x: i32, y: i32, limit: i64) -> Fact {
    Fact { terms: vec![(0, x), (1, y)], limit }
}

fn failed(result: Result<Report, Rejection>) -> Obligation {
    match result {
        Err(Rejection::Failed { obligation, .. }) => obligation,
        other => panic!("{other:?}"),
    }
}

#[test]
fn facts_are_believed_only_where_they_are_established() {
    for arithmetic in Arithmetic::ALL {
        for activation in [Activation::Relu, Activation::Identity] {
            let less = [fact(1, -1, -1)];
            // x < y stays so if y grows or x shrinks; then only `b` is chosen, and a bound alone shows it.
            let mut task = Task::new(arithmetic, [0, 1], activation);
            task.command(Some(1), 1, 1);
            task.command(None, 0, -1);
            let report = task.check(&less, &[1]).expect("the fact holds");
            assert!(report.parts[2] <= 4, "{report:?}");
            assert_eq!(failed(task.check(&less, &[0])), Obligation::Choice);
            // Nothing wrong is taken from factors and limits at the ends of their ranges.
            for (x, y, limit) in [
                (i32::MAX, -i32::MAX, -i64::from(i32::MAX)),
                (1, -1, i64::MAX),
                (i32::MIN, i32::MIN, i64::MAX),
                (0, 0, i64::MAX),
            ] {
                let all = [less[0].clone(), fact(x, y, limit)];
                task.check(&all, &[1]).expect("more facts that hold");
                assert_eq!(failed(task.check(&all, &[0])), Obligation::Choice);
            }
            // Facts that are true everywhere hide no choice.
            for fact in [fact(1, 1, 2 * i64::from(MOST)), fact(-1, 1, i64::from(MOST)), fact(0, 0, 0)] {
                assert_eq!(failed(task.check(&[fact], &[1])), Obligation::Choice);
            }
            // x ≤ y: at a tie `a` is chosen.
            assert_eq!(failed(task.check(&[fact(1, -1, 0)], &[1])), Obligation::Choice);
            // The direction matters.
            assert_eq!(failed(task.check(&[fact(-1, 1, -1)], &[0])), Obligation::Start);

            let task = Task::new(arithmetic, [5, 5], activation);
            assert_eq!(failed(task.check(&less, &[1])), Obligation::Start);

            // Steps that end the fact: by a label that is listed, and by one that nobody controls.
            for label in [Some(1), None] {
                let mut task = Task::new(arithmetic, [0, 1], activation);
                task.command(label, 0, 1);
                assert_eq!(failed(task.check(&less, &[1])), Obligation::Successor);
            }
            // A label that is not chosen where the fact holds may end it.
            let mut task = Task::new(arithmetic, [0, 1], activation);
            task.command(Some(0), 0, 50);
            task.check(&less, &[1]).expect("`a` is never chosen");
        }
    }
}

/// No state satisfies them, though no bound says so: whatever is concluded is about nothing, and start states are elsewhere.
#[test]
fn facts_that_exclude_each_other_prove_nothing() {
    let task = Task::new(Arithmetic::F64, [0, 1], Activation::Relu);
    // 2x - 2y = 1
    let none = [fact(2, -2, 1), fact(-2, 2, -1)];
    for listed in [&[][..], &[0], &[1]] {
        assert_eq!(failed(task.check(&none, listed)), Obligation::Start);
    }
}
