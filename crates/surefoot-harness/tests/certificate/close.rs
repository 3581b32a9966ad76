//! Policies whose scores nearly tie: rounding decides, and bounds that forget an error are caught.
//!
//! The task has no commands. Its certificate is the whole state space with one leaf that lists all outputs but one. So
//! the checker must decide whether that output is chosen anywhere, in the arithmetic of the task. So must the second one, but
//! where values of tanh, sigmoid or ELU hang on their last bits.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_certificate::{Certificate, Region, TreeNode};
use surefoot_engines::{Goal, OutOfDomain, Semantics, Task};
use surefoot_harness::random::{RandomTask, Size};
use surefoot_harness::run::{cases, check};
use surefoot_model::{
    Command, Label, LabelId, Outcome, Property, Start, TransitionSystem, VarId, Variable, VariableType,
};
use surefoot_policy::{
    Activation, Arithmetic, Element, Ensemble, Layer, Network, Node, Parameter, Policy, PolicyInput, Scorer,
    Source, Tree, TreeNode as SplitNode,
};

use crate::agrees;
use crate::make::{domains, inputs, subject};
use crate::oracle::Oracle;
use crate::python::Python;
use crate::random::Random;

const LABELS: usize = 3;

/// Numbers at the ends of both precisions, next to which others vanish, and subnormal ones.
const EXTREMES: [&str; 12] = [
    "3e38", "-3e38", "1e39", "1e30", "-1e30", "16777217", "1e-30", "1e-38", "-1e-40", "1e-45", "1e-310",
    "1e300",
];

fn number(random: &mut Random, tenths: bool) -> Parameter {
    if random.one_in(25) {
        return Parameter::parse(EXTREMES[random.below(EXTREMES.len())]).expect("a number");
    }
    let value = random.below(21) as f64 - 10.0;
    let text = if tenths {
        format!("{}", value / 10.0 + random.below(1000) as f64 * 1e-4)
    } else {
        format!("{value}")
    };
    Parameter::parse(&text).expect("a number")
}

fn activation(random: &mut Random) -> Activation {
    let number = |text| Parameter::parse(text).expect("a number");
    match random.below(10) {
        0 => Activation::Identity,
        1 => Activation::LeakyRelu { slope: number("0.1") },
        2 => Activation::Tanh,
        3 => Activation::Sigmoid,
        4 => Activation::Elu { scale: number("1.7") },
        5 => Activation::Clip { low: number("-0.3"), high: number("1.1") },
        _ => Activation::Relu,
    }
}

fn layer(reads: usize, neurons: usize, activation: Activation, random: &mut Random) -> Layer {
    let weights = (0..reads * neurons).map(|_| number(random, true)).collect();
    let biases = (0..neurons).map(|_| number(random, true)).collect();
    Layer::new(reads, weights, biases, activation).expect("well formed")
}

/// A network of up to two hidden layers, sometimes with the other kinds of nodes between them.
fn network(reads: usize, random: &mut Random) -> Network {
    let mut nodes = Vec::new();
    let (mut from, mut size) = (Source::Input, reads);
    for _ in 0..random.below(3) {
        let neurons = 1 + random.below(5);
        let activation = activation(random);
        nodes.push(Node::Layer { from, layer: layer(size, neurons, activation, random) });
        (from, size) = (Source::Node(nodes.len() as u32 - 1), neurons);
        match random.below(5) {
            0 => {
                let divisors = (0..size).map(|_| {
                    Parameter::parse(["3", "-0.7", "3", "-0.7", "1e-39", "1e20"][random.below(6)])
                        .expect("a number")
                });
                nodes.push(Node::Quotient { from, divisors: divisors.collect() });
            }
            1 => {
                let element = |_| Element { source: from, index: random.below(size) as u32 };
                nodes.push(Node::Arrange { elements: (0..size).map(element).collect() });
                nodes.push(Node::Maximum { left: from, right: Source::Node(nodes.len() as u32 - 1) });
            }
            _ => {}
        }
        from = Source::Node(nodes.len() as u32 - 1);
    }
    nodes.push(Node::Layer { from, layer: layer(size, LABELS, Activation::Identity, random) });
    Network::from_nodes(reads, nodes).expect("fits")
}

