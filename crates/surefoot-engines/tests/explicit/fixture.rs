//! Small models in a few lines.

use surefoot_engines::explicit::{Options, verify};
use surefoot_engines::{Control, Goal, OutOfDomain, Outcome, Semantics, Task, TaskError, Verdict};
use surefoot_model::{
    Assignment, Command, ExprId, ExprPool, Label, LabelId, Property, Start, TransitionSystem, VarId,
    Variable, VariableType,
};
use surefoot_policy::{Activation, Arithmetic, Layer, Network, Parameter, Policy, PolicyInput, Scorer};

pub const ERROR: OutOfDomain = OutOfDomain::Error;
pub const BLOCK: OutOfDomain = OutOfDomain::Block;

/// A task under construction: labels `a` and `b`, no command, no start state, nothing unsafe, no policy.
pub struct Model {
    pub task: Task,
}

impl Model {
    /// A model over integer variables `v0`, `v1`, … with these bounds.
    pub fn new(out_of_domain: OutOfDomain, bounds: &[(i32, i32)]) -> Self {
        let variable =
            |(i, &(lower, upper))| Variable::new(format!("v{i}"), VariableType::Int { lower, upper });
        let mut exprs = ExprPool::new();
        let nothing = exprs.bool(false);
        let system = TransitionSystem {
            name: "test".into(),
            exprs,
            variables: bounds.iter().enumerate().map(variable).collect(),
            labels: ["a", "b"].map(|name| Label { name: name.into() }).to_vec(),
            ..TransitionSystem::default()
        };
        let property = Property {
            name: "test".into(),
            start: Start::default(),
            unsafe_states: nothing,
            hold: None,
            goal: None,
            predicates: Vec::new(),
            policy_file: None,
        };
        let semantics =
            Semantics { filter: false, goal: Goal::Ignore, out_of_domain, arithmetic: Arithmetic::F64 };
        Model { task: Task { system, property, policy: None, semantics } }
    }

    pub fn exprs(&mut self) -> &mut ExprPool {
        &mut self.task.system.exprs
    }

    pub fn variable(&mut self, v: u32) -> ExprId {
        let TransitionSystem { exprs, variables, .. } = &mut self.task.system;
        exprs.variable(VarId(v), &variables[v as usize])
    }

    /// `variable = value`.
    pub fn is(&mut self, v: u32, value: i64) -> ExprId {
        let (variable, value) = (self.variable(v), self.exprs().int(value));
        self.exprs().eq(variable, value).expect("integers")
    }

    /// Adds `label: guard → probability: v := value`.
    pub fn command(&mut self, label: Option<u32>, guard: ExprId, probability: ExprId, set: &[(u32, ExprId)]) {
        let assignments = set.iter().map(|&(v, value)| Assignment { variable: VarId(v), value });
        let outcome = surefoot_model::Outcome {
            probability,
            assignments: assignments.collect(),
            requirements: Vec::new(),
        };
        let command =
            Command { label: label.map(LabelId), guard, outcomes: vec![outcome], origin: String::new() };
        self.task.system.commands.push(command);
    }

    /// Gives it a policy that scores `a` above `b` everywhere.
    pub fn prefer_first_label(&mut self, filter: bool) {
        let numbers = |numbers: [f64; 2]| numbers.map(Parameter::from).to_vec();
        let layer = Layer::new(1, numbers([0.0, 0.0]), numbers([1.0, 0.0]), Activation::Identity);
        let network = Network::new(vec![layer.expect("well formed")]).expect("layers fit");
        let inputs = vec![PolicyInput::Variable(VarId(0))];
        let policy = Policy::new(inputs, vec![LabelId(0), LabelId(1)], filter, Scorer::Network(network));
        self.task.policy = Some(policy.expect("sizes fit"));
        self.task.semantics.filter = filter;
    }

    pub fn verify(&self, slice: bool) -> Result<Outcome, TaskError> {
        verify(&self.task, Options { slice, ..Options::default() }, &Control::unlimited())
    }

    /// The verdict in a word, which slicing must not change.
    pub fn answer(&self) -> &'static str {
        let [answer, sliced] =
            [false, true].map(|slice| match self.verify(slice).map(|outcome| outcome.verdict) {
                Ok(Verdict::Safe) => "safe",
                Ok(Verdict::Unsafe(_)) => "unsafe",
                Ok(Verdict::Unknown(_)) => "unknown",
                Err(TaskError::Model(_)) => "model error",
                Err(error) => panic!("{error}"),
            });
        assert_eq!(answer, sliced);
        answer
    }
}
