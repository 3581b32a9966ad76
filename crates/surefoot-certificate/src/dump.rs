//! A task as JSON, for the second checker, `tools/check_certificate.py`. `docs/certificate.md` describes it.
//!
//! Floating-point numbers are written as the hexadecimal digits of their bits, so nothing is rounded on the way.
//! Integers of 64 bits are decimal texts.

use serde_json::{Value as Json, json};
use surefoot_model::{BinaryOp, Node, Start, UnaryOp, Value};
use surefoot_policy::{
    Activation, Ensemble, Network, Node as NetworkNode, Parameter, Policy, PolicyInput, Scorer, Source,
    TreeNode,
};

use crate::format::{goal_name, out_of_domain_name};
use crate::verdict::Subject;

/// Writes a task over discrete variables.
pub fn dump(subject: &Subject<'_>) -> String {
    let system = subject.system;
    let variables = system.variables.iter().map(|variable| {
        let (lower, upper) = variable.ty.bounds().unwrap_or((0, -1));
        json!({"name": variable.name, "lower": lower, "upper": upper})
    });
    let commands = system.commands.iter().map(|command| {
        let outcomes = command.outcomes.iter().map(|outcome| {
            let assignments = outcome.assignments.iter().map(|a| json!([a.variable.0, a.value.0]));
            json!({
                "probability": outcome.probability.0,
                "requirements": outcome.requirements.iter().map(|r| r.condition.0).collect::<Vec<_>>(),
                "assignments": assignments.collect::<Vec<_>>(),
            })
        });
        json!({
            "label": command.label.map(|label| label.0),
            "guard": command.guard.0,
            "outcomes": outcomes.collect::<Vec<_>>(),
        })
    });
    let expressions = (0..system.exprs.len()).map(|index| {
        let id = surefoot_model::ExprId(index as u32);
        let ty = system.exprs.ty(id).to_string();
        json!([ty, node(system.exprs.node(id))])
    });
    let property = subject.property;
    let Start { condition, listed } = &property.start;
    let inputs = subject.inputs.iter().map(|input| json!([input.role as u8, input.hex()]));
    let semantics = subject.semantics;
    let task = json!({
        "format": "surefoot task 1",
        "inputs": inputs.collect::<Vec<_>>(),
        "variables": variables.collect::<Vec<_>>(),
        "labels": system.labels.iter().map(|label| &label.name).collect::<Vec<_>>(),
        "expressions": expressions.collect::<Vec<_>>(),
        "commands": commands.collect::<Vec<_>>(),
        "property": {
            "start": condition.map(|id| id.0),
            "listed": listed,
            "unsafe": property.unsafe_states.0,
            "hold": property.hold.map(|id| id.0),
            "goal": property.goal.map(|id| id.0),
        },
        "policy": subject.policy.map(policy),
        "semantics": {
            "filter": if semantics.filter { "on" } else { "off" },
            "goal": goal_name(semantics.goal),
            "out_of_domain": out_of_domain_name(semantics.out_of_domain),
            "arithmetic": semantics.arithmetic.name(),
        },
    });
    task.to_string()
}

fn bits(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

fn node(node: &Node) -> Json {
    match node {
        Node::Constant(Value::Bool(value)) => json!(["constant", value]),
        Node::Constant(Value::Int(value)) => json!(["constant", value.to_string()]),
        Node::Constant(Value::Real(value)) => json!(["real", bits(*value)]),
        Node::Variable(variable) => json!(["variable", variable.0]),
        Node::Unary(op, a) => json!([unary_name(*op), a.0]),
        Node::Binary(op, a, b) => json!([binary_name(*op), a.0, b.0]),
        Node::Ite(c, a, b) => json!(["ite", c.0, a.0, b.0]),
        Node::Select { elements, index } => {
            json!(["select", index.0, elements.iter().map(|element| element.0).collect::<Vec<_>>()])
        }
    }
}

fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "not",
        UnaryOp::Floor => "floor",
        UnaryOp::Ceil => "ceil",
    }
}

fn binary_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Eq => "=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Mod => "%",
        BinaryOp::Pow => "pow",
        BinaryOp::Log => "log",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
    }
}

/// Both precisions of a parameter.
fn parameter(parameter: Parameter) -> Json {
    json!([bits(parameter.double), format!("{:08x}", parameter.single.to_bits())])
}

fn parameters(list: &[Parameter]) -> Vec<Json> {
    list.iter().map(|&number| parameter(number)).collect()
}

fn policy(policy: &Policy) -> Json {
    let input = |input: &PolicyInput| match input {
        PolicyInput::Variable(variable) => json!(["variable", variable.0]),
        PolicyInput::Constant(value) => json!(["constant", value]),
    };
    let scorer = match &policy.scorer {
        Scorer::Network(scorer) => network(scorer),
        Scorer::Ensemble(scorer) => ensemble(scorer),
    };
    json!({
        "inputs": policy.inputs.iter().map(input).collect::<Vec<_>>(),
        "outputs": policy.outputs.iter().map(|label| label.0).collect::<Vec<_>>(),
        "scorer": scorer,
    })
}

/// 0 for the inputs, `k + 1` for node `k`.
fn source(source: Source) -> u32 {
    match source {
        Source::Input => 0,
        Source::Node(node) => node + 1,
    }
}

fn network(network: &Network) -> Json {
    let nodes = network.nodes().iter().map(|node| match node {
        NetworkNode::Layer { from, layer } => {
            let row = |neuron| {
                let row = layer.row(neuron).map(|(input, weight)| json!([input, parameter(weight)]));
                row.collect::<Vec<_>>()
            };
            json!({
                "kind": "layer",
                "from": source(*from),
                "activation": activation(layer.activation()),
                "rows": (0..layer.neurons()).map(row).collect::<Vec<_>>(),
                "biases": (0..layer.neurons()).map(|n| parameter(layer.bias(n))).collect::<Vec<_>>(),
            })
        }
        NetworkNode::Arrange { elements } => {
            let elements = elements.iter().map(|element| json!([source(element.source), element.index]));
            json!({"kind": "arrange", "elements": elements.collect::<Vec<_>>()})
        }
        NetworkNode::Maximum { left, right } => {
            json!({"kind": "maximum", "left": source(*left), "right": source(*right)})
        }
        NetworkNode::Quotient { from, divisors } => {
            json!({"kind": "quotient", "from": source(*from), "divisors": parameters(divisors)})
        }
    });
    json!({"kind": "network", "nodes": nodes.collect::<Vec<_>>()})
}

fn activation(activation: Activation) -> Json {
    match activation {
        Activation::Identity | Activation::Relu | Activation::Tanh | Activation::Sigmoid => {
            json!([activation.name()])
        }
        Activation::LeakyRelu { slope } => json!([activation.name(), parameter(slope)]),
        Activation::Elu { scale } => json!([activation.name(), parameter(scale)]),
        Activation::Clip { low, high } => json!([activation.name(), parameter(low), parameter(high)]),
    }
}

fn ensemble(ensemble: &Ensemble) -> Json {
    let trees = ensemble.trees().iter().map(|tree| {
        let nodes = tree.nodes().iter().map(|node| match *node {
            TreeNode::Leaf(leaf) => json!({"values": parameters(tree.values(leaf))}),
            TreeNode::Split { feature, threshold, left, right } => {
                json!({"feature": feature, "threshold": parameter(threshold), "left": left, "right": right})
            }
        });
        nodes.collect::<Vec<_>>()
    });
    json!({"kind": "ensemble", "base": parameters(ensemble.base()), "trees": trees.collect::<Vec<_>>()})
}