/// The same scorer with more or less on one output.
fn raised(scorer: Scorer, output: usize, by: f64) -> Scorer {
    let more = |mut biases: Vec<Parameter>| {
        biases[output] = Parameter::from(biases[output].double + by);
        biases
    };
    let network = match scorer {
        Scorer::Network(network) => network,
        Scorer::Ensemble(ensemble) => {
            let base = more(ensemble.base().to_vec());
            let made = Ensemble::new(ensemble.inputs(), base, ensemble.trees().to_vec());
            return Scorer::Ensemble(made.expect("well formed"));
        }
    };
    let mut nodes = network.nodes().to_vec();
    let Some(Node::Layer { from, layer }) = nodes.pop() else { unreachable!("the last node is a layer") };
    let weights =
        (0..LABELS).flat_map(|neuron| layer.row(neuron).map(|(_, weight)| weight).collect::<Vec<_>>());
    let biases = more((0..LABELS).map(|neuron| layer.bias(neuron)).collect());
    let layer =
        Layer::new(layer.inputs(), weights.collect(), biases, layer.activation()).expect("well formed");
    nodes.push(Node::Layer { from, layer });
    Scorer::Network(Network::from_nodes(network.inputs(), nodes).expect("fits"))
}

fn ensemble(reads: usize, random: &mut Random) -> Ensemble {
    let whole = random.one_in(2);
    let value = |random: &mut Random| number(random, !whole);
    let base = (0..LABELS).map(|_| value(random)).collect();
    let trees = (0..random.below(5)).map(|_| {
        let split = |left, right, random: &mut Random| SplitNode::Split {
            feature: random.below(reads) as u32,
            threshold: match random.below(8) {
                0 => Parameter::parse(["1e-40", "0", "16777217", "2147483643.5"][random.below(4)])
                    .expect("a number"),
                _ => Parameter::from(random.below(6) as f64 + 0.5),
            },
            left,
            right,
        };
        let nodes = vec![
            split(1, 2, random),
            split(3, 4, random),
            SplitNode::Leaf(0),
            SplitNode::Leaf(1),
            SplitNode::Leaf(2),
        ];
        let values = (0..3 * LABELS).map(|_| value(random)).collect();
        Tree::new(LABELS, nodes, values).expect("well formed")
    });
    let trees = trees.collect();
    Ensemble::new(reads, base, trees).expect("well formed")
}

fn task(random: &mut Random) -> Task {
    let mut system = TransitionSystem::default();
    for name in &["x", "y", "z"][..=random.below(3)] {
        let far =
            [0, 16_777_210, -16_777_218, i32::MAX - 10, i32::MIN + 2][random.below(20) / 4 * random.below(2)];
        let lower = far + random.below(4) as i32 - 2;
        let upper = lower + random.below(9) as i32;
        system.variables.push(Variable::new(*name, VariableType::Int { lower, upper }));
    }
    system.labels = ["a", "b", "c"].map(|name| Label { name: name.into() }).to_vec();
    let filter = random.one_in(3);
    let (yes, no) = (system.exprs.bool(true), system.exprs.bool(false));
    let one = system.exprs.int(1);
    for label in 0..LABELS as u32 {
        let variable = VarId(random.below(system.variables.len()) as u32);
        let (lower, upper) = system.variables[variable.index()].ty.bounds().expect("discrete");
        let value = system.exprs.int((lower + random.below((upper - lower + 1) as usize) as i32).into());
        let v = system.exprs.variable_of_type(variable, surefoot_model::Type::Int);
        let guard = if random.one_in(2) { yes } else { system.exprs.le(v, value).expect("integers") };
        let outcomes = vec![Outcome { probability: one, assignments: Vec::new(), requirements: Vec::new() }];
        system.commands.push(Command { label: Some(LabelId(label)), guard, outcomes, origin: String::new() });
    }
    let mut reads: Vec<PolicyInput> =
        (0..system.variables.len()).map(|v| PolicyInput::Variable(VarId(v as u32))).collect();
    if random.one_in(3) {
        reads.push(reads[random.below(reads.len())]);
        reads.push(PolicyInput::Constant(random.below(5) as i32));
    }
    let arithmetic = Arithmetic::ALL[random.below(4)];
    let outputs: Vec<LabelId> = (0..LABELS as u32).map(LabelId).collect();
    let policy =
        |scorer| Policy::new(reads.clone(), outputs.clone(), filter, scorer).expect("the sizes agree");
    let is_forest = random.one_in(3);
    let scorer = if is_forest {
        Scorer::Ensemble(ensemble(reads.len(), random))
    } else {
        Scorer::Network(network(reads.len(), random))
    };
    // Two outputs nearly tie at a random state.
    let value = |variable: &Variable, random: &mut Random| {
        let (lower, upper) = variable.ty.bounds().expect("discrete");
        lower + random.below((upper - lower + 1) as usize) as i32
    };
    let state: Vec<i32> = system.variables.iter().map(|variable| value(variable, random)).collect();
    let (a, b) = (random.below(LABELS), random.below(LABELS));
    let scores = policy(scorer.clone()).scores(arithmetic, &state);
    let unit = if arithmetic == Arithmetic::F64 { 2.0_f64.powi(-53) } else { 2.0_f64.powi(-24) };
    let ulps = (random.below(7) as f64 - 3.0) * 4.0_f64.powi(random.below(5) as i32);
    let by = scores[a].lower - scores[b].lower + ulps * unit * scores[a].lower.abs();
    let is_whole = is_forest && random.one_in(2);
    let scorer = if a != b && by.is_finite() && !is_whole { raised(scorer, b, by) } else { scorer };
    let policy = policy(scorer);
    let property = Property {
        name: "none".into(),
        start: Start::default(),
        unsafe_states: no,
        hold: None,
        goal: None,
        predicates: Vec::new(),
        policy_file: None,
    };
    let semantics = Semantics { filter, goal: Goal::Ignore, out_of_domain: OutOfDomain::Error, arithmetic };
    Task { system, property, policy: Some(policy), semantics }
}

fn is_curved(task: &Task) -> bool {
    let Some(Scorer::Network(network)) = task.policy.as_ref().map(|policy| &policy.scorer) else {
        return false;
    };
    network.layers().any(|layer| !layer.activation().is_piecewise_linear())
}

#[test]
fn close_choices_are_decided_right() {
    let (python, decided) = (RefCell::new(Python::new()), Cell::new(0));
    check(&any::<u64>(), 6000, |seed| {
        let mut random = Random(seed);
        let task = task(&mut random);
        let asked = random.one_in(if is_curved(&task) { 2 } else { 8 }).then(|| random.below(LABELS) as u32);
        let (oracle, files) = (Oracle::new(&task).expect("few states"), inputs());
        for missing in 0..LABELS as u32 {
            let listed = (0..LABELS as u32).filter(|&output| output != missing).collect();
            let certificate = Certificate {
                inputs: files.clone(),
                variables: domains(&task),
                labels: task.system.labels.iter().map(|label| label.name.clone()).collect(),
                outputs: Some(vec![0, 1, 2]),
                semantics: task.semantics,
                regions: vec![Region {
                    bounds: Vec::new(),
                    facts: Vec::new(),
                    tree: vec![TreeNode::Leaf(listed)],
                }],
            };
            let fail = |error: TestCaseError| {
                let shown = RandomTask { task: task.clone(), size: Size::Small };
                TestCaseError::fail(format!("{error}\n{shown}"))
            };
            let proves = oracle.proves(&certificate);
            let about = subject(&task, &files);
            if let Some(python) = python.borrow_mut().as_mut().filter(|_| asked == Some(missing)) {
                let answered = python.agrees(&certificate.write(), &about, proves);
                decided.set(decided.get() + u32::from(answered.map_err(fail)?));
            }
            agrees(&certificate, &about, proves).map_err(fail)?;
        }
        Ok(())
    });
    let least = if python.borrow().is_some() { cases(800) } else { 0 };
    assert!(decided.get() >= least, "the second checker decided {} only", decided.get());
}
